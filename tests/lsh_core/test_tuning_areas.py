from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lsh_core.errors import SettingsError
from lsh_core.tuning import (
    banding_threshold,
    choose_by_area,
    factor_pairs,
    false_negative_area,
    false_positive_area,
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
