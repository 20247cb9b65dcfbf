"""Pairs that are known to be similar, to hold a result against."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple, Optional

from jobs.errors import InputError

Pair = tuple[str, str]


class Comparison(NamedTuple):
    """A known pair, its similarity, and whether the run reported it."""

    a: str
    b: str
    similarity: float
    is_found: bool


def read_truth(path: Path, text_field: Optional[str] = None) -> dict[Pair, float]:
    """Known pairs from lines ``{"a", "b", "similarity"}``, or ``id id`` where all count as 1.

    Those that name another ``field`` than the texts come from are left out.
    """
    truth = {}
    try:
        with open(path, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    pair, similarity, field = _parse(line, f"{path}:{number}")
                    if None in (field, text_field) or field == text_field:
                        truth[pair] = similarity
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: {error}") from error
    return truth


def compare(truth: dict[Pair, float], pairs_path: Path) -> list[Comparison]:
    """Every known pair, most similar first, with what became of it."""
    found = set(read_truth(pairs_path))
    ordered = sorted(truth.items(), key=lambda item: (-item[1], item[0]))
    return [Comparison(a, b, similarity, (a, b) in found) for (a, b), similarity in ordered]


def _parse(line: str, place: str) -> tuple[Pair, float, Optional[str]]:
    field = None
    try:
        if line.startswith("{"):
            fields = json.loads(line)
            a, b, similarity = str(fields["a"]), str(fields["b"]), float(fields.get("similarity", 1))
            field = fields.get("field")
        else:
            a, b = line.split()
            similarity = 1.0
    except (ValueError, KeyError, TypeError):
        raise InputError(f"{place}: found {line.strip()[:60]!r}; a line of truth is "
                         '{"a": id, "b": id, "similarity": number} or two ids') from None
    return (min(a, b), max(a, b)), similarity, field
