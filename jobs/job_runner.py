"""One job at a time: run it on any engine over the inputs, keep its lines, add up its counts."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from subprocess import CalledProcessError
from typing import Any, Optional, Union

from jobs.against import told_key_tables, told_names
from jobs.engine_log import heard, show_log
from jobs.errors import InputChanged, JobFailed
from jobs.failures import failure
from jobs.lean_mrjob import HERE, StepFailedException, uploaded_files
from jobs.readers import Source
from jobs.records import COUNTS_PREFIX, decode_counts
from jobs.run_report import StepReport, engine_counters
from jobs.silence import Silence
from jobs.warm_tasks import WarmTasks
from lsh_core.errors import SettingsError
from lsh_core.settings import Settings

RUNNERS = ("inline", "local", "hadoop", "spark", "emr")
INLINE_BYTES = 4 * 2**20
"""Smaller inputs run in one process: starting others would take longer."""

LARGE_BYTES = 2**30
BLOCK_BYTES = 2**20
COPIES_ON_DISK = 3
"""Temporary bytes of a local run for each byte of input: what is shuffled, three times.

What is compressed is unpacked besides."""


@dataclass(frozen=True)
class Run:
    """What a user asks for besides the settings; none of it changes which documents are similar.

    ``out`` is a local folder, or the address of one.
    """

    inputs: Sequence[str]
    out: Union[Path, str]
    runner: Optional[str] = None
    conf: Optional[Path] = None
    tmp: Optional[Path] = None
    cores: Optional[int] = None
    strict: bool = False
    links: bool = False
    duplicate_ids: str = "refuse"
    against: Sequence[str] = ()
    only_across: bool = False
    """With ``against``: no pairs inside the input."""
    verbose: bool = False
    resume: bool = False
    command: str = ""

    def __post_init__(self) -> None:
        if self.runner not in (None, *RUNNERS):
            raise SettingsError(f"runner is {self.runner!r}; it must be one of {', '.join(RUNNERS)}")


class JobRunner:
    """Runs jobs over the same sources under the same settings."""

    def __init__(
        self, run: Run, settings: Settings, sources: Sequence[Source], tmp_dir: Path, display: Silence,
        against: Sequence[Source] = (),
    ) -> None:
        self.sources, self.settings, self.tmp_dir, self.display = sources, settings, tmp_dir, display
        self.against = against
        self.num_bytes = sum(source.num_bytes for source in self.all_sources)
        self.uris: dict[str, str] = {}
        """What the engine of the last job calls the local files that were uploaded for it, by path."""
        self.runner = run.runner or ("inline" if self.num_bytes <= INLINE_BYTES else "local")
        settings_path = tmp_dir / "settings.json"
        settings_path.write_text(json.dumps(settings.to_json()))
        self._args = ["-r", self.runner, "--conf-path", str(run.conf or default_conf(self.runner)),
                      "--local-tmp-dir", str(tmp_dir), "--settings", str(settings_path), "--counts",
                      # They were found before; mrjob would ask for each, by a process of its own on Hadoop.
                      "--no-check-input-paths",
                      # Files that were uploaded are of no use after a failure either; logs stay.
                      "--cleanup-on-failure", "TMP"]
        if run.against:
            told = [*told_names(against), *told_key_tables(against)]
            self._args += ["--against", str(self._write_list("against.json", told))]
            self._args += ["--only-across"] if run.only_across else []
        if self.runner in HERE and run.cores:
            self._args += ["--num-cores", str(run.cores)]
        self._warm_tasks = None
        if self.runner == "local" and WarmTasks.can_start():
            self._warm_tasks = WarmTasks(run.cores or os.cpu_count() or 1)
        show_log(run.verbose, is_heard=self.runner not in HERE)

    def __enter__(self) -> JobRunner:
        return self

    def __exit__(self, *_: object) -> None:
        if self._warm_tasks:
            self._warm_tasks.close()

    @property
    def all_sources(self) -> list[Source]:
        """The input, then what it is held against."""
        return [*self.sources, *self.against]

    def _write_list(self, name: str, files: Sequence[str]) -> Path:
        path = self.tmp_dir / name
        path.write_text(json.dumps(files))
        return path

    def run_over_keys(self, job_class: Any, name: str, output: Path, *args: str) -> StepReport:
        """Run one job over all sources, but over the keys of those that have them."""
        tables = told_key_tables(self.against)
        if tables:
            args += ("--key-tables", str(self._write_list("key-tables.json", tables)))
        step = self.run(job_class, name, output, *args,
                        inputs=[source.keys_path or source.path for source in self.all_sources])
        step.reads_input = step.reads_against = True
        return step

    def run_over_input(self, job_class: Any, name: str, output: Path, *args: str) -> StepReport:
        """Run one job over the input alone, and not over what it is held against."""
        step = self.run(job_class, name, output, *args, inputs=[source.path for source in self.sources])
        step.reads_input, step.reads_against = True, False
        return step

    def run(self, job_class: Any, name: str, output: Path, *args: str, inputs: Optional[Sequence[str]] = None
            ) -> StepReport:
        """Run one job, over all sources or other inputs; its lines go to ``output``, its counts into the report."""
        started = time.monotonic()
        counts: Counter[str] = Counter()
        paths = [source.path for source in self.all_sources] if inputs is None else inputs
        job = job_class([*self._args, *args, *paths])
        with self.display.step(name) as listener, job.make_runner() as runner:
            runner.task_listener, runner.warm_tasks = listener, self._warm_tasks
            with heard(listener, lambda address: self.display.note(f"{name}: {address}")) as log:
                try:
                    runner.run()
                    _write(output, runner.cat_output(), counts)
                except (StepFailedException, CalledProcessError, OSError) as error:
                    if not all(map(_is_there, self.all_sources)):
                        raise InputChanged from error
                    # Those of mrjob's file systems have no number.
                    if isinstance(error, OSError) and (self.runner in HERE or error.errno):
                        raise
                    raise JobFailed(failure(name, runner, error, self.all_sources, log.reason)) from error
            self.uris, told = uploaded_files(runner), engine_counters((runner.counters() or [{}])[0])
        return StepReport(name, time.monotonic() - started, dict(counts), told, inputs is None, inputs is None)

    def warn_of_space(self) -> None:
        """Before a large local run, compare the temporary space that it needs with what there is."""
        if self.runner == "local" and self.num_bytes >= LARGE_BYTES:
            needed, free = self.num_bytes * COPIES_ON_DISK, shutil.disk_usage(self.tmp_dir).free
            self.display.note(
                f"about {needed / 2**30:.0f} GiB of temporary space are needed in {self.tmp_dir.parent}, "
                f"{free / 2**30:.0f} GiB are free (--tmp names another folder)")


def _is_there(source: Source) -> bool:
    return source.remote_bytes is not None or os.path.exists(source.path)


def default_conf(runner: str) -> Path:
    """The mrjob configuration that is installed with the program."""
    return Path(str(files("jobs.conf"))) / ("local.conf" if runner == "inline" else f"{runner}.conf")


def _write(output: Path, chunks: Iterable[bytes], counts: Counter[str]) -> None:
    """Write the lines of a job, and add up its counts."""
    with open(output, "wb") as file:
        for lines in blocks_of_lines(chunks):
            file.writelines(_without_counts(lines, counts))


def blocks_of_lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Large blocks of whole lines, each with its end, from chunks that may end anywhere."""
    block = bytearray()
    for chunk in chunks:
        block += chunk
        if len(block) > BLOCK_BYTES and b"\n" in chunk:
            lines, newline, block = block.rpartition(b"\n")
            yield bytes(lines + newline)
    if block:
        yield bytes(block) if block.endswith(b"\n") else bytes(block) + b"\n"


def _without_counts(lines: bytes, counts: Counter[str]) -> Iterator[bytes]:
    """The lines but those of counts, which are added up."""
    if COUNTS_PREFIX not in lines:
        yield lines
        return
    before, *others = (b"\n" + lines[:-1]).split(b"\n" + COUNTS_PREFIX)
    if before:
        yield before[1:] + b"\n"
    for other in others:
        numbers, newline, after = other.partition(b"\n")
        counts.update(decode_counts(COUNTS_PREFIX + numbers) or {})
        if newline:
            yield after + b"\n"
