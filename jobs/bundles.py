"""The documents of a bundle on the reducer's side: equal texts collapsed, ready for the exact check."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from jobs.records import KEY_DIGITS, BundlePart, BundleRecord, DocId, decode_keys
from jobs.sides import AGAINST_JSON
from lsh_core.check import MAX_SMALL_DOCS, Bundles, KeyEntries
from lsh_core.hashing import digest64
from lsh_core.ragged import Ints
from lsh_core.sides import Sides


@dataclass
class Row:
    """One text of a bundle, and the ids of all documents that have it (as JSON)."""

    text: bytes
    own_keys: bytes
    earlier_keys: bytes
    ids: dict[bytes, None] = field(default_factory=dict)
    is_left: bool = True
    has_marks: bool = False
    """Whether ids are marked as those of one of two corpora."""

    @property
    def ordered_ids(self) -> Iterable[bytes]:
        """The ids, those of the corpus that the other is held against before all others, whose marks are larger."""
        return sorted(self.ids) if self.has_marks else self.ids

    @cached_property
    def doc_ids(self) -> list[DocId]:
        """The ids in their order, once all are known: first those of the corpus that the other is held against."""
        return sorted(map(DocId.decode, self.ids))

    @cached_property
    def num_against(self) -> int:
        return sum(id_json.startswith(AGAINST_JSON) for id_json in self.ids) if self.has_marks else 0

    @property
    def against_ids(self) -> list[DocId]:
        return self.doc_ids[: self.num_against]

    @property
    def own_ids(self) -> list[DocId]:
        return self.doc_ids[self.num_against :]


class Bundle:
    """The rows of one reducer key."""

    def __init__(self, part: BundlePart, has_marks: bool = False) -> None:
        self.part, self.has_marks = part, has_marks
        self.rows: dict[bytes, Row] = {}

    def add(self, value: bytes) -> None:
        """Take in one record; copies of a document are one."""
        record = BundleRecord.decode(value)
        row = self.rows.get(record.text)
        if row is None:
            row = self.rows[record.text] = Row(record.text, record.own_keys, record.earlier_keys,
                                               is_left=self._is_left(record.text), has_marks=self.has_marks)
        row.ids[record.id_json] = None

    def _is_left(self, text: bytes) -> bool:
        _, i, j, num_groups = self.part
        return i == j or digest64(text) % num_groups == i

    @property
    def num_left(self) -> int:
        """The texts of the first group; all of them but in a part of a hot bundle where two groups meet."""
        return sum(row.is_left for row in self.rows.values())

    @cached_property
    def ordered_rows(self) -> list[Row]:
        """The rows, once all are known: those of the first group before those of the second."""
        return sorted(self.rows.values(), key=lambda row: not row.is_left)

    @property
    def is_large(self) -> bool:
        """Whether it is checked by itself, as a matrix."""
        return len(self.rows) > MAX_SMALL_DOCS

    @property
    def is_one_sided(self) -> bool:
        """Whether two groups should meet here and there are texts of one only."""
        return self.part.i != self.part.j and self.num_left in (0, len(self.rows))

    @property
    def num_docs(self) -> int:
        return sum(len(row.ids) for row in self.rows.values())

    def meets_itself(self, row: Row) -> bool:
        """Whether several documents have the text of a row, and they meet here first."""
        return len(row.ids) > 1 and not row.earlier_keys and self.part.i == self.part.j


def gather(bundles: Sequence[Bundle], only_across: bool = False) -> tuple[list[Row], Bundles]:
    """All rows of some bundles, and what the core needs to check them."""
    rows = [row for bundle in bundles for row in bundle.ordered_rows]
    return rows, Bundles(
        [row.text for row in rows],
        np.array([len(bundle.rows) for bundle in bundles]),
        np.array([bundle.num_left for bundle in bundles]),
        _entries([row.own_keys for row in rows]),
        _entries([row.earlier_keys for row in rows]),
        sides_of(rows, only_across) if any(bundle.has_marks for bundle in bundles) else None)


def equal_texts(bundles: Sequence[Bundle]) -> Ints:
    """The numbers, among all rows of some bundles, of texts whose documents meet each other here."""
    meets_itself = [bundle.meets_itself(row) for bundle in bundles for row in bundle.ordered_rows]
    return np.flatnonzero(np.array(meets_itself, bool))


def _entries(keys: list[bytes]) -> KeyEntries:
    counts = [len(joined) // KEY_DIGITS for joined in keys]
    return KeyEntries(decode_keys(b"".join(keys)), np.repeat(np.arange(len(keys)), counts))


def sides_of(rows: Sequence[Row], only_across: bool) -> Sides:
    """How many documents of each corpus have the text of each row."""
    num_ids = np.array([len(row.ids) for row in rows], np.int64)
    num_against = np.zeros_like(num_ids)
    if rows and rows[0].has_marks:
        num_against[:] = [row.num_against for row in rows]
    return Sides(num_ids - num_against, num_against, only_across)
