"""Candidate pairs: all of a bucket, and each pair in one bucket only."""

from __future__ import annotations

from collections import Counter
from importlib import import_module
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsh_core import ShingleSets, candidate_pairs, is_first_meeting
from tests import oracles
from tests.strategies import uint64s

bucket_counts = st.lists(st.integers(0, 9), max_size=12)
# Few different keys, so that documents share several; and any keys.
key_sets = st.one_of(st.frozensets(st.integers(0, 12), max_size=8), st.frozensets(uint64s, max_size=8))


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


# First meetings


def sets_of(rows: list[list[int]]) -> ShingleSets:
    offsets = np.cumsum([0, *map(len, rows)])
    return ShingleSets(np.array([key for row in rows for key in row], np.uint64), offsets)


def reported(keys_of: dict[str, frozenset[int]]) -> Counter[tuple[str, str]]:
    """How often each pair is reported if all buckets are checked, each record with its smaller keys."""
    buckets = oracles.buckets(keys_of)
    records = [(doc_id, key) for key, doc_ids in buckets.items() for doc_id in doc_ids]
    smaller_keys = sets_of([sorted(other for other in keys_of[doc_id] if other < key) for doc_id, key in records])
    times: Counter[tuple[str, str]] = Counter()
    for rows_a, rows_b in candidate_pairs(np.array([len(doc_ids) for doc_ids in buckets.values()], np.int64)):
        is_first = is_first_meeting(smaller_keys, rows_a, rows_b)
        assert is_first.dtype == bool
        times.update((records[a][0], records[b][0]) for a, b in zip(rows_a[is_first], rows_b[is_first]))
    return times


@given(st.lists(key_sets, max_size=12))
def test_every_pair_that_shares_a_key_is_reported_once(key_lists):
    keys_of = {f"d{i:02}": keys for i, keys in enumerate(key_lists)}
    sharing = {(a, b) for a, b in combinations(keys_of, 2) if keys_of[a] & keys_of[b]}
    assert reported(keys_of) == Counter(sharing)


@given(st.lists(key_sets, max_size=8), st.integers(1, 20))
def test_blocks_do_not_change_what_is_reported(key_lists, limit):
    keys_of = {f"d{i}": keys for i, keys in enumerate(key_lists)}
    whole = reported(keys_of)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lsh_core.candidates.PAIRS_AT_A_TIME", limit)
        patch.setattr(import_module("lsh_core.jaccard"), "PAIR_BLOCK_SHINGLES", limit)
        assert reported(keys_of) == whole


def test_without_smaller_keys_every_meeting_is_the_first():
    rows = np.array([0, 1]), np.array([2, 3])
    assert is_first_meeting(sets_of([[], [], [], []]), *rows).tolist() == [True, True]
    assert is_first_meeting(sets_of([[5], [5], [6], [5]]), *rows).tolist() == [True, False]
