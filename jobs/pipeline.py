"""The jobs in their order: from inputs to a folder of results, on any engine."""

from __future__ import annotations

import json
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from jobs.against import names_and_bytes, open_corpora, shown_links
from jobs.base import against_name
from jobs.display import Display
from jobs.errors import InputError, JobFailed, OutputError
from jobs.gate_file import write_gate
from jobs.job_runner import JobRunner, Run, quiet_mrjob
from jobs.line_estimates import estimated_lines
from jobs.links import join_forests
from jobs.mr_gate import MRGate
from jobs.mr_pairs import MRPairs
from jobs.mr_rejects import MRRejects
from jobs.outputs import write_sorted
from jobs.places import Places
from jobs.rejected import placed, sortable, write_rejected
from jobs.remote import Remote, check_number_of_files
from jobs.run_report import RunReport, StepReport
from lsh_core.settings import Settings

GATE_REDUCER_BYTES = 512 * 10**6
"""Memory for one reducer of the gate."""

NUM_SHOWN = 5
MANY_PAIRS_A_DOCUMENT = 100
INPUT_CHANGED = "the input changed while it was read; nothing was written"


@dataclass
class CorpusRun:
    """A run under way: its jobs, what is reported of it, and the folder that becomes its result."""

    run: Run
    jobs: JobRunner
    report: RunReport
    remote: Remote
    folder: Path


def find_pairs(run: Run, settings: Settings, display: Display) -> RunReport:
    """Write ``pairs.jsonl`` or ``links.jsonl``, ``rejected.jsonl`` if there is a need, and ``run.json``."""
    with open_run(run, settings, display) as work:
        gate = make_gate(work)
        _warn_of_pairs(work)
        write_pairs(work, gate)
    return work.report


@contextmanager
def open_run(run: Run, settings: Settings, display: Display) -> Iterator[CorpusRun]:
    """Check what the user named; afterwards write what all runs write, and let the result take its name."""
    started = time.monotonic()
    quiet_mrjob(run.verbose)
    _check_named_paths(run)
    with private_folder(run.tmp) as tmp_dir:
        remote = Remote(run, tmp_dir)
        remote.check_output(run.out)
        sources, against = open_corpora(run.inputs, run.against, settings, tmp_dir, remote.find)
        check_number_of_files([*sources, *against], run.runner)
        with JobRunner(run, settings, sources, tmp_dir, display, against) as jobs, \
                remote.complete_folder(run.out) as folder:
            report = RunReport(jobs.runner, run.command, settings, *names_and_bytes(sources))
            if run.against:
                report.against = dict(zip(("files", "bytes"), names_and_bytes(against)))
            jobs.warn_of_space()
            yield CorpusRun(run, jobs, report, remote, folder)
            if report.counter("rejected"):
                report.steps.append(_find_rejects(jobs, folder / "rejected.jsonl"))
            _check_same_input(report)
            _check_unique_ids(report)
            report.seconds = time.monotonic() - started
            report.write(folder / "run.json")


