"""The jobs in their order: from inputs to a folder of results, on any engine."""

from __future__ import annotations

import json
import logging
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, Optional

from jobs.display import Display
from jobs.errors import InputError, JobFailed, OutputError
from jobs.gate_file import decode_lines, write_gate
from jobs.lean_mrjob import StepFailedException
from jobs.links import join_forests
from jobs.mr_gate import MRGate
from jobs.mr_pairs import MRPairs
from jobs.mr_rejects import MRRejects
from jobs.outputs import check_output_folder, complete_folder, sorted_lines
from jobs.readers import Source, open_inputs, total_bytes
from jobs.records import decode_counts
from jobs.rejected import placed, sortable, write_rejected
from jobs.run_report import RunReport, StepReport
from lsh_core.settings import Settings

RUNNERS = ("inline", "local", "hadoop", "spark", "emr")
INLINE_BYTES = 4 * 2**20
"""Smaller inputs run in one process: starting others would take longer."""

LARGE_BYTES = 2**30
MAX_GATE_INPUT = 2**33
NUM_REJECTED_SHOWN = 5


@dataclass(frozen=True)
class Run:
    """What a user asks for besides the settings; none of it changes the answer."""

    inputs: Sequence[str]
    out: Path
    runner: Optional[str] = None
    conf: Optional[Path] = None
    tmp: Optional[Path] = None
    cores: Optional[int] = None
    strict: bool = False
    links: bool = False
    duplicate_ids: str = "refuse"
    verbose: bool = False
    command: str = ""


def find_pairs(run: Run, settings: Settings, display: Display) -> RunReport:
    """Write ``pairs.jsonl``, ``rejected.jsonl`` if there is a need, and ``run.json`` to ``run.out``."""
    started = time.monotonic()
    check_output_folder(run.out)
    _check_named_paths(run)
    with private_folder(run.tmp) as tmp_dir:
        sources = open_inputs(run.inputs, settings, tmp_dir)
        jobs = JobRunner(run, settings, sources, tmp_dir, display)
        report = RunReport(jobs.runner, run.command, settings, [source.name for source in sources],
                           total_bytes(sources))
        jobs.warn_of_space()
        with complete_folder(run.out) as folder:
            if run.strict:
                _stop_at_rejects(jobs)
            gate = _make_gate(jobs, report)
            _find_pairs(jobs, report, run, gate, folder)
            _check_nothing_lost(report)
            _warn_of_input(report, display)
            if report.counter("rejected"):
                report.steps.append(_find_rejects(jobs, folder / "rejected.jsonl"))
            report.seconds = time.monotonic() - started
            report.write(folder / "run.json")
    return report


class JobRunner:
    """Runs jobs over the same sources under the same settings."""

    def __init__(
        self, run: Run, settings: Settings, sources: Sequence[Source], tmp_dir: Path, display: Display
    ) -> None:
        self.runner = run.runner or ("inline" if total_bytes(sources) <= INLINE_BYTES else "local")
        self.sources, self.tmp_dir, self.display = sources, tmp_dir, display
        self.settings = settings
        self._settings_path = tmp_dir / "settings.json"
        self._settings_path.write_text(json.dumps(settings.to_json()))
        self._args = ["-r", self.runner, "--conf-path", str(run.conf or default_conf(self.runner)),
                      "--local-tmp-dir", str(tmp_dir), "--settings", str(self._settings_path), "--counts"]
        if self.runner in ("inline", "local") and run.cores:
            self._args += ["--num-cores", str(run.cores)]
        _quiet_mrjob(run.verbose)

    def run(self, job_class: Any, name: str, output: Path, *args: str) -> StepReport:
        """Run one job to the end; its lines go to ``output``, its counts into the report."""
        started = time.monotonic()
        counts: Counter[str] = Counter()
        job = job_class([*self._args, *args, *(source.path for source in self.sources)])
        with self.display.step(name) as listener, job.make_runner() as runner:
            runner.task_listener = listener
            try:
                runner.run()
            except StepFailedException as error:
                raise JobFailed(_failure(name, runner, error)) from error
            with open(output, "wb") as file:
                for line in _lines(runner.cat_output()):
                    found = decode_counts(line)
                    if found is None:
                        file.write(line)
                    else:
                        counts.update(found)
        return StepReport(name, time.monotonic() - started, dict(counts))

    def warn_of_space(self) -> None:
        """Before a large local run, compare the temporary space that it needs with what there is."""
        size = total_bytes(self.sources)
        if self.runner != "local" or size < LARGE_BYTES:
            return
        bands, _ = self.settings.banding
        # Each band's copy of a text is written by the mapper, by the sort, and for the reducer.
        needed, free = size * (1 + 3 * bands), shutil.disk_usage(self.tmp_dir).free
        self.display.note(f"about {needed / 2**30:.0f} GiB of temporary space are needed in "
                          f"{self.tmp_dir.parent}, {free / 2**30:.0f} GiB are free (--tmp names another folder)")


