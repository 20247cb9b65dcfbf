from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsh_core.errors import SettingsError
from lsh_core.matrices import (
    characteristic_matrix,
    characteristic_matrix_by_filters,
    linear_permutation,
    shingle_filter,
    signature_matrix,
    signature_steps,
    universe,
)

INF = np.inf

FOUR_SETS = [{"a", "d"}, {"c"}, {"b", "d", "e"}, {"a", "c", "d"}]
FIVE_FILES = [set("AFG"), set("ABC"), set("AEFG"), set("ABCDE"), set("CDEFG")]

shingle_sets = st.lists(st.sets(st.text("abcde", min_size=2, max_size=3), max_size=12), max_size=6)


# Worked examples


def test_four_sets_over_five_rows():
    rows, matrix = characteristic_matrix(FOUR_SETS)
    assert rows == ("a", "b", "c", "d", "e")
    assert matrix.dtype == bool
    assert matrix.astype(int).tolist() == [
        [1, 0, 0, 1],
        [0, 0, 1, 0],
        [0, 1, 0, 1],
        [1, 0, 1, 1],
        [0, 0, 1, 0],
    ]


def test_first_row_of_each_set_in_the_order_b_e_a_d_c():
    rows, matrix = characteristic_matrix(FOUR_SETS)
    order = "beadc"
    signature = signature_matrix(matrix, [[order.index(row) for row in rows]])
    assert [order[int(place)] for place in signature[0]] == ["a", "c", "b", "a"]


def test_signature_of_four_sets_by_two_functions():
    matrix = characteristic_matrix(FOUR_SETS).matrix
    first, second = linear_permutation(5, 1, 1), linear_permutation(5, 3, 1)
    assert first.tolist() == [1, 2, 3, 4, 0]  # x + 1 mod 5
    assert second.tolist() == [1, 4, 2, 0, 3]  # 3x + 1 mod 5
    # {a,d}: rows 0, 3 -> min(1, 4), min(1, 0); {c}: row 2 -> 3, 2;
    # {b,d,e}: rows 1, 3, 4 -> min(2, 4, 0), min(4, 0, 3); {a,c,d}: rows 0, 2, 3 -> min(1, 3, 4), min(1, 2, 0)
    assert signature_matrix(matrix, [first, second]).tolist() == [[1, 3, 0, 1], [0, 2, 0, 0]]


def test_five_files_over_seven_rows():
    rows, matrix = characteristic_matrix(FIVE_FILES)
    assert rows == tuple("ABCDEFG")
    assert matrix.astype(int).tolist() == [
        [1, 1, 1, 1, 0],
        [0, 1, 0, 1, 0],
        [0, 1, 0, 1, 1],
        [0, 0, 0, 1, 1],
        [0, 0, 1, 1, 1],
        [1, 0, 1, 0, 1],
        [1, 0, 1, 0, 1],
    ]


def test_signature_of_five_files_row_by_row():
    matrix = characteristic_matrix(FIVE_FILES).matrix
    hash_values = [linear_permutation(7, 1, shift) for shift in (1, 2, 3)]
    assert np.array(hash_values).T.tolist() == [
        [1, 2, 3],
        [2, 3, 4],
        [3, 4, 5],
        [4, 5, 6],
        [5, 6, 0],
        [6, 0, 1],
        [0, 1, 2],
    ]
    steps = [step.tolist() for step in signature_steps(matrix, hash_values)]
    assert len(steps) == 8
    assert steps[0] == [[INF] * 5] * 3
    assert steps[1] == [[1, 1, 1, 1, INF], [2, 2, 2, 2, INF], [3, 3, 3, 3, INF]]
    # Row 1 is in the second and fourth file, which have less; row 2 gives the fifth its first values.
    assert steps[2] == steps[1]
    assert steps[3] == [[1, 1, 1, 1, 3], [2, 2, 2, 2, 4], [3, 3, 3, 3, 5]]
    assert steps[4] == steps[3]
    # Row 4 has 0 as its third value: the least there is, so it stays in the third, fourth and fifth file.
    assert steps[5] == [[1, 1, 1, 1, 3], [2, 2, 2, 2, 4], [3, 3, 0, 0, 0]]
    assert steps[6] == [[1, 1, 1, 1, 3], [0, 2, 0, 2, 0], [1, 3, 0, 0, 0]]
    assert steps[7] == [[0, 1, 0, 1, 0], [0, 2, 0, 2, 0], [1, 3, 0, 0, 0]]
    assert signature_matrix(matrix, hash_values).tolist() == steps[7]


