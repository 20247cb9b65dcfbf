"""How many bands of how many rows: the S-curve of banding, its errors, and the choice for a recall.

A pair of similarity s agrees in one row with chance s, in all rows of a band with chance s^r (AND),
and in at least one of b bands with chance 1 - (1 - s^r)^b (OR): it is then a candidate.
"""

from __future__ import annotations

import math
from typing import Callable, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from lsh_core.errors import SettingsError

Chances = npt.NDArray[np.float64]
Chance = TypeVar("Chance", float, Chances)

# exp(-40) is below the rounding error of 1, and exp(-exp(4)) too.
NEGLIGIBLE_BELOW = -40.0
NEGLIGIBLE_ABOVE = 4.0
PANEL_WIDTH = 4.0
PANEL_NODES = 20


class Areas(NamedTuple):
    """The false-positive and the false-negative area of bands and rows at a threshold."""

    bands: int
    rows: int
    false_positive: float
    false_negative: float


def and_construction(chance: Chance, rows: int) -> Chance:
    """The chance that ``rows`` functions agree, all of them.

    >>> and_construction(0.5, 3)
    0.125
    """
    every: Chance = chance**rows
    return every


def or_construction(chance: Chance, bands: int) -> Chance:
    """The chance that of ``bands`` functions at least one agrees, right for tiny chances too.

    >>> f"{or_construction(0.5, 3):.3f}"
    '0.875'
    """
    with np.errstate(divide="ignore"):  # a chance of 1 has the logarithm -inf, and comes out as 1
        some: Chance = -np.expm1(bands * np.log1p(-chance))
    return some


def s_curve(similarity: Chance, bands: int, rows: int) -> Chance:
    """The chance 1 - (1 - s^r)^b that a pair becomes a candidate.

    >>> f"{s_curve(0.8, 17, 8):.4f}"
    '0.9559'
    >>> s_curve(np.array([0.0, 0.5, 1.0]), 2, 1).tolist()
    [0.0, 0.75, 1.0]
    """
    return or_construction(and_construction(similarity, rows), bands)


def banding_threshold(bands: int, rows: int) -> float:
    """The similarity (1/b)^(1/r) near which the S-curve is steepest.

    >>> f"{banding_threshold(10, 10):.4f}"
    '0.7943'
    """
    return float(bands ** (-1 / rows))


def bands_needed(threshold: float, recall: float, rows: int) -> float:
    """The fewest bands that make a pair at the threshold a candidate with chance ``recall``, or infinity.

    >>> bands_needed(0.8, 0.95, 8)
    17.0
    """
    chance = and_construction(threshold, rows)
    if chance == 1:
        return 1.0
    if chance == 0:
        return math.inf
    return float(max(1.0, np.ceil(math.log1p(-recall) / math.log1p(-chance))))


def choose_bands(threshold: float, recall: float, max_functions: int) -> tuple[int, int]:
    """(bands, rows) with the most rows whose bands reach the recall within ``max_functions``.

    >>> choose_bands(0.8, 0.95, 160)
    (17, 8)
    """
    _check_threshold(threshold)
    if not 0 < recall < 1:
        raise SettingsError(f"recall is {recall}; it must be above 0 and below 1")
    num_needed = bands_needed(threshold, recall, rows=1)
    if num_needed > max_functions:
        raise SettingsError(
            f"threshold {threshold} and recall {recall} need {num_needed:.0f} functions; "
            f"max_functions is {max_functions}: raise it, or lower the recall"
        )
    # More rows need no fewer bands, so the product only grows and can be searched by halves.
    rows, too_many = 1, max_functions + 1
    while too_many - rows > 1:
        middle = (rows + too_many) // 2
        if middle * bands_needed(threshold, recall, middle) <= max_functions:
            rows = middle
        else:
            too_many = middle
    return int(bands_needed(threshold, recall, rows)), rows


