"""Ragged rows in flat arrays: the one home of index arithmetic.

Rows of differing length lie one after another in ``values``; row i is
``values[offsets[i]:offsets[i + 1]]``, and ``counts`` are the lengths.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

BLOCK_ROWS = 1 << 16

Ints = npt.NDArray[np.int64]


def offsets_of(counts: Ints) -> Ints:
    """Row lengths (n,) to row bounds (n + 1,).

    >>> offsets_of(np.array([2, 0, 3]))
    array([0, 2, 2, 5])
    """
    offsets = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    return offsets


def run_starts(values: npt.NDArray[np.generic]) -> Ints:
    """Where runs of equal values begin.

    >>> run_starts(np.array([7, 7, 3, 3, 3, 9]))
    array([0, 2, 5])
    """
    is_new = np.ones(len(values), bool)
    np.not_equal(values[1:], values[:-1], out=is_new[1:])
    return np.flatnonzero(is_new)


def distinct(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Values in ascending order without repeats: what np.unique gives, which hashes them and takes ten times as long.

    >>> distinct(np.array([7, 3, 7]))
    array([3, 7])
    """
    ascending = np.sort(values)
    return ascending[run_starts(ascending)]


def rows_of(*columns: npt.NDArray[Any]) -> Iterator[tuple[Any, ...]]:
    """The rows of columns of one length as Python's numbers, of which a block at a time is there: they are large.

    >>> list(rows_of(np.array([7, 3]), np.array([0.5, 1])))
    [(7, 0.5), (3, 1.0)]
    """
    for first in range(0, len(columns[0]), BLOCK_ROWS):
        yield from zip(*(column[first : first + BLOCK_ROWS].tolist() for column in columns))


def order_of(hashes: npt.NDArray[np.uint64]) -> Ints:
    """What ``np.argsort(hashes, kind="stable")`` gives, in a tenth of the time.

    Positions take the low bits of the hashes, so that one plain sort does; where these decide, it is done the slow way.

    >>> order_of(np.array([7 << 60, 3 << 60, 7 << 60], np.uint64))
    array([1, 0, 2])
    """
    num_bits = np.uint64(max(len(hashes) - 1, 1).bit_length())
    entries = hashes >> num_bits << num_bits | np.arange(len(hashes), dtype=np.uint64)
    entries.sort()
    order = (entries & ((np.uint64(1) << num_bits) - np.uint64(1))).astype(np.int64)
    ordered = hashes[order]
    return np.argsort(hashes, kind="stable") if (ordered[1:] < ordered[:-1]).any() else order


def without_rows(values: npt.NDArray[Any], rows: Sequence[int]) -> npt.NDArray[Any]:
    """The values but those of some rows."""
    return np.delete(values, np.array(rows, np.int64)) if len(rows) else values


def equal_ranges(ascending: npt.NDArray[Any], values: npt.NDArray[Any]) -> tuple[Ints, Ints]:
    """Where those of an ascending array that equal each value start, and how many they are; quickest if values ascend.

    >>> equal_ranges(np.array([3, 7, 7]), np.array([3, 5, 7]))
    (array([0, 1, 1]), array([1, 0, 2]))
    """
    starts = np.searchsorted(ascending, values)
    return starts, np.searchsorted(ascending, values, "right") - starts


def ranges(starts: Ints, counts: Ints) -> Ints:
    """``starts[0], starts[0] + 1, ...`` (counts[0] of them), then those of the next row.

    >>> ranges(np.array([10, 3]), np.array([3, 2]))
    array([10, 11, 12,  3,  4])
    """
    row_shift = np.asarray(starts) - offsets_of(counts)[:-1]
    return np.arange(int(counts.sum())) + np.repeat(row_shift, counts)


def blocks(sizes: Ints, limit: int) -> Iterator[tuple[int, int]]:
    """Cut rows into consecutive blocks (first, end) of at most ``limit`` in sum, or of one row.

    >>> list(blocks(np.array([3, 3, 9, 1, 1]), 6))
    [(0, 2), (2, 3), (3, 5)]
    """
    ends = np.cumsum(sizes)
    first = 0
    while first < len(ends):
        before = int(ends[first - 1]) if first else 0
        end = max(first + 1, int(np.searchsorted(ends, before + limit, "right")))
        yield first, end
        first = end
