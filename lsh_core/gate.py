"""Which band keys are worth a record: those of buckets that bring documents together.

Most buckets hold one document, and most of the others lie inside a bucket of another band.
The gate keeps the keys of the maximal buckets of two documents or more. Buckets that share
documents travel together as a bundle, named by its smallest key; a bundle of very many
texts is hot and is split in groups. Whether a key is kept, its bundle and its groups depend
on the key alone, so documents that share a key always meet, and the answer stays the same.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lsh_core.bloom import BloomFilter
from lsh_core.clustering import components
from lsh_core.hashing import GOLDEN, Hashes
from lsh_core.ragged import Ints, offsets_of, run_starts

MIN_SHARE_OF_PAIRS = 0.1
"""A hot bundle with fewer of its pairs than this inside buckets is a chain, and is taken apart."""

INDEX_BITS = 22
FALSE_POSITIVE_RATE = 0.01

Bools = npt.NDArray[np.bool_]


class Gate(NamedTuple):
    """Kept keys, ascending, each with the bundle it belongs to and the groups of that bundle."""

    keys: Hashes
    bundles: Hashes
    num_groups: Ints


class Selection(NamedTuple):
    """What is emitted of a batch: a document's row, a kept key, the key's bundle and its groups."""

    rows: Ints
    keys: Hashes
    bundles: Hashes
    num_groups: Ints


class Census(NamedTuple):
    """How many documents and extra copies there are, and the ids that stand for more than one text."""

    num_documents: int
    num_copies: int
    repeated_ids: Hashes


class _Buckets(NamedTuple):
    """Buckets of two rows or more: band and key of each, and its rows, one bucket after another."""

    bands: Ints
    keys: Hashes
    counts: Ints
    rows: Ints

    @property
    def starts(self) -> Ints:
        return offsets_of(self.counts)[:-1]

    def where(self, is_kept: Bools) -> _Buckets:
        kept_rows = self.rows[np.repeat(is_kept, self.counts)]
        return _Buckets(self.bands[is_kept], self.keys[is_kept], self.counts[is_kept], kept_rows)


def build_gate(band_keys: Hashes, text_digests: Hashes, max_bundle_docs: int) -> Gate:
    """The gate of all documents, from their keys (n, bands) and the digests (n,) of their texts."""
    rank = rank_among_equals(text_digests)
    # Equal texts have equal keys: two rows tell as much as any number of them.
    if (rank >= 2).any():
        band_keys, rank = band_keys[rank < 2], rank[rank < 2]
    is_first_of_text = rank == 0
    buckets = _maximal(_shared_buckets(band_keys), band_keys)
    bundles, num_groups = _bundles(buckets, is_first_of_text, max_bundle_docs)
    order = np.argsort(buckets.keys)
    return Gate(buckets.keys[order], bundles[order], num_groups[order])


def possible_pairs(gate: Gate, band_keys: Hashes) -> int:
    """At most how many pairs there are: as if all documents of each bundle were similar."""
    selection = GateIndex(gate).select(band_keys)
    order = np.lexsort((selection.rows, selection.bundles))
    rows, bundles = selection.rows[order], selection.bundles[order]
    is_new = np.ones(len(rows), bool)
    is_new[1:] = (rows[1:] != rows[:-1]) | (bundles[1:] != bundles[:-1])
    bundles = bundles[is_new]
    num_docs = np.diff(run_starts(bundles), append=len(bundles))
    return int((num_docs * (num_docs - 1) // 2).sum())


def take_census(ids: Hashes, texts: Hashes) -> Census:
    """Count the documents of lines that are given by the digests of id and text.

    >>> take_census(np.array([1, 2, 2, 3], np.uint64), np.array([7, 7, 7, 7], np.uint64))[:2]
    (3, 1)
    """
    order = np.lexsort((texts, ids))
    ids, texts = ids[order], texts[order]
    is_document = np.ones(len(ids), bool)
    is_document[1:] = (ids[1:] != ids[:-1]) | (texts[1:] != texts[:-1])
    document_ids = ids[is_document]
    starts = run_starts(document_ids)
    repeated_ids = document_ids[starts[np.diff(starts, append=len(document_ids)) > 1]]
    return Census(len(document_ids), len(ids) - len(document_ids), repeated_ids)


def no_gate(band_keys: Hashes) -> Selection:
    """Every key of every document, each in a bundle of its own."""
    num_docs, num_bands = band_keys.shape
    keys = band_keys.reshape(-1)
    return Selection(np.repeat(np.arange(num_docs), num_bands), keys, keys, np.ones(len(keys), np.int64))


class GateIndex:
    """A gate made ready to look up the keys of many documents."""

    def __init__(self, gate: Gate) -> None:
        self.gate = gate
        self._may_hold = np.zeros(1 << INDEX_BITS, bool)
        self._may_hold[_slots(gate.keys)] = True

    def select(self, band_keys: Hashes) -> Selection:
        """The kept keys of documents with these keys (n, bands), by document."""
        rows, bands = np.nonzero(self._may_hold[_slots(band_keys)])
        keys = band_keys[rows, bands]
        at, is_kept = self.find(keys)
        return Selection(rows[is_kept], keys[is_kept], self.gate.bundles[at], self.gate.num_groups[at])

    def find(self, keys: Hashes) -> tuple[Ints, Bools]:
        """Where the gate holds those keys that it does, and which these are."""
        at = np.searchsorted(self.gate.keys, keys)
        is_kept = np.zeros(len(keys), bool)
        is_inside = at < len(self.gate.keys)
        is_kept[is_inside] = self.gate.keys[at[is_inside]] == keys[is_inside]
        return at[is_kept], is_kept


class BloomGate:
    """A gate of very many keys: a Bloom filter without bundles, and an exact table of the hot ones."""

    def __init__(self, kept: BloomFilter, hot: Gate) -> None:
        self.kept, self.hot = kept, hot
        self._hot_index = GateIndex(hot)

    @classmethod
    def of(cls, gate: Gate) -> BloomGate:
        """The same gate with some keys too many."""
        kept = BloomFilter.sized_for(max(len(gate.keys), 1), FALSE_POSITIVE_RATE)
        kept.add(gate.keys)
        is_hot = gate.num_groups > 1
        return cls(kept, Gate(gate.keys[is_hot], gate.bundles[is_hot], gate.num_groups[is_hot]))

    def select(self, band_keys: Hashes) -> Selection:
        """The kept keys of documents with these keys (n, bands), by document."""
        rows, bands = np.nonzero(self.kept.contains(band_keys.reshape(-1)).reshape(band_keys.shape))
        keys = band_keys[rows, bands]
        bundles, num_groups = keys.copy(), np.ones(len(keys), np.int64)
        at, is_hot = self._hot_index.find(keys)
        bundles[is_hot], num_groups[is_hot] = self.hot.bundles[at], self.hot.num_groups[at]
        return Selection(rows, keys, bundles, num_groups)


def _slots(keys: Hashes) -> Ints:
    return ((keys * GOLDEN) >> np.uint64(64 - INDEX_BITS)).astype(np.int64)


def rank_among_equals(values: Hashes) -> Ints:
    """How many equal values stand before each one.

    >>> rank_among_equals(np.array([5, 7, 5, 5], np.uint64))
    array([0, 0, 1, 2])
    """
    order = np.argsort(values, kind="stable")
    starts = run_starts(values[order])
    rank = np.empty(len(values), np.int64)
    rank[order] = np.arange(len(values)) - np.repeat(starts, np.diff(starts, append=len(values)))
    return rank


def _shared_buckets(band_keys: Hashes) -> _Buckets:
    """The buckets of two rows or more, band by band."""
    none = np.empty(0, np.int64)
    bands = [_Buckets(none, np.empty(0, np.uint64), none, none)]
    for band in range(band_keys.shape[1]):
        order = np.argsort(band_keys[:, band])
        keys = band_keys[order, band]
        starts = run_starts(keys)
        counts = np.diff(starts, append=len(keys))
        buckets = _Buckets(np.full(len(starts), band), keys[starts], counts, order)
        bands.append(buckets.where(counts > 1))
    return _Buckets(*map(np.concatenate, zip(*bands)))


def _maximal(buckets: _Buckets, band_keys: Hashes) -> _Buckets:
    """The buckets that lie in no other; of equal ones the one of the lowest band."""
    if not len(buckets.keys):
        return buckets
    starts, is_maximal = buckets.starts, np.ones(len(buckets.keys), bool)
    for band in range(band_keys.shape[1]):
        bucket_sizes = np.ones(len(band_keys), np.int64)
        in_band = buckets.where(buckets.bands == band)
        bucket_sizes[in_band.rows] = np.repeat(in_band.counts, in_band.counts)
        other_keys = band_keys[buckets.rows, band]
        lies_inside = np.minimum.reduceat(other_keys, starts) == np.maximum.reduceat(other_keys, starts)
        other_size = bucket_sizes[buckets.rows[starts]]
        is_larger = (other_size > buckets.counts) | ((other_size == buckets.counts) & (band < buckets.bands))
        is_maximal &= ~(lies_inside & is_larger)
    return buckets.where(is_maximal)


def _bundles(buckets: _Buckets, is_first_of_text: Bools, max_bundle_docs: int) -> tuple[Hashes, Ints]:
    """The bundle and the number of groups of each bucket."""
    num_buckets, num_rows = len(buckets.keys), len(is_first_of_text)
    if not num_buckets:
        return buckets.keys, buckets.counts
    bucket_of_entry = np.repeat(np.arange(num_buckets), buckets.counts)
    roots = components(num_buckets + num_rows, bucket_of_entry, num_buckets + buckets.rows)
    root, bundles = roots[:num_buckets], buckets.keys.copy()
    np.minimum.at(bundles, root, buckets.keys)
    bundles = bundles[root]
    bucket_docs = np.add.reduceat(is_first_of_text[buckets.rows], buckets.starts, dtype=np.int64)
    bundle_docs = np.bincount(roots[num_buckets:], is_first_of_text, num_buckets + num_rows)[root].astype(np.int64)
    pairs_in_buckets = np.bincount(root, bucket_docs.astype(float) ** 2, num_buckets)[root]
    is_hot = bundle_docs > max_bundle_docs
    is_chain = is_hot & (pairs_in_buckets < MIN_SHARE_OF_PAIRS * bundle_docs.astype(float) ** 2)
    num_docs = np.where(is_chain, bucket_docs, bundle_docs)
    return np.where(is_chain, buckets.keys, bundles), -(-num_docs // max_bundle_docs)