def factor_pairs(num_functions: int) -> list[tuple[int, int]]:
    """Every (bands, rows) whose product is ``num_functions``, most bands first.

    >>> factor_pairs(6)
    [(6, 1), (3, 2), (2, 3), (1, 6)]
    """
    if num_functions < 1:
        raise SettingsError(f"num_functions is {num_functions}; it must be 1 or more")
    rows_small = [i for i in range(1, math.isqrt(num_functions) + 1) if num_functions % i == 0]
    pairs = [(num_functions // rows, rows) for rows in rows_small]
    return pairs + [(rows, bands) for bands, rows in reversed(pairs) if bands != rows]


def nearest_factor_pair(num_functions: int, threshold: float) -> tuple[int, int]:
    """The factor pair (bands, rows) whose own threshold is nearest to the given one.

    >>> nearest_factor_pair(100, 0.8)
    (10, 10)
    """
    _check_threshold(threshold)
    return min(factor_pairs(num_functions), key=lambda pair: abs(banding_threshold(*pair) - threshold))


def false_positive_area(bands: int, rows: int, threshold: float | None = None) -> float:
    """The area under the S-curve below the threshold, by default the banding's own.

    >>> f"{false_positive_area(10, 10):.4f}"
    '0.0579'
    """
    end = _log_expected_bands(threshold, bands, rows)
    start = min(end, 0.0) + NEGLIGIBLE_BELOW
    return _integrate(lambda similarity: s_curve(similarity, bands, rows), bands, rows, start, end)


def false_negative_area(bands: int, rows: int, threshold: float | None = None) -> float:
    """The area above the S-curve from the threshold, by default the banding's own, up to 1.

    >>> f"{false_negative_area(10, 10):.4f}"
    '0.0152'
    """
    start = _log_expected_bands(threshold, bands, rows)
    end = min(math.log(bands), NEGLIGIBLE_ABOVE)
    return _integrate(lambda similarity: (1 - similarity**rows) ** bands, bands, rows, start, end)


def choose_by_area(
    num_functions: int,
    threshold: float,
    *,
    max_false_negative: float = math.inf,
    max_false_positive: float = math.inf,
) -> Areas:
    """The factor pair of least error in sum whose areas at the threshold keep within the bounds.

    >>> choose_by_area(100, 0.8)[:2]
    (10, 10)
    >>> choose_by_area(100, 0.8, max_false_negative=0.002)[:2]
    (20, 5)
    """
    _check_threshold(threshold)
    choices = [
        Areas(*pair, false_positive_area(*pair, threshold), false_negative_area(*pair, threshold))
        for pair in factor_pairs(num_functions)
    ]
    within = [
        areas
        for areas in choices
        if areas.false_negative <= max_false_negative and areas.false_positive <= max_false_positive
    ]
    if not within:
        raise SettingsError(
            f"no bands x rows = {num_functions} at threshold {threshold} keeps within "
            f"max_false_negative {max_false_negative} and max_false_positive {max_false_positive}"
        )
    return min(within, key=lambda areas: areas.false_positive + areas.false_negative)


def _check_threshold(threshold: float) -> None:
    if not 0 < threshold <= 1:
        raise SettingsError(f"threshold is {threshold}; it must be above 0 and at most 1")


def _log_expected_bands(threshold: float | None, bands: int, rows: int) -> float:
    """ln(b s^r), the logarithm of the number of bands in which a pair at the threshold should agree."""
    if threshold is None:
        return 0.0
    _check_threshold(threshold)
    return math.log(bands) + rows * math.log(threshold)


def _integrate(curve: Callable[[Chances], Chances], bands: int, rows: int, start: float, end: float) -> float:
    """The area under a curve of the similarity s, where ln(b s^r) goes from ``start`` to ``end``.

    In that logarithm the steep part is as wide for every b and r, and Gauss-Legendre panels of
    one width are enough; s = exp((x - ln b) / r) and ds = s dx / r.
    """
    if end <= start:
        return 0.0
    nodes, weights = np.polynomial.legendre.leggauss(PANEL_NODES)
    bounds = np.linspace(start, end, math.ceil((end - start) / PANEL_WIDTH) + 1)
    half_widths = np.diff(bounds)[:, np.newaxis] / 2
    places = bounds[:-1, np.newaxis] + half_widths * (1 + nodes)
    similarities = np.exp((places - math.log(bands)) / rows)
    return float((curve(similarities) * similarities * weights * half_widths).sum() / rows)
