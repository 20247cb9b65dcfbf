"""Where lines come from, as users know it: engines tell a file, where a piece of it starts, and the line in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Optional

from jobs.input_files import is_uri, split_endings
from jobs.input_split import numbers_of_files
from jobs.readers import Source

CHUNK_BYTES = 1 << 20
KEY = b"%08d %016d %012d"


class Places:
    """Keys that sort by input and line, and what to show of them.

    Local files may have been uploaded for an engine, to ``uris`` by path.
    """

    def __init__(self, sources: Sequence[Source], uris: Mapping[str, str]) -> None:
        self._sources = sources
        self.number_of = numbers_of_files([uris.get(source.path, source.path)] for source in sources)
        """The number of the source that an engine has a name for; one beyond all for files of no source."""
        self._split: tuple[int, int] = (-1, -1)
        self._lines_before: Optional[int] = None

    def key(self, file: str, start: int, line_in_split: int) -> bytes:
        return KEY % (self.number_of(file), start, line_in_split)

    def shown(self, key: bytes, file: str) -> str:
        """The place of a key; quick where keys come in their order."""
        number, start, line_in_split = map(int, key.split())
        if number == len(self._sources):
            return file or "input"
        source = self._sources[number]
        if self._split != (number, start):
            self._split, self._lines_before = (number, start), lines_before(source.path, start)
        return source.place(None if self._lines_before is None else self._lines_before + line_in_split)


def lines_before(path: str, start: int) -> Optional[int]:
    """How many lines of a file stand before the piece that starts at a byte; None where nobody here can tell."""
    if not start:
        return 0
    return None if is_uri(path) or split_endings(path)[1] else count_lines(path, start + 1)


def count_lines(path: str, num_bytes: int) -> int:
    """How many lines, ended by LF, CR or CRLF, the first bytes of a file hold; the last may be cut short."""
    num_lines, last = 0, b"\n"
    with open(path, "rb") as file:
        while num_bytes and (chunk := file.read(min(num_bytes, CHUNK_BYTES))):
            num_bytes -= len(chunk)
            num_lines += chunk.count(b"\n") + chunk.count(b"\r") - (last[-1:] + chunk).count(b"\r\n")
            last = chunk
    return num_lines + (last[-1:] not in b"\r\n")
