"""How many values rows share, for many pairs of rows at once.

Values that the same rows hold are one pattern with a weight: near-duplicates share most of
theirs, so patterns are few. The overlap of two rows is the weight of the patterns that hold
both.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from lsh_core.candidates import candidate_pairs
from lsh_core.hashing import Hashes, splitmix64
from lsh_core.ragged import Ints, offsets_of, ranges, run_starts

RARE = 20
"""A pattern of fewer than one row in so many adds to pairs one by one, not by matrix product."""

MATRIX_CELLS = 1 << 22


class Patterns(NamedTuple):
    """``weights[i]`` values are held by just the ``counts[i]`` rows of pattern i, given one after another.

    ``sizes`` are the distinct values of each row, shared or not.
    """

    sizes: Ints
    weights: Ints
    counts: Ints
    rows: Ints

    @property
    def starts(self) -> Ints:
        return offsets_of(self.counts)[:-1]

    def where(self, is_kept: npt.NDArray[np.bool_]) -> Patterns:
        kept_rows = self.rows[np.repeat(is_kept, self.counts)]
        return Patterns(self.sizes, self.weights[is_kept], self.counts[is_kept], kept_rows)


def find_patterns(values: Hashes, rows: Ints, group_of_row: Ints) -> Patterns:
    """Patterns of two rows or more inside each group, from entries (value, row) in any order, with repeats.

    ``group_of_row`` ascends, and rows of different groups are never compared.
    """
    num_rows = len(group_of_row)
    values, rows = _distinct_entries(values, rows, num_rows)
    is_new = np.ones(len(values), bool)
    groups = group_of_row[rows]
    is_new[1:] = (values[1:] != values[:-1]) | (groups[1:] != groups[:-1])
    starts = np.flatnonzero(is_new)
    counts = np.diff(starts, append=len(values))
    starts, counts = starts[counts > 1], counts[counts > 1]
    # The sum of random tags stands for the set of rows.
    tags = splitmix64(num_rows, num_rows)[rows]
    totals = np.cumsum(tags)
    sums = totals[starts + counts - 1] - totals[starts] + tags[starts]
    # As np.unique does, which takes five times as long for the first of equals: any of them does.
    order = np.argsort(sums)
    pattern_starts = run_starts(sums[order])
    first, weights = order[pattern_starts], np.diff(pattern_starts, append=len(sums))
    pattern_rows = rows[ranges(starts[first], counts[first])]
    return Patterns(np.bincount(rows, minlength=num_rows), weights, counts[first], pattern_rows)


def _distinct_entries(values: Hashes, rows: Ints, num_rows: int) -> tuple[Hashes, Ints]:
    """Entries without repeats, ordered by value, then row: values are told apart by all 64 bits.

    The row takes the low bits of the value, so that one plain sort does; where that would make
    two values one, they are numbered instead.
    """
    num_bits = np.uint64(max(num_rows - 1, 1).bit_length())
    ascending = np.sort(values)
    if len(run_starts(ascending)) != len(run_starts(ascending >> num_bits)):
        _, ranks = np.unique(values, return_inverse=True)
        values = ranks.astype(np.uint64) << num_bits
    entries = values >> num_bits << num_bits | rows.astype(np.uint64)
    entries.sort()
    entries = entries[run_starts(entries)]
    return entries >> num_bits, (entries & ((np.uint64(1) << num_bits) - np.uint64(1))).astype(np.int64)


def pair_overlaps(patterns: Patterns, rows_a: Ints, rows_b: Ints) -> Ints:
    """The overlap of each pair of rows a < b of one group: (m,) int64, for groups of few rows."""
    num_rows = len(patterns.sizes)
    wanted = rows_a * num_rows + rows_b
    order = np.argsort(wanted)
    ascending = np.append(wanted[order], -1)
    overlaps = np.zeros(len(wanted) + 1, np.int64)
    for left, right, weights in _pattern_pairs(patterns):
        codes = left * num_rows + right
        at = np.searchsorted(ascending[:-1], codes)
        at[ascending[at] != codes] = len(wanted)
        overlaps += np.bincount(at, weights, len(wanted) + 1).astype(np.int64)
    overlaps[order] = overlaps[:-1].copy()
    return overlaps[:-1]


def overlap_matrix(patterns: Patterns, num_left: int) -> npt.NDArray[np.floating[Any]]:
    """The overlap of each row below ``num_left`` with each other one, for a group of many rows.

    (num_left, n - num_left) float32, or (n, n), right above the diagonal, where ``num_left`` is n;
    float64 where a row has 2**24 values or more, which float32 could not count.
    """
    num_rows = len(patterns.sizes)
    right_rows = slice(0 if num_left == num_rows else num_left, num_rows)
    exact = np.float32 if patterns.sizes.max(initial=0) < 2**24 else np.float64
    matrix = np.zeros((num_left, num_rows - right_rows.start), exact)
    is_rare = patterns.counts * RARE < num_rows
    for left, right, weights in _pattern_pairs(patterns.where(is_rare)):
        is_inside = (left < num_left) & (right >= right_rows.start)
        np.add.at(matrix, (left[is_inside], right[is_inside] - right_rows.start),
                  weights[is_inside].astype(exact))
    common = patterns.where(~is_rare)
    bounds = offsets_of(common.counts)
    step = max(64, MATRIX_CELLS // max(num_rows, 1))
    for first in range(0, len(common.counts), step):
        end = min(first + step, len(common.counts))
        holds = np.zeros((num_rows, end - first), exact)
        columns = np.repeat(np.arange(end - first), common.counts[first:end])
        holds[common.rows[bounds[first] : bounds[end]], columns] = 1
        matrix += (holds[:num_left] * common.weights[first:end].astype(exact)) @ holds[right_rows].T
    return matrix


def _pattern_pairs(patterns: Patterns) -> Iterator[tuple[Ints, Ints, Ints]]:
    """All pairs of rows (left < right) of each pattern with its weight, in pieces of bounded size."""
    weights = np.repeat(patterns.weights, patterns.counts)
    for left, right in candidate_pairs(patterns.counts):
        yield patterns.rows[left], patterns.rows[right], weights[right]
