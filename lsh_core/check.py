"""The exact check: which texts of a bundle share a band key, and how similar these are.

Texts are rows. A bundle of few rows is checked together with others, pair by pair; one of
many rows by itself, as a matrix.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Optional

import numpy as np
import numpy.typing as npt

from lsh_core.candidates import candidate_pairs
from lsh_core.hashing import HALF, Hashes, range_numbers
from lsh_core.jaccard import shingle_sets, similarities
from lsh_core.overlap import Patterns, find_patterns, overlap_matrix, pair_overlaps
from lsh_core.ragged import Ints, offsets_of
from lsh_core.settings import Settings
from lsh_core.shingling import shingle_blocks
from lsh_core.sides import Sides

MAX_SMALL_DOCS = 24
PART_SHINGLES = 1 << 22
"""Shingles that are sorted at a time."""

STRIP_CELLS = 1 << 17

FEW_PARTNERS, LONG_TEXT = 8, 1000
"""Texts that are long and have few partners each are compared pair by pair."""


class KeyEntries(NamedTuple):
    """Band keys of rows: ``rows[i]`` has ``keys[i]``."""

    keys: Hashes
    rows: Ints


class Bundles(NamedTuple):
    """Distinct texts, bundle by bundle, with the keys that decide which of them meet here.

    ``own_keys`` brought a text into its bundle; two that share one of ``earlier_keys`` meet in
    another bundle. Of each bundle the first ``num_left`` rows meet the others, or, where that is
    all of them, each other. Where there are ``sides`` of the rows, only wanted pairs meet.
    """

    texts: Sequence[bytes]
    counts: Ints
    num_left: Ints
    own_keys: KeyEntries
    earlier_keys: KeyEntries
    sides: Optional[Sides] = None


class Candidates(NamedTuple):
    """Pairs of rows that meet, and their exact similarity."""

    rows_a: Ints
    rows_b: Ints
    similarities: npt.NDArray[np.float64]

    def where(self, is_kept: npt.NDArray[np.bool_]) -> Candidates:
        return Candidates(self.rows_a[is_kept], self.rows_b[is_kept], self.similarities[is_kept])


def check_small(bundles: Bundles, settings: Settings) -> Candidates:
    """The candidates of bundles that have at most ``MAX_SMALL_DOCS`` rows each."""
    bundle_of_row = np.repeat(np.arange(len(bundles.counts)), bundles.counts)
    blocks = list(candidate_pairs(bundles.counts)) or [(np.empty(0, np.int64),) * 2]
    rows_a, rows_b = (np.concatenate(rows) for rows in zip(*blocks))
    end_of_left = (offsets_of(bundles.counts)[:-1] + bundles.num_left)[bundle_of_row]
    is_whole = (bundles.num_left == bundles.counts)[bundle_of_row]
    meets = is_whole[rows_a] | ((rows_a < end_of_left[rows_a]) & (rows_b >= end_of_left[rows_b]))
    meets &= pair_overlaps(find_patterns(*bundles.own_keys, bundle_of_row), rows_a, rows_b) > 0
    meets &= pair_overlaps(find_patterns(*bundles.earlier_keys, bundle_of_row), rows_a, rows_b) == 0
    if bundles.sides:
        meets &= bundles.sides.pairs_between(rows_a, rows_b) > 0
    rows_a, rows_b = rows_a[meets], rows_b[meets]
    num_rows, num_bytes = len(bundles.texts), sum(map(len, bundles.texts))
    if len(rows_a) <= FEW_PARTNERS * num_rows and LONG_TEXT * num_rows <= num_bytes <= PART_SHINGLES:
        return Candidates(rows_a, rows_b, similarities(shingle_sets(bundles.texts, settings), rows_a, rows_b))
    patterns = shingle_patterns(bundles.texts, bundle_of_row, settings)
    shared = pair_overlaps(patterns, rows_a, rows_b)
    return Candidates(rows_a, rows_b, shared / (patterns.sizes[rows_a] + patterns.sizes[rows_b] - shared))


def check_large(bundle: Bundles, settings: Settings) -> Iterator[Candidates]:
    """The candidates of one bundle of any size, strip by strip of its rows."""
    num_rows, num_left = len(bundle.texts), int(bundle.num_left[0])
    patterns = shingle_patterns(bundle.texts, np.zeros(num_rows, np.int64), settings)
    shared = overlap_matrix(patterns, num_left)
    meets = _meeting_matrix(bundle, num_left)
    first_right = num_rows - shared.shape[1]
    step = max(1, STRIP_CELLS // max(shared.shape[1], 1))
    for first in range(0, num_left, step):
        rows_a, columns = np.nonzero(meets[first : first + step])
        rows_a, rows_b = rows_a + first, columns + first_right
        if bundle.sides:
            is_wanted = bundle.sides.pairs_between(rows_a, rows_b) > 0
            rows_a, rows_b, columns = rows_a[is_wanted], rows_b[is_wanted], columns[is_wanted]
        overlap = shared[rows_a, columns].astype(np.int64)
        yield Candidates(rows_a, rows_b, overlap / (patterns.sizes[rows_a] + patterns.sizes[rows_b] - overlap))


def _meeting_matrix(bundle: Bundles, num_left: int) -> npt.NDArray[np.bool_]:
    """Which left row meets which right row: they share an own key, and no earlier one."""
    num_rows = len(bundle.texts)
    one_group = np.zeros(num_rows, np.int64)
    shares_own, shares_earlier = (overlap_matrix(find_patterns(*entries, one_group), num_left) > 0
                                  for entries in (bundle.own_keys, bundle.earlier_keys))
    meets = shares_own & ~shares_earlier
    return meets if num_left < num_rows else np.triu(meets, 1)


def shingle_patterns(texts: Sequence[bytes], group_of_row: Ints, settings: Settings) -> Patterns:
    """The shingles of normalized texts by the rows that hold them, in parts of bounded size."""
    num_parts = 1 + sum(map(len, texts)) // PART_SHINGLES
    parts = [_patterns_of_part(texts, group_of_row, settings, part, num_parts) for part in range(num_parts)]
    sizes, *rest = zip(*parts)
    return Patterns(np.sum(sizes, axis=0), *map(np.concatenate, rest))


def _patterns_of_part(
    texts: Sequence[bytes], group_of_row: Ints, settings: Settings, part: int, num_parts: int
) -> Patterns:
    values, rows = [np.empty(0, np.uint64)], [np.empty(0, np.int64)]
    for block in shingle_blocks(texts, settings):
        block_rows, hashes = np.repeat(block.rows, block.counts), block.hashes
        if num_parts > 1:
            # Short hashes have only a lower half.
            is_here = range_numbers(hashes << HALF, num_parts) == part
            block_rows, hashes = block_rows[is_here], hashes[is_here]
        values.append(hashes)
        rows.append(block_rows)
    return find_patterns(np.concatenate(values), np.concatenate(rows), group_of_row)
