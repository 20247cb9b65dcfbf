"""Results on disk: complete under their final name, or absent."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO

from jobs.errors import JobFailed, OutputError

SORT_MEMORY = "200M"
CHUNK_BYTES = 1 << 20


def check_output_folder(folder: Path) -> None:
    """Refuse a folder that holds something or cannot be made, before anything runs."""
    if re.match("[a-z][a-z0-9+.-]+:/", str(folder)):
        raise OutputError(f"{folder} looks like an address, which would begin with {str(folder).partition(':')[0]}://")
    if folder.exists() and not folder.is_dir():
        raise OutputError(f"{folder} is there already and is not a folder")
    if folder.is_dir() and any(folder.iterdir()):
        raise OutputError(f"{folder} is not empty; name another folder with --out, or remove it")
    nearest = next(parent for parent in folder.resolve().parents if parent.exists())
    if not nearest.is_dir() or not os.access(nearest, os.W_OK | os.X_OK):
        raise OutputError(f"cannot write to {folder}: {nearest} is not a folder that can be written to")


@contextmanager
def complete_folder(folder: Path) -> Iterator[Path]:
    """A folder to write into that takes its final name only if nothing goes wrong."""
    check_output_folder(folder)
    # A link or "." cannot be replaced, what it stands for can.
    folder = folder.resolve()
    folder.parent.mkdir(parents=True, exist_ok=True)
    partial = Path(tempfile.mkdtemp(prefix=f".{folder.name}.partial-", dir=folder.parent))
    try:
        yield partial
        settle(partial, folder)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise


def settle(partial: Path, folder: Path) -> None:
    """Give a folder that is complete its final name, and let others read it as they may read what the user writes."""
    mask = os.umask(0)
    os.umask(mask)
    partial.chmod(0o777 & ~mask)
    partial.rename(folder)


def sync(path: Path) -> None:
    """Have a file's content on disk, or a folder's names, also if the power fails."""
    file = os.open(path, os.O_RDONLY)
    try:
        # Some file systems do not know it for folders.
        with suppress(OSError) if path.is_dir() else nullcontext():
            os.fsync(file)
    finally:
        os.close(file)


def publish(made: Path, result: Path) -> None:
    """Let a file of a stage stand among the results too; it is copied only where a disk has no hard links."""
    try:
        os.link(made, result)
    except OSError:
        shutil.copyfile(made, result)


@contextmanager
def sorted_lines(path: Path, tmp_dir: Path) -> Iterator[BinaryIO]:
    """The lines of a file in byte order, to be read to the end, sorted outside of this process in bounded memory."""
    command = ["sort", "-S", SORT_MEMORY, "-T", str(tmp_dir), str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, "LC_ALL": "C"}) as process:
        assert isinstance(process.stdout, BufferedReader)
        try:
            yield process.stdout
        except BaseException as error:
            try:
                # Who reads may stumble over the early end of a sort that failed.
                if not isinstance(error, Exception) or process.stdout.read(1) or not process.wait():
                    raise
            finally:
                process.kill()
    if process.returncode:
        raise JobFailed(f"sort ended with code {process.returncode}: is there space in {tmp_dir}?")


def write_sorted(unsorted: Path, path: Path, tmp_dir: Path) -> int:
    """Write the lines of a file in byte order to another; how many there are."""
    num_lines = 0
    with sorted_lines(unsorted, tmp_dir) as lines, open(path, "wb") as file:
        while chunk := lines.read(CHUNK_BYTES):
            file.write(chunk)
            num_lines += chunk.count(b"\n")
    return num_lines
