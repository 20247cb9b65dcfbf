"""A file cut into pieces for tasks: at line ends, or between the lines of two keys."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import BinaryIO

CHUNK_BYTES = 1 << 20


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