@contextmanager
def private_folder(parent: Optional[Path]) -> Iterator[Path]:
    """A temporary folder that only its owner can read, gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="lookalike-", dir=parent))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _check_named_paths(run: Run) -> None:
    if run.tmp is not None and not run.tmp.is_dir():
        raise OutputError(f"{run.tmp} is not a folder; --tmp names one that is there")
    if run.conf is not None and not run.conf.is_file():
        raise InputError(f"{run.conf} is not a file; --conf names a mrjob configuration")


def make_gate(work: CorpusRun) -> Path:
    """Run the first pass, write its side file, and judge the input by what was found."""
    jobs = work.jobs
    lines, path = jobs.tmp_dir / "gate-lines", jobs.tmp_dir / "gate"
    num_shards = num_gate_shards(estimated_lines(jobs.all_sources, work.remote.start_of), jobs.settings.banding[0])
    work.report.steps.append(jobs.run(MRGate, "gate", lines, "--num-shards", str(num_shards)))
    with open(lines, "rb") as file:
        write_gate(path, file, jobs.settings)
    _check_input(jobs, work.report, work.run, path)
    return path


def num_gate_shards(num_lines: int, num_bands: int) -> int:
    """The fewest shards of which each fits into a reducer's memory: shares of the bands, or ranges of their keys."""
    for num_shards in range(1, num_bands + 1):
        if num_lines * _bytes_of_row(-(-num_bands // num_shards)) <= GATE_REDUCER_BYTES:
            return num_shards
    return num_bands * -(-num_lines * _bytes_of_row(1) // GATE_REDUCER_BYTES)


def _bytes_of_row(num_keys: int) -> int:
    """What a document takes in a reducer that gets so many of its keys.

    Measured where a quarter of the documents have company; where all of them have, in every band, it is twice as much.
    """
    return 24 * (num_keys + 2) + 30


def _check_input(jobs: JobRunner, report: RunReport, run: Run, gate: Path) -> None:
    """What the first pass found of the input, before the expensive one."""
    for counter in (str, against_name):
        read, told = report.counter(counter("lines")), report.total(*map(counter, ("documents", "copies", "rejected")))
        if read != told:
            raise JobFailed(f"{read} lines were read, but {told} are accounted for: this is a defect, please report it")
    _check_same_unicode(report)
    num_rejected, num_repeated = (report.total(name, against_name(name)) for name in ("rejected", "repeated_ids"))
    if run.strict and num_rejected:
        _find_rejects(jobs, jobs.tmp_dir / "strict.jsonl", num_shown=0, in_all=True)
        _stop(jobs.tmp_dir / "strict.jsonl", f"--strict stops at the first of {num_rejected} such lines")
    if num_repeated and run.duplicate_ids == "refuse":
        _find_rejects(jobs, jobs.tmp_dir / "repeated.jsonl", "--repeated-ids", str(gate), in_all=True)
        _stop(jobs.tmp_dir / "repeated.jsonl", f"{num_repeated} ids stand for more than one text; "
                                               "--duplicate-ids number would make them id~<hash of the text>")
    for counter, whose in ((str, ""), (against_name, " of --against")):
        if report.counter(counter("rejected")) and not report.counter(counter("documents")):
            jobs.display.note(f"every line{whose} was rejected: are they really --format {jobs.settings.format}?")
    if report.counter("against_rejected"):
        jobs.display.note(f"{report.counter('against_rejected'):,} lines of --against are no documents, and are not "
                          "compared")


def _warn_of_pairs(work: CorpusRun) -> None:
    possible, num_documents = work.report.counter("possible_pairs"), work.report.counter("documents")
    if not work.run.links and possible > MANY_PAIRS_A_DOCUMENT * num_documents:
        work.jobs.display.note(f"up to {possible:,} pairs of {num_documents:,} documents may be written; "
                     "--links would write fewer lines than there are documents")


def _stop(records: Path, why: str) -> None:
    with open(records, encoding="utf-8") as file:
        first = json.loads(next(file, "null"))
    if first is None:
        raise JobFailed(INPUT_CHANGED)
    raise InputError(f"{first['place']}: {first['detail']} ({why})")


def write_pairs(work: CorpusRun, gate: Path) -> Path:
    """Run the second pass, and write its pairs or links; those with the ids that jobs know are given back."""
    jobs, run = work.jobs, work.run
    lines = jobs.tmp_dir / "pairs"
    args = ["--gate", str(gate), "--duplicate-ids", run.duplicate_ids, *(["--links"] if run.links else [])]
    work.report.steps.append(jobs.run(MRPairs, "pairs", lines, *args))
    if not run.links:
        work.report.num_pairs = _write_shown(work, lines, work.folder / "pairs.jsonl")
        return lines
    joined = jobs.tmp_dir / "links"
    with open(lines, "rb") as pieces, open(joined, "wb") as file:
        file.writelines(line + b"\n" for line in join_forests(pieces))
    work.report.num_links = _write_shown(work, joined, work.folder / "links.jsonl")
    return joined


def _write_shown(work: CorpusRun, lines: Path, path: Path) -> int:
    """Write pairs or links as users see them, sorted; how many there are."""
    tmp_dir = work.jobs.tmp_dir
    if not work.run.against:
        return write_sorted(lines, path, tmp_dir)
    shown = tmp_dir / "shown"
    with open(lines, "rb") as marked, open(shown, "wb") as file:
        file.writelines(shown_links(marked, work.run.only_across))
    return write_sorted(shown, path, tmp_dir)


def _check_same_unicode(report: RunReport) -> None:
    """Texts of two tasks are normalized alike only by the same tables."""
    versions = {name for step in report.steps for name in step.counters if name.startswith("unicode ")}
    if len(versions) > 1:
        raise JobFailed(f"tasks ran with different tables of Unicode ({', '.join(sorted(versions))}): "
                        "let all of them use the same version of Python")


def _check_same_input(report: RunReport) -> None:
    _check_same_unicode(report)
    read = [step.counters for step in report.steps if step.reads_input]
    read_against = [step.counters for step in report.steps if step.reads_against]
    for steps, name in ((read, str), (read_against, against_name)):
        if len({(counters.get(name("lines")), counters.get(name("input_sum"))) for counters in steps}) > 1:
            raise JobFailed(INPUT_CHANGED)


def _check_unique_ids(report: RunReport) -> None:
    if report.counter("same_id"):
        raise JobFailed("similar texts got the same id by --duplicate-ids number: give them ids of their own")


def _find_rejects(
    jobs: JobRunner, path: Path, *args: str, num_shown: int = NUM_SHOWN, in_all: bool = False
) -> StepReport:
    """Write the rejected lines, or those of repeated ids, in the order of the input, and show some.

    Those of the corpus that the input is held against are among them only if all are asked for.
    """
    found, keyed = jobs.tmp_dir / "rejects", jobs.tmp_dir / "rejects-keyed"
    step = (jobs.run if in_all else jobs.run_over_input)(MRRejects, "rejects", found, *args)
    places = Places(jobs.all_sources, jobs.uris)
    with open(found, "rb") as lines, open(keyed, "wb") as file:
        file.writelines(sortable(lines, places))
    messages, num_records = write_rejected(placed(keyed, places, jobs.tmp_dir), path, num_shown)
    for message in messages:
        jobs.display.note(message)
    if num_shown and num_records > num_shown:
        jobs.display.note(f"... and {num_records - num_shown:,} more")
    return step
