"""From what an engine calls a place in its input to what the user calls it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Callable, Optional

from jobs.input_files import is_uri, split_endings
from jobs.readers import Source

CHUNK_BYTES = 1 << 20


def numbers_of_files(sources: Sequence[Source], uris: Mapping[str, str]) -> Callable[[str], int]:
    """A function from an engine's name of a file to the number of its source; one beyond all for files of no source.

    Local files may have been uploaded for the engine, to ``uris`` by path.
    """
    number_of = {uris.get(source.path, source.path): number for number, source in enumerate(sources)}
    return lambda file: next((number_of[name] for name in names_of(file) if name in number_of), len(sources))


def names_of(uri: str) -> tuple[str, ...]:
    """What an engine may have been given as the name of a file: all of a URI, a path, or HDFS without its host.

    >>> names_of("hdfs://host:8020/corpus.jsonl")[-1], names_of("file:///corpus.jsonl")[-1]
    ('hdfs:///corpus.jsonl', '/corpus.jsonl')
    """
    return uri, re.sub(r"^file://|(?<=^hdfs://)[^/]+", "", uri)


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
