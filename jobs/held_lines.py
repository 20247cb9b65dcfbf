"""Lines of a cluster that wait in a reducer for its keeper: in memory, or, where they are long, in a file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import SpooledTemporaryFile
from typing import IO, NamedTuple, Optional, Union

from jobs.kept_lines import CompanyLine

HELD_BYTES = 1 << 25
"""Lines that are held in memory; what comes beyond is in a temporary file."""


class InFile(NamedTuple):
    """Where a line is."""

    start: int
    num_bytes: int


class HeldLines:
    """A line of each document, by the JSON of its id, in the order in which documents came."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._num_bytes = file, 0
        self._held: dict[bytes, Union[CompanyLine, InFile]] = {}

    def put(self, record: CompanyLine) -> None:
        """Hold a line, in the place of the one that there may be of its document."""
        self._num_bytes += len(record.line)
        self._held[record.id_json] = record if self._num_bytes <= HELD_BYTES else self._write(record.encode())

    def get(self, id_json: bytes) -> Optional[CompanyLine]:
        return self._read(self._held[id_json]) if id_json in self._held else None

    def __iter__(self) -> Iterator[CompanyLine]:
        return map(self._read, self._held.values())

    def _write(self, encoded: bytes) -> InFile:
        self._file.seek(0, os.SEEK_END)
        start = self._file.tell()
        self._file.write(encoded)
        return InFile(start, len(encoded))

    def _read(self, held: Union[CompanyLine, InFile]) -> CompanyLine:
        if isinstance(held, CompanyLine):
            return held
        self._file.seek(held.start)
        return CompanyLine.decode(self._file.read(held.num_bytes))


@contextmanager
def held_lines() -> Iterator[HeldLines]:
    # In the task's own folder, which is where the user wants temporary files to be; there is none until it is needed.
    with SpooledTemporaryFile(1, dir=os.curdir) as file:
        yield HeldLines(file)
