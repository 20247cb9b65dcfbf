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
from typing import Any, Optional

from jobs.against import names_and_bytes, open_corpora, shown_links
from jobs.base import against_name
from jobs.engine_log import show_log
from jobs.errors import InputChanged, InputError, JobFailed, OutputError
from jobs.gate_file import write_gate
from jobs.gate_shards import num_gate_shards
from jobs.job_runner import JobRunner, Run
from jobs.line_estimates import estimated_lines
from jobs.links import join_forests
from jobs.mr_gate import MRGate
from jobs.mr_pairs import MRPairs
from jobs.mr_rejects import MRRejects
from jobs.outputs import publish, write_sorted
from jobs.places import Places
from jobs.rejected import placed, sortable, write_rejected
from jobs.remote import Remote, check_number_of_files
from jobs.run_checks import check_same_input, check_same_unicode, check_unique_ids
from jobs.run_report import RunReport, StepReport
from jobs.silence import Silence
from jobs.stages import Stages, identity_of, partial_folder, resumable_folder
from lsh_core.settings import Settings

NUM_SHOWN = 5
MANY_PAIRS_A_DOCUMENT = 100


@dataclass
class CorpusRun:
    """A run under way: its jobs, what is reported of it, what its stages made, and the folder of its result."""

    run: Run
    jobs: JobRunner
    report: RunReport
    remote: Remote
    folder: Path
    stages: Stages


def find_pairs(run: Run, settings: Settings, display: Silence) -> RunReport:
    """Write ``pairs.jsonl`` or ``links.jsonl``, ``rejected.jsonl`` if there is a need, and ``run.json``."""
    with open_run(run, settings, display) as work:
        gate = make_gate(work)
        _warn_of_pairs(work)
        write_pairs(work, gate)
    return work.report


@contextmanager
def open_run(
    run: Run, settings: Settings, display: Silence, asked_for: Optional[dict[str, Any]] = None
) -> Iterator[CorpusRun]:
    """Check what the user named; afterwards write what all runs write, and let the result take its name.

    A run that is known by what was ``asked_for`` can be taken up again.
    """
    started = time.monotonic()
    show_log(run.verbose, is_heard=False)
    _check_named_paths(run)
    with private_folder(run.tmp) as tmp_dir:
        remote = Remote(run, tmp_dir)
        remote.check_output(run.out)
        sources, against = open_corpora(run.inputs, run.against, settings, tmp_dir, remote.find)
        check_number_of_files([*sources, *against], run.runner)
        with JobRunner(run, settings, sources, tmp_dir, display, against) as jobs, \
                _result_folder(run, remote, jobs, asked_for) as (folder, stages):
            report = RunReport(jobs.runner, run.command, settings, *names_and_bytes(sources))
            if run.against:
                report.against = dict(zip(("files", "bytes"), names_and_bytes(against)))
            jobs.warn_of_space()
            yield CorpusRun(run, jobs, report, remote, folder, stages)
            if report.counter("rejected"):
                report.steps.append(_find_rejects(jobs, folder / "rejected.jsonl"))
            check_same_input(report)
            check_unique_ids(report)
            report.seconds = time.monotonic() - started
            report.write(folder / "run.json")


@contextmanager
def _result_folder(
    run: Run, remote: Remote, jobs: JobRunner, asked_for: Optional[dict[str, Any]]
) -> Iterator[tuple[Path, Stages]]:
    if asked_for is not None and isinstance(run.out, Path):
        identity = identity_of(jobs.all_sources, engine=jobs.runner, settings=jobs.settings.to_json(), **asked_for)
        try:
            with resumable_folder(run.out, identity, run.resume) as (folder, stages):
                yield folder, stages
        except BaseException:
            kept = partial_folder(run.out)
            if kept.exists():
                jobs.display.note(f"what was done is kept in {kept}: the same command with --resume goes on from there")
            raise
        return
    if run.resume:
        raise OutputError(f"--resume needs a local folder for the results, and --out is {run.out}")
    with remote.complete_folder(run.out) as folder:
        # On the same disk as the results, so that these are not copied.
        stages = Stages(folder / ".stages")
        stages.folder.mkdir()
        yield folder, stages
        shutil.rmtree(stages.folder)


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

    def produce(path: Path) -> None:
        lines = jobs.tmp_dir / "gate-lines"
        num_shards = num_gate_shards(estimated_lines(jobs.all_sources, work.remote.start_of), jobs.settings.banding[0])
        work.report.steps.append(jobs.run(MRGate, "gate", lines, "--num-shards", str(num_shards)))
        with open(lines, "rb") as file:
            write_gate(path, file, jobs.settings)

    gate = work.stages.make("gate", work.report, produce)
    _check_input(jobs, work.report, work.run, gate)
    return gate


def _check_input(jobs: JobRunner, report: RunReport, run: Run, gate: Path) -> None:
    """What the first pass found of the input, before the expensive one."""
    for counter in (str, against_name):
        read, told = report.counter(counter("lines")), report.total(*map(counter, ("documents", "copies", "rejected")))
        if read != told:
            raise JobFailed(f"{read} lines were read, but {told} are accounted for: this is a defect, please report it")
    check_same_unicode(report)
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
        raise InputChanged
    raise InputError(f"{first['place']}: {first['detail']} ({why})")


def write_pairs(work: CorpusRun, gate: Path) -> Path:
    """Run the second pass, and write its pairs or links; those with the ids that jobs know are given back."""
    jobs, run = work.jobs, work.run

    def produce(path: Path) -> dict[str, int]:
        lines = jobs.tmp_dir / "pairs"
        args = ["--gate", str(gate), "--duplicate-ids", run.duplicate_ids, *(["--links"] if run.links else [])]
        work.report.steps.append(jobs.run(MRPairs, "pairs", lines, *args))
        if not run.links:
            return {"num_pairs": write_sorted(lines, path, jobs.tmp_dir)}
        joined = jobs.tmp_dir / "links"
        with open(lines, "rb") as pieces, open(joined, "wb") as file:
            file.writelines(line + b"\n" for line in join_forests(pieces))
        return {"num_links": write_sorted(joined, path, jobs.tmp_dir)}

    made = work.stages.make("pairs", work.report, produce)
    result = work.folder / ("links.jsonl" if run.links else "pairs.jsonl")
    if run.against:
        _write_shown(work, made, result)
    else:
        publish(made, result)
    return made


def _write_shown(work: CorpusRun, marked: Path, result: Path) -> None:
    """Write pairs or links as users see them, where ids carry marks."""
    shown = work.jobs.tmp_dir / "shown"
    with open(marked, "rb") as lines, open(shown, "wb") as file:
        file.writelines(shown_links(lines, work.run.only_across))
    number = write_sorted(shown, result, work.jobs.tmp_dir)
    setattr(work.report, "num_links" if work.run.links else "num_pairs", number)


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
