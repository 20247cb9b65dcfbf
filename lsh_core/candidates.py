"""Documents of one bucket become candidate pairs, each in one bucket only."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from lsh_core.jaccard import ShingleSets, intersection_sizes
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


def is_first_meeting(smaller_keys: ShingleSets, rows_a: Ints, rows_b: Ints) -> npt.NDArray[np.bool_]:
    """Whether each pair shares no band key below that of the bucket where it meets.

    ``smaller_keys`` holds for each row the keys, below that of its bucket, under which its
    document was emitted too. A pair is reported under the smallest key that it shares, and
    so exactly once.
    """
    return np.equal(intersection_sizes(smaller_keys, rows_a, rows_b), 0)
