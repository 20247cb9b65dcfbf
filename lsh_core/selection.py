"""What is emitted of documents: their kept keys, looked up in a gate by line or, where they are very many, by key."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lsh_core.bloom import BloomFilter
from lsh_core.gate import Gate
from lsh_core.hashing import GOLDEN, Hashes
from lsh_core.ragged import Ints, equal_ranges, ranges

INDEX_BITS = 22


class Selection(NamedTuple):
    """What is emitted of a batch: a document's row, a kept key, the key's bundle and its groups."""

    rows: Ints
    keys: Hashes
    bundles: Hashes
    num_groups: Ints

    def of_rows(self) -> tuple[list[int], Selection]:
        """The rows of which something is emitted, and the same with rows numbered among these."""
        rows, numbers = np.unique(self.rows, return_inverse=True)
        return rows.tolist(), self._replace(rows=numbers)


def no_gate(band_keys: Hashes) -> Selection:
    """Every key of every document, each in a bundle of its own."""
    num_docs, num_bands = band_keys.shape
    keys = band_keys.reshape(-1)
    return Selection(np.repeat(np.arange(num_docs), num_bands), keys, keys, np.ones(len(keys), np.int64))


class GateTable:
    """A gate made ready to look up many members."""

    def __init__(self, gate: Gate) -> None:
        self.gate = gate
        self._key_numbers = np.searchsorted(gate.keys, gate.member_keys)
        self._may_hold = np.zeros(1 << INDEX_BITS, bool)
        self._may_hold[_slots(gate.members)] = True

    def select(self, digests: Hashes) -> Selection:
        """The kept keys of those of some lines or texts (n,) that are members, by row."""
        rows = np.flatnonzero(self._may_hold[_slots(digests)])
        starts, counts = equal_ranges(self.gate.members, digests[rows])
        at = self._key_numbers[ranges(starts, counts)]
        return Selection(np.repeat(rows, counts), self.gate.keys[at], self.gate.bundles[at], self.gate.num_groups[at])


class BloomGate:
    """A gate of very many keys: a filter of those that are kept, and a table of hot keys, kept or not."""

    def __init__(self, kept: BloomFilter, hot: Gate) -> None:
        self.kept, self.hot = kept, hot

    def select(self, band_keys: Hashes) -> Selection:
        """The kept keys of documents with these keys (n, bands), and a few others, by document."""
        rows, bands = np.nonzero(self.kept.contains(band_keys.reshape(-1)).reshape(band_keys.shape))
        keys = band_keys[rows, bands]
        bundles, num_groups = keys.copy(), np.ones(len(keys), np.int64)
        at, is_hot = self._find_hot(keys)
        bundles[is_hot], num_groups[is_hot] = self.hot.bundles[at], self.hot.num_groups[at]
        # A hot bucket that lies in another must not come back through the filter's errors: nothing would split it.
        is_kept = num_groups > 0
        return Selection(rows[is_kept], keys[is_kept], bundles[is_kept], num_groups[is_kept])

    def _find_hot(self, keys: Hashes) -> tuple[Ints, npt.NDArray[np.bool_]]:
        """Where the table holds those keys that it does, and which these are."""
        at = np.searchsorted(self.hot.keys, keys)
        is_hot = np.zeros(len(keys), bool)
        is_inside = at < len(self.hot.keys)
        is_hot[is_inside] = self.hot.keys[at[is_inside]] == keys[is_inside]
        return at[is_hot], is_hot


def _slots(digests: Hashes) -> Ints:
    return ((digests * GOLDEN) >> np.uint64(64 - INDEX_BITS)).astype(np.int64)
