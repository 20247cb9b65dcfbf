"""What a generated corpus is like: how similar its planted pairs are, and its unrelated documents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lsh_core.jaccard import ShingleSets, similarities
from lsh_core.ragged import Ints, ranges

Similarities = npt.NDArray[np.float64]

# Each bin's name and its lowest value; it ends where the next begins.
PLANTED_BINS = {
    "below 0.5": 0, "0.5-0.6": 0.5, "0.6-0.7": 0.6, "0.7-0.8": 0.7, "0.8-0.9": 0.8, "0.9-1": 0.9, "1": 1,
}
BACKGROUND_BINS = {
    "0": 0, "0-0.01": 5e-324, "0.01-0.02": 0.01, "0.02-0.05": 0.02, "0.05-0.1": 0.05,
    "0.1-0.2": 0.1, "0.2-0.3": 0.2, "0.3-0.5": 0.3, "0.5-1": 0.5,
}
GROUP_SIZE_BINS = {"2": 2, "3-4": 3, "5-9": 5, "10-99": 10, "100 and more": 100}


@dataclass(frozen=True)
class SampleReport:
    """What was written, in numbers."""

    num_docs: int
    num_bytes: int
    num_pairs: int
    share_beyond_ascii: float
    num_groups: int
    largest_group: int
    group_sizes: dict[str, int]
    planted: dict[str, int]
    """Similarities of originals and their variants."""
    background: dict[str, int]
    """Similarities of random pairs of unrelated documents."""
    nearest: dict[str, int]
    """For some documents, the similarity of the nearest unrelated one in a part of the corpus."""


def histogram(values: npt.ArrayLike, bins: Mapping[str, float]) -> dict[str, int]:
    """How many values lie in each bin.

    >>> histogram([2, 3, 3, 250], GROUP_SIZE_BINS)
    {'2': 1, '3-4': 2, '5-9': 0, '10-99': 0, '100 and more': 1}
    """
    bin_of_value = np.searchsorted(list(bins.values()), np.asarray(values, np.float64), side="right") - 1
    return dict(zip(bins, np.bincount(bin_of_value, minlength=len(bins)).tolist()))


def background_similarities(sets: ShingleSets, group_of: Ints) -> Similarities:
    """Similarities of each document and two others, related ones left out; documents are in random order."""
    rows = np.arange(len(group_of))
    rows_a, rows_b = np.tile(rows, 2), np.concatenate([np.roll(rows, 1), np.roll(rows, len(rows) // 2)])
    is_unrelated = group_of[rows_a] != group_of[rows_b]
    return similarities(sets, rows_a[is_unrelated], rows_b[is_unrelated])


def nearest_similarities(sets: ShingleSets, group_of: Ints, num_docs: int) -> Similarities:
    """For each of the first documents, the similarity of the nearest one that is not related to it."""
    order = np.argsort(sets.values, kind="stable")
    values, doc_of_value = sets.values[order], np.repeat(np.arange(len(group_of)), sets.sizes)[order]
    nearest = np.zeros(min(num_docs, len(group_of)))
    for row in range(len(nearest)):
        own = sets.values[sets.offsets[row] : sets.offsets[row + 1]]
        starts, ends = np.searchsorted(values, own, "left"), np.searchsorted(values, own, "right")
        shared = np.bincount(doc_of_value[ranges(starts, ends - starts)], minlength=len(group_of))
        found = shared / (sets.sizes + len(own) - shared)
        nearest[row] = found[group_of != group_of[row]].max(initial=0)
    return nearest
