"""Which band keys are worth a record: those of buckets that bring documents together.

Most buckets hold one document, and most of the others lie inside a bucket of another band.
The gate keeps the keys of the maximal buckets of two documents or more. Buckets that share
documents travel together as a bundle, named by its smallest key; a bundle of very many
texts is hot and is split in groups. Whether a key is kept, its bundle and its groups depend
on the key alone, so documents that share a key always meet, and the answer stays the same.
The gate also tells which texts, or lines, have these keys, so that no text is sketched a second time.
Where a corpus is held against another, a bucket has to bring together two documents whose pair is wanted. A bucket that
holds such a one has a wanted pair too: one that lies in another can be left out as ever.
"""

from __future__ import annotations

from typing import NamedTuple, Optional

import numpy as np
import numpy.typing as npt

from lsh_core.clustering import components
from lsh_core.hashing import Hashes
from lsh_core.ragged import Ints, equal_ranges, offsets_of, order_of, ranges, run_starts
from lsh_core.sides import Sides

MIN_SHARE_OF_PAIRS = 0.1
"""A hot bundle with fewer of its pairs than this inside buckets is a chain, and is taken apart."""

Bools = npt.NDArray[np.bool_]


class Gate(NamedTuple):
    """Kept keys, ascending, with the bundle of each and its groups; then which texts have them.

    ``members[i]``, the digest of a text or of a line, has the key ``member_keys[i]``, ascending by member.
    A key of no groups is not kept; it stands here because its bucket is hot.
    """

    keys: Hashes
    bundles: Hashes
    num_groups: Ints
    members: Hashes
    member_keys: Hashes

    @property
    def num_kept(self) -> int:
        return int(np.count_nonzero(self.num_groups))


class Census(NamedTuple):
    """How many documents and extra copies there are, which ids stand for more than one text, and which have copies."""

    num_documents: int
    num_copies: int
    repeated_ids: Hashes
    copied_ids: Hashes


class _Buckets(NamedTuple):
    """Buckets of two rows or more, band by band: band and key of each, and its rows, one bucket after another."""

    bands: Ints
    keys: Hashes
    counts: Ints
    rows: Ints

    @property
    def starts(self) -> Ints:
        return offsets_of(self.counts)[:-1]

    def num_rows(self, is_counted: Bools) -> Ints:
        """How many of the rows that count each bucket holds."""
        held = np.append(0, np.cumsum(is_counted[self.rows]))
        return np.asarray(held[self.starts + self.counts] - held[self.starts])

    def where(self, is_kept: Bools) -> _Buckets:
        kept_rows = self.rows[np.repeat(is_kept, self.counts)]
        return _Buckets(self.bands[is_kept], self.keys[is_kept], self.counts[is_kept], kept_rows)


def build_gate(
    band_keys: Hashes, text_digests: Hashes, max_bundle_docs: int, is_against: Optional[Bools] = None,
    only_across: bool = False,
) -> Gate:
    """The gate of all documents, from their keys (n, bands) and the digests (n,) of their texts.

    Those of a corpus that the others are held against are marked (n,).
    """
    is_against = np.zeros(len(text_digests), bool) if is_against is None else is_against
    rank = _rank_in_corpus(text_digests, is_against)
    # Equal texts have equal keys: two rows of a corpus tell as much as any number of them.
    if (rank >= 2).any():
        is_needed = rank < 2
        # Band by band in memory, as they are used.
        band_keys = band_keys.T[:, is_needed].T
        text_digests, is_against, rank = text_digests[is_needed], is_against[is_needed], rank[is_needed]
    is_first_of_text = rank == 0
    buckets = _shared_buckets(band_keys)
    sides = Sides(buckets.num_rows(~is_against), buckets.num_rows(is_against), only_across)
    is_kept = (sides.pairs_inside() > 0) & _is_maximal(buckets, band_keys)
    hot_keys = buckets.keys[~is_kept & (buckets.num_rows(is_first_of_text) > max_bundle_docs)]
    kept = buckets.where(is_kept)
    del buckets
    bundles, num_groups = _bundles(kept, is_first_of_text, max_bundle_docs)
    keys, num_groups = np.append(kept.keys, hot_keys), np.append(num_groups, np.zeros(len(hot_keys), np.int64))
    order = np.argsort(keys)
    members, member_keys = _distinct_entries(text_digests[kept.rows], np.repeat(kept.keys, kept.counts))
    return Gate(keys[order], np.append(bundles, hot_keys)[order], num_groups[order], members, member_keys)


def _rank_in_corpus(text_digests: Hashes, is_against: Bools) -> Ints:
    """How many rows of the same text and of the same corpus stand before each one."""
    rank = np.empty(len(text_digests), np.int64)
    for is_side in (~is_against, is_against):
        rank[is_side] = rank_among_equals(text_digests[is_side])
    return rank


def with_lines(gate: Gate, text_digests: Hashes, line_digests: Hashes) -> Gate:
    """The same gate with the lines (n,) of all documents as members, in the place of their texts (n,)."""
    order = order_of(text_digests)
    starts, counts = equal_ranges(gate.members, text_digests[order])
    lines, keys = _distinct_entries(np.repeat(line_digests[order], counts), gate.member_keys[ranges(starts, counts)])
    return gate._replace(members=lines, member_keys=keys)


