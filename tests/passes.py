"""What tests of the gate share: settings as options, a gate made by hand, both passes on a few lines."""

from __future__ import annotations

import dataclasses
import io
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Optional

from jobs.gate_file import write_gate
from jobs.input_files import FindRemote, find_inputs, refuse_address
from jobs.job_runner import Run
from jobs.mr_gate import MRGate
from jobs.pipeline import find_pairs
from jobs.readers import Source, open_found
from jobs.run_report import RunReport
from jobs.silence import Silence
from lsh_core.settings import Settings
from tests.helpers import run_job

QUIET = Silence()


def written(path: Path, lines: Iterable[bytes]) -> str:
    """The path of a new file of lines."""
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return str(path)


def open_inputs(
    inputs: Iterable[str], settings: Settings, tmp_dir: Path, stdin: Optional[BinaryIO] = None,
    find_remote: FindRemote = refuse_address,
) -> list[Source]:
    """Every input as a file of lines, as a run has them."""
    return open_found(find_inputs(inputs, settings, find_remote), settings, tmp_dir, stdin)


def file_of(lines: Iterable[bytes]) -> io.BytesIO:
    """Lines as a job writes them, in a file that can be read again."""
    return io.BytesIO(b"".join(line + b"\n" for line in lines))


def options_of(settings: Settings) -> list[str]:
    """The options that give a job these settings."""
    defaults, options = Settings(), []
    for field in dataclasses.fields(settings):
        value = getattr(settings, field.name)
        if value != getattr(defaults, field.name):
            is_words = field.name == "stop_words"
            options += ["--" + field.name.replace("_", "-"), "english" if is_words else str(value)]
    return options


def write_gate_of(lines: Iterable[bytes], path: Path, settings: Settings, num_shards: int = 1) -> str:
    """Run the first pass by itself; its gate file."""
    output = run_job(MRGate, lines, *options_of(settings), "--num-shards", str(num_shards))
    write_gate(path, file_of(output.lines), settings)
    return str(path)


class Results(NamedTuple):
    """The lines of ``pairs.jsonl`` or ``links.jsonl``, and the report."""

    lines: list[bytes]
    report: RunReport


def run_passes(lines: Iterable[bytes], settings: Settings, runner: str = "inline", **choices: Any) -> Results:
    """Run the whole pipeline on lines."""
    with tempfile.TemporaryDirectory() as folder:
        run = Run([written(Path(folder) / "in.jsonl", lines)], Path(folder) / "out", runner, **choices)
        report = find_pairs(run, settings, QUIET)
        return Results((run.out / ("links.jsonl" if run.links else "pairs.jsonl")).read_bytes().splitlines(), report)
