"""The jobs in their order: from inputs to a folder of results, on any engine."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional

from jobs.against import names_and_bytes, open_corpora, shown_links, with_names_of_their_own
from jobs.engine_log import show_log
from jobs.errors import InputError, OutputError
from jobs.forests import join_forests
from jobs.gate_file import write_gate
from jobs.index_files import Index
from jobs.input_checks import check_input, check_same_input, check_unique_ids, find_rejects
from jobs.input_files import shown
from jobs.job_runner import JobRunner, Run
from jobs.lean_mrjob import HERE, load_opts_from_mrjob_conf, names_of_options
from jobs.line_estimates import estimated_lines
from jobs.mr_gate import MRGate
from jobs.mr_pairs import MRPairs
from jobs.outputs import publish, write_sorted
from jobs.readers import PLAIN_PATH, plain_path
from jobs.remote import Remote
from jobs.run_report import RunReport
from jobs.silence import Silence
from jobs.stages import Stages, identity_of, resumable_folder
from lsh_core.settings import Settings

GATE_REDUCER_BYTES = 512 * 10**6
"""Memory for one reducer of the gate."""

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
    indexes: list[Index]


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
        sources, against, indexes = open_corpora(run.inputs, run.against, settings, tmp_dir, remote.find)
        if run.runner not in HERE:
            sources = with_names_of_their_own(sources, tmp_dir)
        remote.check_engine()
        remote.check_number_of_files([*sources, *against])
        with JobRunner(run, settings, sources, tmp_dir, display, against) as jobs, \
                _result_folder(run, remote, jobs, asked_for) as (folder, stages):
            report = RunReport(jobs.runner, run.command, settings, *names_and_bytes(sources))
            if run.against:
                report.against = dict(zip(("files", "bytes"), names_and_bytes(against)))
            jobs.warn_of_space()
            yield CorpusRun(run, jobs, report, remote, folder, stages, indexes)
            if report.counter("rejected"):
                report.steps.append(find_rejects(jobs, folder / "rejected.jsonl"))
            check_same_input(report)
            check_unique_ids(report)
            report.seconds = time.monotonic() - started
            report.write(folder / "run.json")


@contextmanager
def _result_folder(
    run: Run, remote: Remote, jobs: JobRunner, asked_for: Optional[dict[str, Any]]
) -> Iterator[tuple[Path, Stages]]:
    if asked_for is not None and isinstance(run.out, Path):
        identity = identity_of(jobs.all_sources, engine=jobs.runner, settings=jobs.settings.to_json(),
                               against=list(run.against), **asked_for)

        def tell(kept: Path) -> None:
            jobs.display.note(f"what was done is kept in {kept}: the same command with --resume goes on from there")

        with resumable_folder(run.out, identity, run.resume, tell) as (folder, stages):
            yield folder, stages
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
    folder = Path(tempfile.mkdtemp(prefix="lookalike-", dir=parent and os.path.abspath(parent)))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _check_configuration(path: Path, runner: str) -> None:
    def options_of(name: str) -> set[str]:
        return {str(option) for _, options in load_opts_from_mrjob_conf(name, str(path)) for option in dict(options)}

    try:
        # One file is for both that run here, of which the size of the input may choose.
        given, are_any = options_of(runner), any(map(options_of, filter(None, HERE) if runner in HERE else [runner]))
    except Exception as error:  # whatever mrjob and its parser make of it
        raise InputError(f"{path} is no mrjob configuration, YAML or JSON with options under runners: "
                         f"{' '.join(str(error).split())}") from error
    if not are_any:
        raise InputError(f"{path} has no options for -r {runner}, under runners: {runner}")
    # mrjob itself would only warn of them.
    if unknown := sorted(given - names_of_options(runner)):
        raise InputError(f"{path}: {', '.join(unknown)} is no option of mrjob for -r {runner}")


def _check_named_paths(run: Run) -> None:
    if run.tmp is not None and not run.tmp.is_dir():
        raise OutputError(f"{run.tmp} is not a folder; --tmp names one that is there")
    tmp = os.path.abspath(run.tmp or tempfile.gettempdir())
    if run.runner not in HERE and not PLAIN_PATH.fullmatch(os.path.join(tmp, "lookalike")):
        raise OutputError(f"{shown(tmp)} cannot hold temporary files of -r {run.runner}: their paths are of letters of "
                          "English, digits and / . _ + = @ ~ - only; --tmp names another folder")
    if run.conf is not None and not run.conf.is_file():
        raise InputError(f"{run.conf} is not a file; --conf names a mrjob configuration")
    if run.conf is not None:
        _check_configuration(run.conf, run.runner or "local")


def make_gate(work: CorpusRun) -> Path:
    """Run the first pass, write its side file, and judge the input by what was found."""
    jobs = work.jobs

    def produce(path: Path) -> None:
        lines = jobs.tmp_dir / "gate-lines"
        num_shards = num_gate_shards(estimated_lines(jobs.all_sources, work.remote.start_of), jobs.settings.banding[0])
        work.report.steps.append(jobs.run_over_keys(MRGate, "gate", lines, "--num-shards", str(num_shards)))
        with open(lines, "rb") as file:
            write_gate(path, file, jobs.settings)

    made = work.stages.make("gate", work.report, produce)
    # It stands beside the results, whose folder may have any name. Spark gives tasks a file by its name behind a link.
    gate = Path(plain_path(str(made), "", jobs.tmp_dir, made.name))
    check_input(jobs, work.report, work.run, gate)
    return gate


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


def _warn_of_pairs(work: CorpusRun) -> None:
    possible, num_documents = work.report.counter("possible_pairs"), work.report.counter("documents")
    if not work.run.links and possible > MANY_PAIRS_A_DOCUMENT * num_documents:
        work.jobs.display.note(f"up to {possible:,} pairs of {num_documents:,} documents may be written; "
                               "--links would write fewer lines than there are documents")


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
            file.writelines(line + b"\n" for line in join_forests(pieces, jobs.tmp_dir))
        return {"num_links": write_sorted(joined, path, jobs.tmp_dir)}

    made = work.stages.make("pairs", work.report, produce)
    result = work.folder / ("links.jsonl" if run.links else "pairs.jsonl")
    if run.against:
        shown = jobs.tmp_dir / "shown"
        with open(made, "rb") as marked, open(shown, "wb") as file:
            file.writelines(shown_links(marked, run.only_across))
        setattr(work.report, "num_links" if run.links else "num_pairs", write_sorted(shown, result, jobs.tmp_dir))
    else:
        publish(made, result)
    return made
