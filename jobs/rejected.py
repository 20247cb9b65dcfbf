"""rejected.jsonl: every line that is no document, with its place and why."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from jobs.outputs import sorted_lines
from jobs.places import lines_before, numbers_of_files
from jobs.readers import Source
from jobs.records import decode_counts, json_bytes


def sortable(lines: Iterable[bytes], sources: Sequence[Source], uris: Mapping[str, str]) -> Iterator[bytes]:
    """The output of ``mr_rejects``, each line behind a key that sorts by input and line.

    An engine that does not read local files has its own names for them: ``uris``, by path.
    """
    number_of = numbers_of_files(sources, uris)
    for line in lines:
        if decode_counts(line) is None:
            found = json.loads(line)
            number = number_of(found["file"])
            yield b"%08d %016d %012d\t%b" % (number, found["start"], found["line_in_split"], line)


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
