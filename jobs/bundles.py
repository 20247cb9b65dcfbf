"""The documents of a bundle on the reducer's side: equal texts collapsed, ready for the exact check."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from jobs.records import KEY_DIGITS, BundlePart, BundleRecord, DocId, decode_keys
from lsh_core.check import MAX_SMALL_DOCS, Bundles, Candidates, KeyEntries
from lsh_core.hashing import digest64


@dataclass
class Row:
    """One text of a bundle, and the ids of all documents that have it (as JSON)."""

    text: bytes
    own_keys: bytes
    earlier_keys: bytes
    ids: dict[bytes, None] = field(default_factory=dict)
    is_left: bool = True

    @cached_property
    def doc_ids(self) -> list[DocId]:
        """The ids in their order, once all are known."""
        return sorted(map(DocId.decode, self.ids))


class Bundle:
    """The rows of one reducer key."""

    def __init__(self, part: BundlePart) -> None:
        self.part = part
        self.rows: dict[bytes, Row] = {}

    def add(self, value: bytes) -> None:
        """Take in one record; copies of a document are one."""
        record = BundleRecord.decode(value)
        row = self.rows.get(record.text)
        if row is None:
            row = self.rows[record.text] = Row(record.text, record.own_keys, record.earlier_keys)
            row.is_left = self._is_left(record.text)
        row.ids[record.id_json] = None

    def _is_left(self, text: bytes) -> bool:
        _, i, j, num_groups = self.part
        return i == j or digest64(text) % num_groups == i

    @property
    def num_left(self) -> int:
        """The texts of the first group; all of them but in a part of a hot bundle where two groups meet."""
        return sum(row.is_left for row in self.rows.values())

    def ordered_rows(self) -> list[Row]:
        """The rows, those of the first group before those of the second."""
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

    def equal_texts(self) -> list[Row]:
        """The texts of several documents, where these meet here first."""
        if self.part.i != self.part.j:
            return []
        return [row for row in self.rows.values() if len(row.ids) > 1 and not row.earlier_keys]


def gather(bundles: Sequence[Bundle]) -> tuple[list[Row], Bundles]:
    """All rows of some bundles, and what the core needs to check them."""
    rows = [row for bundle in bundles for row in bundle.ordered_rows()]
    return rows, Bundles(
        [row.text for row in rows],
        np.array([len(bundle.rows) for bundle in bundles]),
        np.array([bundle.num_left for bundle in bundles]),
        _entries([row.own_keys for row in rows]),
        _entries([row.earlier_keys for row in rows]))


def _entries(keys: list[bytes]) -> KeyEntries:
    counts = [len(joined) // KEY_DIGITS for joined in keys]
    return KeyEntries(decode_keys(b"".join(keys)), np.repeat(np.arange(len(keys)), counts))


def num_document_pairs(rows: Sequence[Row], candidates: Candidates) -> int:
    """How many pairs of documents these pairs of texts stand for."""
    num_ids = np.array([len(row.ids) for row in rows])
    return int((num_ids[candidates.rows_a] * num_ids[candidates.rows_b]).sum())
