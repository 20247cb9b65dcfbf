"""Documents of a bucket become pairs of candidates."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lsh_core.ragged import Ints, blocks, offsets_of, ranges

PAIRS_AT_A_TIME = 1 << 18


def candidate_pairs(bucket_counts: Ints) -> Iterator[tuple[Ints, Ints]]:
    """All pairs of rows (a, b), a < b, inside each bucket, in blocks of bounded size.

    Rows are numbered bucket by bucket; ``bucket_counts`` says how many are in each.

    >>> [list(zip(a.tolist(), b.tolist())) for a, b in candidate_pairs(np.array([3, 1, 2]))]
    [[(0, 1), (0, 2), (1, 2), (4, 5)]]
    """
    bounds = offsets_of(bucket_counts)
    earlier_in_bucket = np.arange(bounds[-1]) - np.repeat(bounds[:-1], bucket_counts)
    for first, end in blocks(earlier_in_bucket, PAIRS_AT_A_TIME):
        num_earlier = earlier_in_bucket[first:end]
        if num_earlier.any():
            rows_b = np.repeat(np.arange(first, end), num_earlier)
            yield ranges(np.arange(first, end) - num_earlier, num_earlier), rows_b
