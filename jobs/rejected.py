"""rejected.jsonl: every line that is no document, with its place and why."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from jobs.outputs import sorted_lines
from jobs.places import Places
from jobs.records import decode_counts, json_bytes


def sortable(lines: Iterable[bytes], places: Places) -> Iterator[bytes]:
    """The output of ``mr_rejects``, each line behind a key that sorts by input and line."""
    for line in lines:
        if decode_counts(line) is None:
            found = json.loads(line)
            yield places.key(found["file"], found["start"], found["line_in_split"]) + b"\t" + line


def placed(path: Path, places: Places, tmp_dir: Path) -> Iterator[dict[str, Any]]:
    """Sorted records of ``rejected.jsonl`` from a file of sortable lines."""
    with sorted_lines(path, tmp_dir) as lines:
        for line in lines:
            key, _, record = line.partition(b"\t")
            found = json.loads(record)
            del found["start"], found["line_in_split"]
            yield {"place": places.shown(key, found.pop("file")), **found}


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
