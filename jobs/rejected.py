"""rejected.jsonl: every line that is no document, with its place and why."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from jobs.outputs import sorted_lines
from jobs.readers import Source
from jobs.records import decode_counts, json_bytes

CHUNK_BYTES = 1 << 20


def sortable(lines: Iterable[bytes], sources: Sequence[Source]) -> Iterator[bytes]:
    """The output of ``mr_rejects``, each line behind a key that sorts by input and line."""
    number_of = {source.path: number for number, source in enumerate(sources)}
    for line in lines:
        if decode_counts(line) is None:
            found = json.loads(line)
            number = number_of.get(found["file"].partition("file://")[2] or found["file"], len(sources))
            yield b"%08d %016d %012d\t%b" % (number, found["start"], found["line_in_split"], line)


def placed(path: Path, sources: Sequence[Source], tmp_dir: Path) -> Iterator[dict[str, Any]]:
    """Sorted records of ``rejected.jsonl`` from a file of sortable lines."""
    with sorted_lines(path, tmp_dir) as lines:
        split, lines_before = (-1, -1), 0
        for line in lines:
            key, _, record = line.partition(b"\t")
            found = json.loads(record)
            number, start = int(key.split()[0]), found.pop("start")
            file, line_in_split = found.pop("file"), found.pop("line_in_split")
            if number == len(sources) or sources[number].remote_bytes is not None:
                yield {"place": file or "input", **found}
                continue
            if split != (number, start):
                split, lines_before = (number, start), count_lines(Path(sources[number].path), start)
            yield {"place": sources[number].place(lines_before + line_in_split), **found}


def count_lines(path: Path, num_bytes: int) -> int:
    """How many lines, ended by LF, CR or CRLF, the first ``num_bytes`` of a file hold."""
    if not num_bytes:
        return 0
    num_lines, last = 0, b""
    with open(path, "rb") as file:
        while num_bytes and (chunk := file.read(min(num_bytes, CHUNK_BYTES))):
            num_bytes -= len(chunk)
            num_lines += chunk.count(b"\n") + chunk.count(b"\r") - (last + chunk).count(b"\r\n")
            last = chunk[-1:]
    return num_lines


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
