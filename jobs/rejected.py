"""rejected.jsonl: every line that is no document, with its place and why."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Optional

from jobs.input_files import is_uri, split_endings
from jobs.outputs import sorted_lines
from jobs.readers import Source
from jobs.records import decode_counts, json_bytes

CHUNK_BYTES = 1 << 20


def sortable(lines: Iterable[bytes], sources: Sequence[Source], uris: Mapping[str, str]) -> Iterator[bytes]:
    """The output of ``mr_rejects``, each line behind a key that sorts by input and line.

    An engine that does not read local files has its own names for them: ``uris``, by path.
    """
    number_of = {uris.get(source.path, source.path): number for number, source in enumerate(sources)}
    for line in lines:
        if decode_counts(line) is None:
            found = json.loads(line)
            number = next((number_of[name] for name in names_of(found["file"]) if name in number_of), len(sources))
            yield b"%08d %016d %012d\t%b" % (number, found["start"], found["line_in_split"], line)


def names_of(uri: str) -> tuple[str, ...]:
    """What an engine may have been given as the name of a file: all of a URI, a path, or HDFS without its host.

    >>> names_of("hdfs://host:8020/corpus.jsonl")[-1], names_of("file:///corpus.jsonl")[-1]
    ('hdfs:///corpus.jsonl', '/corpus.jsonl')
    """
    return uri, re.sub(r"^file://|(?<=^hdfs://)[^/]+", "", uri)


def placed(path: Path, sources: Sequence[Source], tmp_dir: Path) -> Iterator[dict[str, Any]]:
    """Sorted records of ``rejected.jsonl`` from a file of sortable lines."""
    with sorted_lines(path, tmp_dir) as lines:
        split, num_before = (-1, -1), None
        for line in lines:
            key, _, record = line.partition(b"\t")
            found = json.loads(record)
            number, start = int(key.split()[0]), found.pop("start")
            file, line_in_split = found.pop("file"), found.pop("line_in_split")
            if number == len(sources):
                yield {"place": file or "input", **found}
                continue
            if split != (number, start):
                split, num_before = (number, start), lines_before(sources[number].path, start)
            line_number = None if num_before is None else num_before + line_in_split
            yield {"place": sources[number].place(line_number), **found}


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


def write_rejected(records: Iterable[dict[str, Any]], path: Path, num_shown: int) -> tuple[list[str], int]:
    """Write all records; the first few come back as messages with place and reason, and the number of all."""
    messages: list[str] = []
    num_records = 0
    with open(path, "wb") as file:
        for record in records:
            if len(messages) < num_shown:
                messages.append(f"{record['place']}: {record['detail']}")
            file.write(json_bytes(record) + b"\n")
            num_records += 1
    return messages, num_records