# What always holds


def test_no_sets_and_empty_sets():
    rows, matrix = characteristic_matrix([])
    assert rows == () and matrix.shape == (0, 0)
    rows, matrix = characteristic_matrix([set(), set()])
    assert rows == () and matrix.shape == (0, 2)
    assert signature_matrix(matrix, np.zeros((3, 0))).tolist() == [[INF, INF]] * 3
    assert characteristic_matrix_by_filters([], []).matrix.shape == (0, 0)
    assert characteristic_matrix_by_filters([], [shingle_filter(set())]).matrix.shape == (0, 1)


def test_empty_set_beside_others_keeps_an_infinite_column():
    matrix = characteristic_matrix([{"ab"}, set()]).matrix
    assert signature_matrix(matrix, [linear_permutation(1, 1, 0)]).tolist() == [[0, INF]]


@given(shingle_sets)
def test_matrix_has_each_shingle_of_each_set_and_no_other(sets):
    rows, matrix = characteristic_matrix(sets)
    assert rows == universe(sets)
    columns = [{rows[row] for row in np.flatnonzero(column)} for column in matrix.T]
    assert columns == sets


@given(shingle_sets)
def test_filters_give_the_matrix_of_the_sets(sets):
    filters = [shingle_filter(members, false_positive_rate=1e-12) for members in sets]
    exact = characteristic_matrix(sets)
    asked = characteristic_matrix_by_filters(exact.rows, filters)
    assert asked.rows == exact.rows
    assert asked.matrix.dtype == bool
    assert asked.matrix.tolist() == exact.matrix.tolist()


def test_loose_filters_miss_nothing_and_add_about_their_rate():
    sets = [{f"shingle {i}" for i in range(first, first + 2000)} for first in (0, 2000)]
    exact = characteristic_matrix(sets)
    filters = [shingle_filter(members, false_positive_rate=0.05) for members in sets]
    matrix = characteristic_matrix_by_filters(exact.rows, filters).matrix
    assert (matrix | ~exact.matrix).all()
    assert 0.03 < matrix[~exact.matrix].mean() < 0.07


@given(shingle_sets, st.integers(1, 4), st.randoms(use_true_random=False))
def test_signature_is_the_minimum_over_the_members(sets, num_hashes, random):
    rows, matrix = characteristic_matrix(sets)
    tables = [dict(zip(rows, random.sample(range(len(rows)), len(rows)))) for _ in range(num_hashes)]
    hash_values = np.array([[table[row] for row in rows] for table in tables]).reshape(num_hashes, len(rows))
    expected = [[min((table[row] for row in members), default=INF) for members in sets] for table in tables]
    assert signature_matrix(matrix, hash_values).tolist() == expected


def test_share_of_agreeing_permutations_is_the_jaccard_similarity():
    # {2,3,4,5,6} and {1,3,4,5,6,7}: 4 of 7 in common; every one of the 7! permutations is tried.
    matrix = characteristic_matrix([set("23456"), set("134567")]).matrix
    permutations = np.array(list(itertools.permutations(range(7))))
    first, second = signature_matrix(matrix, permutations).T
    assert (first == second).sum() * 7 == 4 * len(permutations)


@given(st.integers(1, 60), st.integers(1, 10**30), st.integers(0, 10**30))
def test_linear_permutation_has_every_row_once(num_rows, factor, shift):
    if np.gcd(factor % num_rows, num_rows) == 1:
        values = linear_permutation(num_rows, factor, shift)
        assert sorted(values.tolist()) == list(range(num_rows))
        assert values[0] == shift % num_rows
    else:
        with pytest.raises(SettingsError, match="it must share no divisor"):
            linear_permutation(num_rows, factor, shift)


def test_permutation_of_no_rows_is_refused():
    with pytest.raises(SettingsError, match="num_rows is 0"):
        linear_permutation(0, 1, 0)
