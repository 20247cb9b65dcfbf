from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsh_core.errors import SettingsError
from lsh_core.tuning import (
    and_construction,
    banding_threshold,
    bands_needed,
    choose_bands,
    factor_pairs,
    nearest_factor_pair,
    or_construction,
    s_curve,
)

bands_strategy = st.integers(1, 1000)
rows_strategy = st.integers(1, 100)
similarity_strategy = st.floats(0, 1)
threshold_strategy = st.floats(0.01, 1)


def exact_s_curve(similarity: float, bands: int, rows: int) -> float:
    return float(1 - (1 - Fraction(similarity) ** rows) ** bands)


# Constructions and the S-curve


def test_and_of_two_then_or_of_three_by_hand():
    # 0.5^2 = 1/4; 1 - (3/4)^3 = 37/64
    assert and_construction(0.5, 2) == 0.25
    assert or_construction(0.25, 3) == pytest.approx(37 / 64, rel=1e-15)
    assert s_curve(0.5, bands=3, rows=2) == pytest.approx(37 / 64, rel=1e-15)


@given(similarity_strategy, st.integers(1, 40), st.integers(1, 20))
def test_s_curve_equals_the_fraction(similarity, bands, rows):
    expected = exact_s_curve(similarity, bands, rows)
    assert s_curve(similarity, bands, rows) == pytest.approx(expected, rel=1e-12, abs=1e-300)


def test_s_curve_keeps_chances_far_below_the_rounding_error_of_one():
    # 1 - (1 - s^r)^b is b s^r where that is tiny: 1000 x (10^-3)^20
    assert s_curve(0.001, bands=1000, rows=20) == pytest.approx(1e-57, rel=1e-12)


def test_s_curve_of_the_job_with_60_bands_of_16_rows_misses_few_pairs_at_nine_tenths():
    assert 1 - s_curve(0.9, bands=60, rows=16) == pytest.approx(4.6e-6, rel=0.01)


def test_s_curve_has_certain_ends_without_a_warning(recwarn):
    assert s_curve(np.array([0.0, 1.0]), 20, 5).tolist() == [0.0, 1.0]
    assert (s_curve(0.0, 20, 5), s_curve(1.0, 20, 5)) == (0.0, 1.0)
    assert len(recwarn) == 0


@given(st.lists(similarity_strategy), bands_strategy, rows_strategy)
def test_s_curve_of_an_array_is_that_of_each_value(similarities, bands, rows):
    expected = [s_curve(similarity, bands, rows) for similarity in similarities]
    np.testing.assert_allclose(s_curve(np.array(similarities, float), bands, rows), expected, rtol=1e-11)


@given(st.tuples(similarity_strategy, similarity_strategy).map(sorted), bands_strategy, rows_strategy)
def test_s_curve_grows_with_similarity_and_bands_and_falls_with_rows(pair, bands, rows):
    lower, higher = pair
    slack = 1 + 1e-12
    assert 0 <= s_curve(lower, bands, rows) <= s_curve(higher, bands, rows) * slack <= slack
    assert s_curve(lower, bands, rows) <= s_curve(lower, bands + 1, rows) * slack
    assert s_curve(lower, bands, rows + 1) <= s_curve(lower, bands, rows) * slack


# The choice for a recall


def test_choice_for_eight_tenths_by_hand():
    # r=8: 0.8^8 = 0.16777, ln 0.05 / ln 0.83223 = 16.3, so 17 x 8 = 136 functions;
    # r=9: 0.8^9 = 0.13422, ln 0.05 / ln 0.86578 = 20.8, so 21 x 9 = 189, over 160
    assert [bands_needed(0.8, 0.95, rows) for rows in (8, 9)] == [17, 21]
    assert choose_bands(0.8, 0.95, 160) == (17, 8)
    assert choose_bands(0.8, 0.95, 188) == (17, 8)
    assert choose_bands(0.8, 0.95, 189) == (21, 9)


