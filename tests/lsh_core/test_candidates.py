"""Candidate pairs: all of a bucket, and each pair in one bucket only."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsh_core import candidate_pairs
from tests import oracles

bucket_counts = st.lists(st.integers(0, 9), max_size=12)


def pair_blocks(counts: list[int]) -> list[list[tuple[int, int]]]:
    return [list(zip(a.tolist(), b.tolist())) for a, b in candidate_pairs(np.array(counts, np.int64))]


def pairs_at_a_time(num_pairs: int, counts: list[int]) -> list[list[tuple[int, int]]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lsh_core.candidates.PAIRS_AT_A_TIME", num_pairs)
        return pair_blocks(counts)


# Pairs


@given(bucket_counts)
def test_pairs_are_the_combinations_of_each_bucket(counts):
    found = [pair for block in pair_blocks(counts) for pair in block]
    assert sorted(found) == list(oracles.bucket_pairs(counts))


@given(bucket_counts, st.integers(1, 30))
def test_blocks_hold_the_same_pairs_and_are_not_larger_than_allowed(counts, num_pairs):
    blocks = pairs_at_a_time(num_pairs, counts)
    assert sorted(pair for block in blocks for pair in block) == list(oracles.bucket_pairs(counts))
    # One row may have more pairs than a block: those with all before it in its bucket.
    assert all(0 < len(block) <= max([num_pairs, *counts]) for block in blocks)


def test_one_large_bucket():
    num_documents = 1000
    blocks = pair_blocks([num_documents])
    assert len(blocks) == 2
    assert {pair for block in blocks for pair in block} == set(combinations(range(num_documents), 2))


@pytest.mark.parametrize("counts", [[], [0], [1], [1, 0, 1, 1]])
def test_no_pairs(counts):
    assert pair_blocks(counts) == []
