"""A file cut into pieces for tasks: at line ends, or between the lines of two keys."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

CHUNK_BYTES = 1 << 20

PIECE = "lookalike.input.piece"
"""The setting by which a task is told where in its input its piece starts and ends."""


def line_ranges(file: BinaryIO, piece_bytes: int, by_key: bool = False) -> Iterator[tuple[int, int]]:
    """Where pieces of whole lines start and end, of ``piece_bytes`` or hardly more; an empty file has one.

    With ``by_key``, lines follow one another that begin with the same key and a tab: these stay together.

    >>> import io
    >>> list(line_ranges(io.BytesIO(b"one\\ntwo\\nthree"), 5))
    [(0, 8), (8, 13)]
    """
    size, start, end = file.seek(0, 2), 0, -1
    while end < size:
        file.seek(max(min(start + piece_bytes, size) - 1, start))
        file.readline()
        end = _end_of_key(file) if by_key else file.tell()
        yield start, end
        start = end


def _end_of_key(file: BinaryIO) -> int:
    """Where the lines that have the next line's key end."""
    end, key = file.tell(), None
    for line in iter(file.readline, b""):
        if key not in (None, line.partition(b"\t")[0]):
            break
        key, end = line.partition(b"\t")[0], end + len(line)
    return end


def copied_ranges(source: BinaryIO, ranges: Iterable[tuple[int, int]], targets: Iterator[BinaryIO]
                  ) -> Iterator[tuple[int, int]]:
    """The ranges, each copied in large chunks to a file of its own."""
    for start, end in ranges:
        source.seek(start)
        with next(targets) as target:
            for at in range(start, end, CHUNK_BYTES):
                target.write(source.read(min(CHUNK_BYTES, end - at)))
        yield start, end


def open_piece(file: BinaryIO, start: int, end: int) -> BinaryIO:
    """A piece of a file as a file of its own, which nobody has to copy.

    >>> open_piece(io.BytesIO(b"one\\ntwo\\nthree"), 4, 8).read()
    b'two\\n'
    """
    file.seek(start)
    return io.BufferedReader(_Piece(file, end - start), CHUNK_BYTES)


class _Piece(io.RawIOBase):
    """What a file has from here on, but no more than so many bytes."""

    def __init__(self, file: BinaryIO, num_bytes: int) -> None:
        self._file, self._num_left = file, num_bytes

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        num_bytes: int = self._file.readinto(memoryview(buffer)[: self._num_left])  # type: ignore[attr-defined]
        self._num_left -= num_bytes
        if not num_bytes and self._num_left and len(buffer):
            # It comes with numpy, which has to wait until it was told how to be fast.
            from jobs.errors import InputChanged

            raise InputChanged
        return num_bytes
