"""What rows share against Python sets."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsh_core.overlap import Patterns, find_patterns, overlap_matrix, pair_overlaps
from tests.strategies import uint64s

# Few values, so that rows share them; any values; and values that differ in their low bits alone.
low_bits_apart = st.builds(int.__add__, st.sampled_from([0, 2**32, 2**63, 2**64 - 8]), st.integers(0, 7))
values = st.one_of(st.integers(0, 9), uint64s, low_bits_apart)


class Table(NamedTuple):
    """Entries (value, row), and the group of each row."""

    entries: list[tuple[int, int]]
    groups: list[int]

    @property
    def sets(self) -> list[set[int]]:
        return [{value for value, row in self.entries if row == i} for i in range(len(self.groups))]

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """All pairs of rows of the same group."""
        return [(i, j) for i, j in combinations(range(len(self.groups)), 2) if self.groups[i] == self.groups[j]]

    @property
    def overlaps(self) -> dict[tuple[int, int], int]:
        sets = self.sets
        return {(i, j): len(sets[i] & sets[j]) for i, j in self.pairs}

    @property
    def patterns(self) -> Patterns:
        entries = np.array([value for value, _ in self.entries], np.uint64), as_ints(row for _, row in self.entries)
        return find_patterns(*entries, as_ints(self.groups))


def as_ints(numbers: Iterable[int]) -> np.ndarray:
    return np.array(list(numbers), np.int64)


@st.composite
def tables(draw: Any, max_groups: int = 4) -> Table:
    """Rows in groups, each with a share of a few values; entries in any order, some more than once."""
    num_rows, pool = draw(st.integers(0, 12)), draw(st.lists(values, min_size=1, max_size=10, unique=True))
    groups = sorted(draw(st.lists(st.integers(0, max_groups - 1), min_size=num_rows, max_size=num_rows)))
    choices = draw(st.lists(st.integers(0, 2 ** len(pool) - 1), min_size=num_rows, max_size=num_rows))
    entries = [(value, row) for row, choice in enumerate(choices) for i, value in enumerate(pool) if choice >> i & 1]
    random = draw(st.randoms(use_true_random=False))
    return Table(random.sample(entries * 2, len(entries) + random.randrange(len(entries) + 1)), groups)


def large_table(num_rows: int, num_values: int, seed: int = 1) -> Table:
    """One group in which values are held by one row, by few or by most."""
    random = np.random.default_rng(seed)
    share = random.random(num_values) ** 3
    held = np.argwhere(random.random((num_values, num_rows)) < share[:, np.newaxis])
    return Table([(value, row) for value, row in held.tolist()], [0] * num_rows)


def found_overlaps(patterns: Patterns, pairs: list[tuple[int, int]]) -> dict[tuple[int, int], int]:
    overlaps = pair_overlaps(patterns, as_ints(a for a, _ in pairs), as_ints(b for _, b in pairs))
    assert overlaps.dtype == np.int64 and len(overlaps) == len(pairs)
    return dict(zip(pairs, overlaps.tolist()))


# Patterns


@given(tables())
def test_a_pattern_is_a_set_of_rows_and_the_number_of_values_that_just_these_hold(table):
    rows_of_value: dict[tuple[int, int], set[int]] = defaultdict(set)
    for value, row in table.entries:
        rows_of_value[table.groups[row], value].add(row)
    shared = Counter(tuple(sorted(rows)) for rows in rows_of_value.values() if len(rows) > 1)
    sizes, weights, counts, _ = patterns = table.patterns
    rows = [tuple(part.tolist()) for part in np.split(patterns.rows, np.cumsum(counts))]
    assert rows.pop() == ()
    assert len(set(rows)) == len(rows)
    assert dict(zip(rows, weights.tolist())) == shared
    assert sizes.tolist() == [len(members) for members in table.sets]


@pytest.mark.parametrize("num_rows", [1, 2, 3, 4, 5, 64, 65])
def test_values_are_told_apart_by_their_lowest_bits_for_any_number_of_rows(num_rows):
    entries = [(2**64 - 1 - row // 2, row) for row in range(num_rows)]
    table = Table([*entries, (0, num_rows - 1), (1, 0)], [0] * num_rows)
    assert table.patterns.sizes.tolist() == [len(members) for members in table.sets]
    assert found_overlaps(table.patterns, table.pairs) == table.overlaps


def test_patterns_that_stay_keep_their_rows():
    patterns = Patterns(as_ints([3, 3, 2]), as_ints([5, 6, 7]), as_ints([2, 3, 2]), as_ints([0, 1, 0, 1, 2, 1, 2]))
    assert patterns.starts.tolist() == [0, 2, 5]
    kept = patterns.where(np.array([True, False, True]))
    assert [column.tolist() for column in kept] == [[3, 3, 2], [5, 7], [2, 2], [0, 1, 1, 2]]


@pytest.mark.parametrize("num_rows", [0, 1, 3])
def test_no_values(num_rows):
    table = Table([], [0] * num_rows)
    assert [column.tolist() for column in table.patterns] == [[0] * num_rows, [], [], []]
    assert found_overlaps(table.patterns, table.pairs) == dict.fromkeys(table.pairs, 0)
    for num_left in range(num_rows + 1):
        assert not overlap_matrix(table.patterns, num_left).any()


# Pairs


@given(tables(), st.randoms(use_true_random=False), st.integers(1, 40))
def test_pairs_overlap_as_python_sets_do(table, random, pairs_at_a_time):
    asked = [pair for pair in table.pairs if random.random() < 0.8]
    random.shuffle(asked)
    expected = {pair: overlap for pair, overlap in table.overlaps.items() if pair in asked}
    assert found_overlaps(table.patterns, asked) == expected
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lsh_core.candidates.PAIRS_AT_A_TIME", pairs_at_a_time)
        assert found_overlaps(table.patterns, asked) == expected


def test_no_pairs_are_asked():
    assert found_overlaps(large_table(5, 20).patterns, []) == {}


# Matrices


def assert_matrices_are_right(table: Table, lefts: Iterable[int]) -> None:
    """Each matrix has the shape and the overlaps that its number of left rows asks for."""
    num_rows, overlaps = len(table.groups), table.overlaps
    for num_left in lefts:
        first_right = 0 if num_left == num_rows else num_left
        matrix = overlap_matrix(table.patterns, num_left)
        assert matrix.dtype == np.float32 and matrix.shape == (num_left, num_rows - first_right)
        rows = range(num_left), range(first_right, num_rows)
        found = {(i, j): matrix[i, j - first_right] for i in rows[0] for j in rows[1] if i < j}
        assert found == {pair: overlaps[pair] for pair in found}


@given(tables(max_groups=1), st.sampled_from([0, 1, 2, 3, 20]))
def test_matrices_hold_the_overlaps_of_python_sets(table, rare):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lsh_core.overlap.RARE", rare)
        assert_matrices_are_right(table, range(len(table.groups) + 1))


@pytest.mark.parametrize("rare", [0, 4, 20, 1000])
@pytest.mark.parametrize("num_rows", [1, 7, 40])
def test_many_patterns_go_in_steps(rare, num_rows, monkeypatch):
    table = large_table(num_rows, 400)
    monkeypatch.setattr("lsh_core.overlap.RARE", rare)
    for limit in ("overlap.MATRIX_CELLS", "candidates.PAIRS_AT_A_TIME"):
        monkeypatch.setattr(f"lsh_core.{limit}", 100)
    assert num_rows == 1 or len(table.patterns.counts) > 64
    assert_matrices_are_right(table, {0, 1, num_rows // 3, num_rows - 1, num_rows})


@pytest.mark.parametrize("rare", [0, 1000])
def test_a_matrix_is_exact_up_to_the_largest_overlap(rare, monkeypatch):
    monkeypatch.setattr("lsh_core.overlap.RARE", rare)
    weights = as_ints([2**23, 2**22, 2**22 - 2, 1])
    patterns = Patterns(as_ints([2**24 - 1] * 3), weights, as_ints([2, 2, 2, 3]), as_ints([0, 1] * 3 + [0, 1, 2]))
    assert np.triu(overlap_matrix(patterns, 3), 1).tolist() == [[0, 2**24 - 1, 1], [0, 0, 1], [0, 0, 0]]


def test_more_values_than_float32_can_count_are_counted() -> None:
    sizes = np.array([2**24 + 2, 2**24 + 2])
    patterns = Patterns(sizes, np.array([2**24 + 1]), np.array([2]), np.array([0, 1]))
    assert overlap_matrix(patterns, 2)[0, 1] == 2**24 + 1