def _distinct_entries(first: Hashes, second: Hashes) -> tuple[Hashes, Hashes]:
    """Entries of two numbers in their order without repeats."""
    first, second, is_new = _ordered_entries(first, second)
    return first[is_new], second[is_new]


def _ordered_entries(first: Hashes, second: Hashes) -> tuple[Hashes, Hashes, Bools]:
    """Entries of two numbers in their order, and which of them are not as the one before."""
    order = order_of(second)
    order = order[order_of(first[order])]
    first, second = first[order], second[order]
    is_new = np.ones(len(first), bool)
    is_new[1:] = (first[1:] != first[:-1]) | (second[1:] != second[:-1])
    return first, second, is_new


def possible_pairs(
    gate: Gate, text_digests: Hashes, is_against: Optional[Bools] = None, only_across: bool = False
) -> int:
    """At most how many pairs documents of these texts make: as if all those of each bundle were similar."""
    bundles = gate.bundles[np.searchsorted(gate.keys, gate.member_keys)]
    bundles, texts = _distinct_entries(bundles, gate.members)
    if not len(texts):
        return 0
    starts = run_starts(bundles)
    is_against = np.zeros(len(text_digests), bool) if is_against is None else is_against
    num_docs = [np.add.reduceat(equal_ranges(np.sort(text_digests[is_side]), texts)[1], starts)
                for is_side in (~is_against, is_against)]
    return int(Sides(num_docs[0], num_docs[1], only_across).pairs_inside().sum())


def take_census(ids: Hashes, texts: Hashes) -> Census:
    """Count the documents of lines that are given by the digests of id and text.

    >>> take_census(np.array([1, 2, 2, 3], np.uint64), np.array([7, 7, 7, 7], np.uint64)).num_copies
    1
    """
    ids, texts, is_document = _ordered_entries(ids, texts)
    document_ids, copied_ids = ids[is_document], ids[~is_document]
    starts = run_starts(document_ids)
    repeated_ids = document_ids[starts[np.diff(starts, append=len(document_ids)) > 1]]
    return Census(len(document_ids), len(copied_ids), repeated_ids, copied_ids[run_starts(copied_ids)])


def rank_among_equals(values: Hashes) -> Ints:
    """How many equal values stand before each one.

    >>> rank_among_equals(np.array([5, 7, 5, 5], np.uint64))
    array([0, 0, 1, 2])
    """
    order = order_of(values)
    starts = run_starts(values[order])
    rank = np.empty(len(values), np.int64)
    rank[order] = np.arange(len(values)) - np.repeat(starts, np.diff(starts, append=len(values)))
    return rank


def _shared_buckets(band_keys: Hashes) -> _Buckets:
    """The buckets of two rows or more, band by band."""
    none = np.empty(0, np.int64)
    bands = [_Buckets(none, np.empty(0, np.uint64), none, none)]
    for band in range(band_keys.shape[1]):
        order = order_of(band_keys[:, band])
        keys = band_keys[order, band]
        starts = run_starts(keys)
        counts = np.diff(starts, append=len(keys))
        buckets = _Buckets(np.full(len(starts), band), keys[starts], counts, order)
        bands.append(buckets.where(counts > 1))
    return _Buckets(*map(np.concatenate, zip(*bands)))


def _is_maximal(buckets: _Buckets, band_keys: Hashes) -> Bools:
    """Which buckets lie in no other; of equal ones the one of the lowest band does not."""
    starts, is_maximal = buckets.starts, np.ones(len(buckets.keys), bool)
    first_rows, size_of_entry = buckets.rows[starts], np.repeat(buckets.counts, buckets.counts)
    num_bands = band_keys.shape[1]
    bounds = offsets_of(buckets.counts)[np.searchsorted(buckets.bands, np.arange(num_bands + 1))]
    for band in range(num_bands):
        entries = slice(bounds[band], bounds[band + 1])
        bucket_sizes = np.ones(len(band_keys), np.int64)
        bucket_sizes[buckets.rows[entries]] = size_of_entry[entries]
        other_size = bucket_sizes[first_rows]
        is_larger = (other_size > buckets.counts) | ((other_size == buckets.counts) & (band < buckets.bands))
        # Few are left to look at.
        asked = np.flatnonzero(is_maximal & is_larger)
        if len(asked):
            counts = buckets.counts[asked]
            keys = band_keys[buckets.rows[ranges(starts[asked], counts)], band]
            asked_starts = offsets_of(counts)[:-1]
            is_maximal[asked] = np.minimum.reduceat(keys, asked_starts) != np.maximum.reduceat(keys, asked_starts)
    return is_maximal


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
    bucket_docs = buckets.num_rows(is_first_of_text)
    bundle_docs = np.bincount(roots[num_buckets:], is_first_of_text, num_buckets + num_rows)[root].astype(np.int64)
    pairs_in_buckets = np.bincount(root, bucket_docs.astype(float) ** 2, num_buckets)[root]
    is_hot = bundle_docs > max_bundle_docs
    is_chain = is_hot & (pairs_in_buckets < MIN_SHARE_OF_PAIRS * bundle_docs.astype(float) ** 2)
    num_docs = np.where(is_chain, bucket_docs, bundle_docs)
    return np.where(is_chain, buckets.keys, bundles), -(-num_docs // max_bundle_docs)