@contextmanager
def private_folder(parent: Optional[Path]) -> Iterator[Path]:
    """A temporary folder that only its owner can read, gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="lookalike-", dir=parent))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def default_conf(runner: str) -> Path:
    """The mrjob configuration that is installed with the program."""
    return Path(str(files("jobs.conf"))) / ("local.conf" if runner == "inline" else f"{runner}.conf")


def _make_gate(jobs: JobRunner, report: RunReport) -> Path:
    """Run the first pass and write its side file; ids of several texts show here."""
    lines, path = jobs.tmp_dir / "gate-lines", jobs.tmp_dir / "gate"
    bands, _ = jobs.settings.banding
    num_shards = min(bands, 1 + total_bytes(jobs.sources) * bands // MAX_GATE_INPUT)
    step = jobs.run(MRGate, "gate", lines, "--num-shards", str(num_shards))
    with open(lines, "rb") as file:
        write_gate(path, decode_lines(file), jobs.settings)
    report.steps.append(step)
    return path


def _find_pairs(jobs: JobRunner, report: RunReport, run: Run, gate: Path, folder: Path) -> None:
    """Run the second pass; ``pairs.jsonl``, or ``links.jsonl``, is sorted."""
    lines, tmp_dir = jobs.tmp_dir / "pairs", jobs.tmp_dir
    args = ["--gate", str(gate), "--duplicate-ids", run.duplicate_ids, *(["--links"] if run.links else [])]
    report.steps.append(jobs.run(MRPairs, "pairs", lines, *args))
    if run.links:
        joined = tmp_dir / "links"
        with open(lines, "rb") as pieces, open(joined, "wb") as file:
            file.writelines(line + b"\n" for line in join_forests(pieces))
        report.num_links = _write_sorted(joined, folder / "links.jsonl", tmp_dir)
    else:
        report.num_pairs = _write_sorted(lines, folder / "pairs.jsonl", tmp_dir)


def _check_named_paths(run: Run) -> None:
    if run.tmp is not None and not run.tmp.is_dir():
        raise OutputError(f"{run.tmp} is not a folder; --tmp names one that is there")
    if run.conf is not None and not run.conf.is_file():
        raise InputError(f"{run.conf} is not a file; --conf names a mrjob configuration")


def _stop_at_rejects(jobs: JobRunner) -> None:
    path = jobs.tmp_dir / "strict.jsonl"
    step = _find_rejects(jobs, path)
    if step.counters.get("rejected"):
        with open(path, encoding="utf-8") as file:
            first = json.loads(next(file))
        raise InputError(f"{first['place']}: {first['detail']} (--strict stops at the first of "
                         f"{step.counters['rejected']} such lines)")


def _find_rejects(jobs: JobRunner, path: Path) -> StepReport:
    found, keyed = jobs.tmp_dir / "rejects", jobs.tmp_dir / "rejects-keyed"
    step = jobs.run(MRRejects, "rejects", found)
    with open(found, "rb") as lines, open(keyed, "wb") as file:
        file.writelines(sortable(lines, jobs.sources))
    for message in write_rejected(placed(keyed, jobs.sources, jobs.tmp_dir), path, NUM_REJECTED_SHOWN):
        jobs.display.note(message)
    num_more = step.counters.get("rejected", 0) - NUM_REJECTED_SHOWN
    if num_more > 0:
        jobs.display.note(f"... and {num_more:,} more")
    return step


def _write_sorted(unsorted: Path, path: Path, tmp_dir: Path) -> int:
    num_lines = 0
    with open(path, "wb") as file:
        for line in sorted_lines(unsorted, tmp_dir):
            file.write(line)
            num_lines += 1
    return num_lines


def _warn_of_input(report: RunReport, display: Display) -> None:
    if report.counter("rejected") and not report.counter("documents"):
        display.note(f"every line was rejected: are they really --format {report.settings.format}?")
    if report.counter("same_id"):
        display.note(f"{report.counter('same_id'):,} similar pairs have one id for two texts; ids should be unique")


def _check_nothing_lost(report: RunReport) -> None:
    read, told = report.counter("lines"), sum(map(report.counter, ("documents", "copies", "rejected")))
    if read != told:
        raise JobFailed(f"{read} lines were read, but {told} are accounted for: this is a defect, please report it")


def _failure(name: str, runner: Any, error: Exception) -> str:
    """What the failing task said last, in one line."""
    said = getattr(runner, "failed_task_stderr", "").strip().splitlines()
    return f"{name}: {said[-1].partition(': ')[2] or said[-1]}" if said else f"{name}: {error}"


def _lines(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Lines with their ends, from chunks that may end anywhere."""
    rest = b""
    for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            yield line + b"\n"
    if rest:
        yield rest + b"\n"


def _quiet_mrjob(verbose: bool) -> None:
    log = logging.getLogger("mrjob")
    log.setLevel(logging.INFO if verbose else logging.CRITICAL)
    if verbose and not log.handlers:
        log.addHandler(logging.StreamHandler())