@given(threshold_strategy, st.floats(0.01, 0.999), st.integers(1, 500))
def test_choice_is_the_last_row_count_that_fits(threshold, recall, max_functions):
    fitting = [
        (bands, rows)
        for rows in range(1, max_functions + 1)
        for bands in [bands_needed(threshold, recall, rows)]
        if bands * rows <= max_functions
    ]
    if fitting:
        bands, rows = choose_bands(threshold, recall, max_functions)
        assert (bands, rows) == fitting[-1]
        assert isinstance(bands, int)
        assert s_curve(threshold, bands, rows) >= recall - 1e-12
    else:
        with pytest.raises(SettingsError, match="max_functions"):
            choose_bands(threshold, recall, max_functions)


@given(threshold_strategy, st.floats(0.01, 0.999), st.integers(1, 12))
def test_one_band_fewer_would_miss_the_recall(threshold, recall, rows):
    bands = bands_needed(threshold, recall, rows)
    assert s_curve(threshold, int(bands), rows) >= recall * (1 - 1e-9)
    if bands > 1:
        assert s_curve(threshold, int(bands) - 1, rows) < recall * (1 + 1e-9)


def test_threshold_of_one_needs_one_band():
    assert choose_bands(1.0, 0.95, 160) == (1, 160)


def test_a_chance_too_small_for_a_float_needs_infinitely_many_bands():
    assert bands_needed(0.01, 0.95, 200) == math.inf
    assert bands_needed(0.01, 0.95, 160) == math.inf


def test_choice_among_very_many_functions_is_found():
    bands, rows = choose_bands(0.999, 0.95, 10**12)
    assert bands * rows <= 10**12 < bands_needed(0.999, 0.95, rows + 1) * (rows + 1)


def test_too_few_functions_are_refused_with_the_number_needed():
    # ln 0.05 / ln 0.9 = 28.4
    with pytest.raises(SettingsError, match="need 29 functions; max_functions is 28") as caught:
        choose_bands(0.1, 0.95, 28)
    assert "0.1" in str(caught.value) and "0.95" in str(caught.value)
    assert choose_bands(0.1, 0.95, 29) == (29, 1)


@pytest.mark.parametrize("threshold, recall", [(0, 0.9), (1.1, 0.9), (math.nan, 0.9), (0.8, 0), (0.8, 1)])
def test_shares_that_are_none_are_refused(threshold, recall):
    with pytest.raises(SettingsError, match=r"is .*; it must be above 0"):
        choose_bands(threshold, recall, 160)


# Factor pairs


@given(st.integers(1, 2000))
def test_factor_pairs_are_all_divisors_with_most_bands_first(num_functions):
    expected = [(num_functions // i, i) for i in range(1, num_functions + 1) if num_functions % i == 0]
    assert factor_pairs(num_functions) == expected


@pytest.mark.parametrize("num_functions", [0, -4])
def test_factor_pairs_of_no_functions_are_refused(num_functions):
    with pytest.raises(SettingsError, match="num_functions is"):
        factor_pairs(num_functions)


def test_nearest_factor_pair_of_the_articles():
    # (1/20)^(1/5) = 0.5493, (1/10)^(1/10) = 0.7943, (1/5)^(1/20) = 0.9227
    thresholds = [banding_threshold(*pair) for pair in [(20, 5), (10, 10), (5, 20)]]
    assert [round(threshold, 4) for threshold in thresholds] == [0.5493, 0.7943, 0.9227]
    assert nearest_factor_pair(100, 0.8) == (10, 10)


@given(st.integers(1, 300), threshold_strategy)
def test_no_other_factor_pair_is_nearer(num_functions, threshold):
    bands, rows = nearest_factor_pair(num_functions, threshold)
    assert bands * rows == num_functions
    others = [abs((1 / b) ** (1 / (num_functions // b)) - threshold) for b, _ in factor_pairs(num_functions)]
    assert abs(banding_threshold(bands, rows) - threshold) <= min(others) + 1e-12
