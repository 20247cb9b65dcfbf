"""From a file to documents and their shingles, by the rule that every finder here follows."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

SHINGLE_CHARS = 9
THRESHOLD = 0.8
NUM_BANDS, NUM_ROWS = 16, 8
NUM_FUNCTIONS = NUM_BANDS * NUM_ROWS


class Documents(NamedTuple):
    """Ids and prepared texts, row by row."""

    ids: list[str]
    texts: list[str]


class Match(NamedTuple):
    """Two rows and the exact similarity of their texts."""

    a: int
    b: int
    similarity: float


def read_documents(corpus: Path) -> Documents:
    """The documents of JSON Lines with ``id`` and ``text``; those without any text are left out."""
    ids, texts = [], []
    with open(corpus, encoding="utf-8") as file:
        for line in file:
            record = json.loads(line)
            text = prepared(record["text"])
            if text:
                ids.append(str(record["id"]))
                texts.append(text)
    return Documents(ids, texts)


def prepared(text: str) -> str:
    """A text in form NFC, with runs of white space made one space.

    >>> prepared("  To be,\\tor e\\u0301t\\u00e9\\0 ")
    'To be, or été'
    """
    if text.isascii() and text.isprintable() and "  " not in text and text.strip() == text:
        return text
    return " ".join(unicodedata.normalize("NFC", text).replace("\0", " ").split())


def shingle_set(text: str) -> set[str]:
    """The distinct shingles of a prepared text; one shorter than a shingle is its own.

    >>> sorted(shingle_set("abcdefghij"))
    ['abcdefghi', 'bcdefghij']
    """
    return {text[start : start + SHINGLE_CHARS] for start in range(max(1, len(text) - SHINGLE_CHARS + 1))}


def jaccard(one: set[str], other: set[str]) -> float:
    """Similarity of two sets that are not both empty."""
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared)


def write_pairs(path: Path, ids: list[str], matches: Iterable[Match]) -> None:
    """Pairs as ``pairs.jsonl`` has them, in no particular order."""
    quoted = [json.dumps(doc_id, ensure_ascii=False) for doc_id in ids]
    with open(path, "w", encoding="utf-8") as file:
        for a, b, similarity in matches:
            if ids[b] < ids[a]:
                a, b = b, a
            file.write(f'{{"a": {quoted[a]}, "b": {quoted[b]}, "similarity": {similarity!r}}}\n')


def read_pairs(path: Path) -> dict[tuple[str, str], float]:
    """Pairs of a file with their similarities, the smaller id first."""
    pairs = {}
    with open(path, encoding="utf-8") as file:
        for record in map(json.loads, file):
            a, b = sorted((str(record["a"]), str(record["b"])))
            pairs[a, b] = float(record["similarity"])
    return pairs
