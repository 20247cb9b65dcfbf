"""Index arithmetic against loops over lists."""

from __future__ import annotations

from itertools import groupby

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lsh_core.ragged
from lsh_core.ragged import blocks, equal_ranges, offsets_of, order_of, ranges, rows_of, run_starts

counts = st.lists(st.integers(0, 7), max_size=30)


def as_ints(values: list[int]) -> np.ndarray:
    return np.array(values, np.int64)


@given(counts)
def test_offsets_are_sums_of_the_counts_before(lengths):
    offsets = offsets_of(as_ints(lengths))
    assert offsets.dtype == np.int64
    assert offsets.tolist() == [sum(lengths[:i]) for i in range(len(lengths) + 1)]


@given(st.lists(st.integers(0, 2), max_size=40), st.sampled_from([np.int64, np.uint64, np.uint8]))
def test_runs_start_where_groupby_starts_a_group(values, dtype):
    groups = [list(group) for _, group in groupby(values)]
    starts = run_starts(np.array(values, dtype))
    assert starts.tolist() == [sum(map(len, groups[:i])) for i in range(len(groups))]


@given(st.lists(st.tuples(st.integers(-50, 50), st.floats(0, 1)), max_size=30), st.sampled_from([1, 4, 1000]))
def test_rows_are_those_of_all_columns_in_order(rows, block_rows):
    columns = [np.array([row[number] for row in rows], dtype) for number, dtype in enumerate((np.int64, np.float64))]
    with pytest.MonkeyPatch.context() as patches:
        patches.setattr(lsh_core.ragged, "BLOCK_ROWS", block_rows)
        assert list(rows_of(*columns)) == rows


@given(st.lists(st.tuples(st.integers(-50, 50), st.integers(0, 7)), max_size=30))
def test_ranges_are_ranges_one_after_another(rows):
    starts, lengths = [start for start, _ in rows], [length for _, length in rows]
    expected = [i for start, length in rows for i in range(start, start + length)]
    assert ranges(as_ints(starts), as_ints(lengths)).tolist() == expected


@given(st.lists(st.one_of(st.integers(0, 9), st.integers(0, 2**64 - 1), st.integers(0, 9).map(lambda i: i << 60)),
                max_size=40))
def test_hashes_are_ordered_stably_by_all_their_bits(hashes):
    values = np.array(hashes, np.uint64)
    assert order_of(values).tolist() == np.argsort(values, kind="stable").tolist()


@given(st.lists(st.integers(0, 9)), st.lists(st.integers(0, 9)))
def test_equal_ranges_hold_all_that_is_equal(values, wanted):
    values.sort()
    starts, lengths = equal_ranges(as_ints(values), as_ints(wanted))
    assert lengths.tolist() == [values.count(value) for value in wanted]
    found = zip(wanted, starts.tolist(), lengths.tolist())
    assert all(values[start : start + length] == [value] * length for value, start, length in found)


def greedy_blocks(sizes: list[int], limit: int) -> list[tuple[int, int]]:
    """Take rows while their sum stays within the limit, and at least one."""
    found = []
    first = 0
    while first < len(sizes):
        end = first + 1
        while end < len(sizes) and sum(sizes[first : end + 1]) <= limit:
            end += 1
        found.append((first, end))
        first = end
    return found


@given(counts, st.integers(0, 20))
def test_blocks_take_as_many_rows_as_fit(sizes, limit):
    assert list(blocks(as_ints(sizes), limit)) == greedy_blocks(sizes, limit)


@pytest.mark.parametrize("call", [
    lambda none: offsets_of(none)[1:],
    run_starts,
    lambda none: ranges(none, none),
    lambda none: np.array(list(blocks(none, 5))),
    lambda none: order_of(none.astype(np.uint64)),
    lambda none: equal_ranges(none, none)[1],
])
def test_nothing_gives_nothing(call):
    assert len(call(as_ints([]))) == 0
