from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lsh_core.errors import SettingsError
from lsh_core.tuning import (
    and_construction,
    banding_threshold,
    bands_needed,
    choose_bands,
    choose_by_area,
    factor_pairs,
    false_negative_area,
    false_positive_area,
    nearest_factor_pair,
    or_construction,
    s_curve,
)

# rows, bands, threshold, false-positive area, false-negative area
TABLE_OF_AREAS = [
    (2, 5, 0.4472, 0.1180, 0.0402),
    (5, 2, 0.8706, 0.1253, 0.0123),
    (1, 10, 0.1000, 0.0376, 0.0285),
    (10, 1, 1.0000, 0.0909, 0.0000),
    (4, 5, 0.6687, 0.1078, 0.0275),
    (5, 4, 0.7579, 0.1033, 0.0218),
    (2, 10, 0.3162, 0.0817, 0.0357),
    (10, 2, 0.9330, 0.0737, 0.0065),
    (2, 25, 0.2000, 0.0510, 0.0257),
    (25, 2, 0.9727, 0.0326, 0.0027),
    (5, 10, 0.6310, 0.0835, 0.0251),
    (10, 5, 0.8513, 0.0632, 0.0133),
    (50, 2, 0.9862, 0.0169, 0.0013),
    (10, 10, 0.7943, 0.0579, 0.0152),
    (20, 5, 0.9227, 0.0361, 0.0071),
    (25, 4, 0.9461, 0.0302, 0.0052),
]

bands_strategy = st.integers(1, 1000)
rows_strategy = st.integers(1, 100)
similarity_strategy = st.floats(0, 1)
threshold_strategy = st.floats(0.01, 1)


def antiderivative(similarity: Fraction, bands: int, rows: int) -> Fraction:
    """The integral of the S-curve from 0, by the binomial sum, which is exact in fractions."""
    return similarity - sum(
        Fraction((-1) ** i * math.comb(bands, i), rows * i + 1) * similarity ** (rows * i + 1)
        for i in range(bands + 1)
    )


def exact_areas(bands: int, rows: int, threshold: float) -> tuple[float, float]:
    """The false-positive and the false-negative area at a threshold, by fractions."""
    at = Fraction(threshold)
    below, total = antiderivative(at, bands, rows), antiderivative(Fraction(1), bands, rows)
    return float(below), float(1 - at - (total - below))


def missed_area(bands: int, rows: int, threshold: float) -> float:
    """The integral I(b) of (1 - s^r)^b from 0 to t, by parts: (1 + rb) I(b) = t (1 - t^r)^b + rb I(b - 1).

    Nothing is subtracted, so nothing cancels where the binomial sum is out of reach.
    """
    area = threshold
    for i in range(1, bands + 1):
        area = (threshold * (1 - threshold**rows) ** i + rows * i * area) / (1 + rows * i)
    return area


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


# Areas


@pytest.mark.parametrize("rows, bands, threshold, false_positive, false_negative", TABLE_OF_AREAS)
def test_areas_of_the_published_table(rows, bands, threshold, false_positive, false_negative):
    assert round(banding_threshold(bands, rows), 4) == threshold
    assert round(false_positive_area(bands, rows), 4) == false_positive
    assert round(false_negative_area(bands, rows), 4) == false_negative


@pytest.mark.parametrize("bands, rows", [(1, 1), (1, 100), (2, 1), (3, 7), (17, 8), (39, 25), (60, 16)])
def test_areas_equal_the_exact_binomial_sum(bands, rows):
    threshold = banding_threshold(bands, rows)
    false_positive, false_negative = exact_areas(bands, rows, threshold)
    assert false_positive_area(bands, rows) == pytest.approx(false_positive, abs=1e-13)
    assert false_negative_area(bands, rows) == pytest.approx(false_negative, abs=1e-13)


@given(st.integers(1, 30), st.integers(1, 12), threshold_strategy)
def test_areas_at_any_threshold_equal_the_exact_binomial_sum(bands, rows, threshold):
    false_positive, false_negative = exact_areas(bands, rows, threshold)
    assert false_positive_area(bands, rows, threshold) == pytest.approx(false_positive, abs=1e-13)
    assert false_negative_area(bands, rows, threshold) == pytest.approx(false_negative, abs=1e-13)


@given(bands_strategy, rows_strategy)
@example(bands=1000, rows=1)
@example(bands=1000, rows=5)
@example(bands=1000, rows=100)
def test_areas_of_many_bands_equal_the_recurrence(bands, rows):
    threshold = banding_threshold(bands, rows)
    missed_below, missed = missed_area(bands, rows, threshold), missed_area(bands, rows, 1.0)
    assert false_positive_area(bands, rows) == pytest.approx(threshold - missed_below, abs=1e-12)
    assert false_negative_area(bands, rows) == pytest.approx(missed - missed_below, abs=1e-12)


@given(bands_strategy, rows_strategy, threshold_strategy)
def test_areas_below_and_above_make_up_the_area_under_the_curve(bands, rows, threshold):
    # The whole area under the S-curve is 1 - (1/r) B(1/r, b + 1), in terms of the gamma function.
    log_beta = math.lgamma(1 / rows) + math.lgamma(bands + 1) - math.lgamma(1 / rows + bands + 1)
    total = 1 - math.exp(log_beta) / rows
    below = false_positive_area(bands, rows, threshold)
    above = 1 - threshold - false_negative_area(bands, rows, threshold)
    assert below + above == pytest.approx(total, abs=1e-11)


def test_areas_refuse_a_threshold_of_zero():
    with pytest.raises(SettingsError, match="threshold is 0"):
        false_positive_area(10, 10, 0)


@pytest.mark.parametrize(
    "bounds", [{}, {"max_false_negative": 0.01}, {"max_false_positive": 0.05}, {"max_false_negative": 0.05}]
)
def test_choice_by_area_is_the_least_error_within_the_bounds(bounds):
    chosen = choose_by_area(120, 0.7, **bounds)
    errors = {pair: exact_areas(*pair, 0.7) for pair in factor_pairs(120)}
    within = {
        pair: false_positive + false_negative
        for pair, (false_positive, false_negative) in errors.items()
        if false_positive <= bounds.get("max_false_positive", 1)
        and false_negative <= bounds.get("max_false_negative", 1)
    }
    assert (chosen.bands, chosen.rows) == min(within, key=within.get)
    assert (chosen.false_positive, chosen.false_negative) == pytest.approx(errors[chosen.bands, chosen.rows])


def test_bounds_change_the_choice_by_area():
    free = choose_by_area(100, 0.8)
    fewer_missed = choose_by_area(100, 0.8, max_false_negative=free.false_negative / 2)
    fewer_needless = choose_by_area(100, 0.8, max_false_positive=free.false_positive / 2)
    assert fewer_missed.bands > free.bands > fewer_needless.bands


def test_bounds_that_no_choice_keeps_are_refused():
    with pytest.raises(SettingsError, match=r"max_false_negative 0\.0001 and max_false_positive 0\.0001"):
        choose_by_area(100, 0.8, max_false_negative=1e-4, max_false_positive=1e-4)
