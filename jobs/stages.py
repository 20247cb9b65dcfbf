"""Outputs of the stages of a run, each complete or absent, so that a run that was interrupted can be taken up."""

from __future__ import annotations

import dataclasses
import fcntl
import json
import os
import shutil
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Callable, Optional

from jobs import __version__
from jobs.errors import InputChanged, InputError, OutputError
from jobs.outputs import check_output_folder, settle
from jobs.readers import Source
from jobs.run_report import RunReport, StepReport
from jobs.stage_names import STATE, partial_folder
from lsh_core.errors import SettingsError

NOT_TAKEN_UP = (InputChanged, InputError, OutputError, SettingsError)
"""After these a run has to be asked for otherwise."""

Identity = Mapping[str, Any]
"""What a run was asked for, by name: it is taken up only if all of it is the same."""


class Stages:
    """A folder of stages' outputs, with what was reported of each."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def make(self, name: str, report: RunReport, produce: Callable[[Path], Optional[dict[str, int]]]) -> Path:
        """The output of a stage: as it is there already, or made now. Results that are numbers go into the report."""
        output, told = self.folder / name, self.folder / f"{name}.json"
        if not told.exists():
            num_steps, unfinished = len(report.steps), self.folder / f"{name}.unfinished"
            results = produce(unfinished) or {}
            unfinished.replace(output)
            steps = [dataclasses.asdict(step) for step in report.steps[num_steps:]]
            _write_json(told, {"steps": steps, "results": results})
            del report.steps[num_steps:]
        found = json.loads(told.read_text(encoding="utf-8"))
        report.steps += [StepReport(**step) for step in found["steps"]]
        for result, value in found["results"].items():
            setattr(report, result, value)
        return output

    @property
    def is_begun(self) -> bool:
        """Whether any stage is complete."""
        return any(path.name != STATE for path in self.folder.glob("*.json"))


@contextmanager
def resumable_folder(
    out: Path, identity: Identity, is_resumed: bool, on_kept: Callable[[Path], None]
) -> Iterator[tuple[Path, Stages]]:
    """A folder to write into, which takes its final name in the end, and stages that stay if there is none."""
    check_output_folder(out)
    out = out.resolve()
    work = partial_folder(out)
    out.parent.mkdir(parents=True, exist_ok=True)
    try:
        work.mkdir(mode=0o700)
    except FileExistsError:
        _check_taken_up(work, identity, is_resumed)
    else:
        _write_json(work / STATE, identity)
    stages, result = Stages(work), work / "result"
    with locked(work / STATE):
        shutil.rmtree(result, ignore_errors=True)
        result.mkdir()
        try:
            yield result, stages
            settle(result, out)
        except BaseException as error:
            is_kept = stages.is_begun and not isinstance(error, NOT_TAKEN_UP)
            shutil.rmtree(result if is_kept else work, ignore_errors=True)
            for unfinished in work.glob("*.unfinished"):
                unfinished.unlink()
            if is_kept:
                on_kept(work)
            raise
        shutil.rmtree(work, ignore_errors=True)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """While a run is at work here, no other can be."""
    file = os.open(path, os.O_RDONLY)
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise OutputError(f"another run is at work in {path if path.is_dir() else path.parent}") from error
        yield
    finally:
        os.close(file)


def identity_of(sources: Sequence[Source], **asked_for: Any) -> Identity:
    """What a run is known by; inputs are known by name, size and time stamp, and are not read."""
    stamps = [_stamp(name, source) for source in sources for name in source.documents or (source.name,)]
    return {"version": __version__, **asked_for, "input": stamps}


def _stamp(name: str, source: Source) -> list[Any]:
    try:
        status = os.stat(name)
    except OSError:
        # Standard input, or at an address.
        return [name, source.num_bytes]
    return [name, status.st_size, status.st_mtime_ns]


def _check_taken_up(work: Path, identity: Identity, is_resumed: bool) -> None:
    status = os.lstat(work)
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
        raise OutputError(f"{work} is a link, a file or another user's, and stages are kept in a folder of one's own: "
                          "remove it, or name another folder with --out")
    if not (work / STATE).exists():
        raise OutputError(f"{work} is not the folder of an interrupted run: it has no {STATE}; "
                          "remove it, unless another run is just starting there")
    if not is_resumed:
        with locked(work / STATE):
            pass
        raise OutputError(f"{work} is left of an interrupted run: --resume takes it up, or remove it")
    try:
        found = json.loads((work / STATE).read_text(encoding="utf-8"))
        changed = [name for name in identity if found.get(name) != json.loads(json.dumps(identity[name]))]
    except (OSError, ValueError, AttributeError) as error:
        raise InputError(f"{work} is not the folder of an interrupted run: {error}") from error
    if changed:
        raise InputError(f"{work} is of another run ({', '.join(changed)} changed): remove it, or ask for the same")


def _write_json(path: Path, value: Any) -> None:
    """Write a file that is complete or absent."""
    unfinished = path.with_name(f"{path.name}.unfinished")
    unfinished.write_text(json.dumps(value), encoding="utf-8")
    unfinished.replace(path)
