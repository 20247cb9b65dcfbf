"""Before the first job, driver side: about how many lines there are, to judge by a few pieces of the input."""

from __future__ import annotations

import io
import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from operator import attrgetter
from typing import BinaryIO

from jobs.input_files import split_endings
from jobs.readers import CHUNK_BYTES, OPENERS, Source, reading

StartOf = Callable[[str, int], bytes]
"""The first bytes of a file at an address."""


def estimated_lines(sources: Iterable[Source], start_of: StartOf) -> int:
    """About how many lines all files hold.

    A local file is judged by two pieces of it. Each look at a file at an address may take a second: the largest of
    each compression stands for all.
    """
    num_lines, remote_sources = 0, defaultdict(list)
    for source in sources:
        if source.remote_bytes is None:
            with open(source.path, "rb") as file:
                num_lines += _lines_like(file, source, source.num_bytes)
        else:
            remote_sources[split_endings(source.path)[1]].append(source)
    for alike in remote_sources.values():
        largest = max(alike, key=attrgetter("num_bytes"))
        # Whatever is in a file, twice as many bytes as are wanted suffice to unpack them.
        start = io.BytesIO(start_of(largest.path, 2 * CHUNK_BYTES) if largest.num_bytes else b"")
        num_lines += _lines_like(start, largest, sum(source.num_bytes for source in alike))
    return num_lines


def _lines_like(file: BinaryIO, source: Source, num_bytes: int) -> int:
    """The lines in so many bytes, if they are like those of a file."""
    samples = list(reading(source.name, _samples(file, split_endings(source.path)[1])))
    sampled_lines, sampled_bytes = map(sum, zip(*samples))
    return num_bytes * max(sampled_lines, 1) // max(sampled_bytes, 1)


def _samples(file: BinaryIO, packing: str) -> Iterator[tuple[int, int]]:
    """Of a piece at the start and one in the middle, or of the start of a packed file: lines, and bytes of the file."""
    if packing:
        with OPENERS[packing](file) as unpacked:
            yield _count_lines(unpacked.read(CHUNK_BYTES)), file.tell()
        return
    middle = file.seek(0, os.SEEK_END) // 2
    for start in (0, middle) if middle > CHUNK_BYTES else (0,):
        file.seek(start)
        piece = file.read(CHUNK_BYTES)
        yield _count_lines(piece), len(piece)


def _count_lines(piece: bytes) -> int:
    return max(piece.count(b"\n"), piece.count(b"\r"))
