"""The exact check: how many shingles do two documents share, of how many in all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lsh_core.hashing import Hashes
from lsh_core.ragged import Ints, blocks, distinct, offsets_of, ranges
from lsh_core.settings import Settings
from lsh_core.shingling import shingle_blocks

PAIR_BLOCK_SHINGLES = 1 << 18
"""Shingles of both sides of the pairs that are compared at a time."""


LONG_SET = 500
"""Sets of so many shingles are compared pair by pair: fast, once they outweigh the calls."""


class ShingleSets(NamedTuple):
    """The distinct shingles of documents, ascending: row i is ``values[offsets[i]:offsets[i + 1]]``."""

    values: Hashes
    offsets: Ints

    @property
    def sizes(self) -> Ints:
        return np.diff(self.offsets)


def jaccard(one: npt.ArrayLike, other: npt.ArrayLike) -> float:
    """Similarity of two sets given as sorted arrays without repeats; that of two empty sets is 1.

    >>> jaccard([2, 3, 4, 5, 6], [1, 3, 4, 5, 6, 7]) == 4 / 7
    True
    """
    one, other = np.asarray(one), np.asarray(other)
    if one.dtype != other.dtype:
        # numpy would compare unsigned with signed integers as floats.
        one, other = one.astype(object), other.astype(object)
    shared = len(np.intersect1d(one, other, assume_unique=True))
    union = len(one) + len(other) - shared
    return shared / union if union else 1.0


def shingle_sets(texts: Sequence[bytes], settings: Settings) -> ShingleSets:
    """The shingle sets of normalized texts."""
    parts: list[list[Hashes]] = [[] for _ in texts]
    for block in shingle_blocks(texts, settings):
        bounds = offsets_of(block.counts)
        for i, row in enumerate(block.rows.tolist()):
            parts[row].append(block.hashes[bounds[i] : bounds[i + 1]])
    sets = [distinct(np.concatenate([np.empty(0, np.uint64), *part])) for part in parts]
    counts = np.fromiter(map(len, sets), np.int64, len(sets))
    return ShingleSets(np.concatenate([np.empty(0, np.uint64), *sets]), offsets_of(counts))


def intersection_sizes(sets: ShingleSets, rows_a: Ints, rows_b: Ints) -> Ints:
    """How many shingles the sets of each pair (rows_a[i], rows_b[i]) share: (m,) int64."""
    if len(sets.values) >= LONG_SET * len(sets.sizes):
        return np.array([_num_shared(sets, a, b) for a, b in zip(rows_a.tolist(), rows_b.tolist())], np.int64)
    _, ranks = np.unique(sets.values, return_inverse=True)
    starts, sizes = sets.offsets[:-1], sets.sizes
    shared = np.empty(len(rows_a), np.int64)
    for first, end in blocks(sizes[rows_a] + sizes[rows_b], PAIR_BLOCK_SHINGLES):
        pairs = np.arange(end - first) * len(ranks)
        keys = np.concatenate([
            ranks[ranges(starts[rows], sizes[rows])] + np.repeat(pairs, sizes[rows])
            for rows in (rows_a[first:end], rows_b[first:end])
        ])
        # Two ascending runs: the stable sort merges them in one pass.
        keys.sort(kind="stable")
        twice = keys[1:][keys[1:] == keys[:-1]]
        shared[first:end] = np.bincount(twice // max(len(ranks), 1), minlength=end - first)
    return shared


def _num_shared(sets: ShingleSets, row_a: int, row_b: int) -> int:
    values = np.concatenate([sets.values[sets.offsets[row] : sets.offsets[row + 1]] for row in (row_a, row_b)])
    # Two ascending runs: the stable sort merges them in one pass.
    values.sort(kind="stable")
    return int(np.count_nonzero(values[1:] == values[:-1]))


def similarities(sets: ShingleSets, rows_a: Ints, rows_b: Ints) -> npt.NDArray[np.float64]:
    """Exact Jaccard similarity of each pair of rows, by one IEEE division of counts: (m,) float64."""
    shared = intersection_sizes(sets, rows_a, rows_b)
    union = sets.sizes[rows_a] + sets.sizes[rows_b] - shared
    return np.where(union > 0, shared / np.maximum(union, 1), 1.0)


def similarities_of_texts(
    texts: Sequence[bytes], pairs: Sequence[Sequence[int]], settings: Settings
) -> list[float]:
    """Exact similarities of pairs of normalized texts, which are given by their rows."""
    if not pairs:
        return []
    rows_a, rows_b = np.array(pairs, np.int64).T
    found: list[float] = similarities(shingle_sets(texts, settings), rows_a, rows_b).tolist()
    return found
