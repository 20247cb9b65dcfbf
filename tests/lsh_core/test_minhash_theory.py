"""Both families against theory: estimates are unbiased, and banding finds what the S-curve promises.

Pairs of random sets of a known similarity, with many trials of each; everything is drawn from
splitmix64, so the outcome is the same in every run.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
import pytest

from lsh_core import Settings, ShingleBlock, band_keys, estimate_similarity
from lsh_core.hashing import splitmix64
from lsh_core.minhash import linear_block, sketch_block

SEEDS = (1, 2, 3)
BANDINGS = [(17, 8), (10, 10), (60, 16)]
SET_SIZES = [5, 20, 100, 1000, 10_000]
SHINGLES_AT_A_TIME = 100_000
MAX_EVALUATIONS = 10**7


class Shape(NamedTuple):
    """How a pair of sets falls into parts, in proportion."""

    both: int
    only_a: int
    only_b: int

    def scaled_to(self, set_size: int) -> Shape:
        """The same proportions, with about so many members in the first set."""
        factor = max(1, set_size // (self.both + self.only_a))
        return Shape(*(part * factor for part in self))

    @property
    def similarity(self) -> float:
        return self.both / sum(self)


SUBSET, OVERLAP = Shape(4, 1, 0), Shape(8, 1, 1)
SHAPES = [SUBSET, OVERLAP]


class Trials(NamedTuple):
    """What came of many pairs: their estimates (n,), and whether they share a band key (n,)."""

    estimates: np.ndarray
    is_candidate: np.ndarray


def num_trials(shape: Shape, family: str, num_functions: int) -> int:
    """As many as a moment allows: linear functions see each shingle, a sketch a few times in all."""
    evaluations = num_functions * (sum(shape) if family == "linear" else 16) + 20 * sum(shape)
    return min(4000, max(20, MAX_EVALUATIONS // evaluations))


@cache
def run_trials(family: str, bands: int, rows: int, shape: Shape, seed: int) -> Trials:
    settings = Settings(bands=bands, rows=rows, minhash=family, seed=seed)
    remaining = num_trials(shape, family, bands * rows)
    estimates, is_candidate = [], []
    while remaining:
        num_pairs = min(remaining, max(1, SHINGLES_AT_A_TIME // sum(shape)))
        members = splitmix64(seed * 1_000_003 + remaining, num_pairs * sum(shape)).reshape(num_pairs, -1)
        sides = (members[:, : shape.only_a + shape.both], members[:, shape.only_a :])
        one, other = (_signed(side, settings) for side in sides)
        estimates.append(estimate_similarity(one, other))
        is_candidate.append((band_keys(one, settings) == band_keys(other, settings)).any(axis=1))
        remaining -= num_pairs
    return Trials(np.concatenate(estimates), np.concatenate(is_candidate))


def _signed(sets: np.ndarray, settings: Settings) -> np.ndarray:
    num_sets, set_size = sets.shape
    block = ShingleBlock(np.arange(num_sets), np.full(num_sets, set_size), sets.reshape(-1))
    family = sketch_block if settings.minhash == "sketch" else linear_block
    bands, rows = settings.banding
    return family(block, bands * rows, settings)


def standard_error(chance: float, num_draws: int) -> float:
    return (chance * (1 - chance) / num_draws) ** 0.5


all_cases = [
    pytest.mark.parametrize("set_size", SET_SIZES),
    pytest.mark.parametrize("shape", SHAPES, ids=["subset", "overlap"]),
    pytest.mark.parametrize(("bands", "rows"), BANDINGS),
    pytest.mark.parametrize("family", ["sketch", "linear"]),
]


def in_all_cases(test):
    for mark in all_cases:
        test = mark(test)
    return test


@in_all_cases
def test_recall_is_at_least_that_of_the_s_curve(family, bands, rows, shape, set_size):
    shape = shape.scaled_to(set_size)
    promised = 1 - (1 - shape.similarity**rows) ** bands
    for seed in SEEDS:
        found = run_trials(family, bands, rows, shape, seed).is_candidate
        assert found.mean() >= promised - 4 * standard_error(promised, len(found))


@in_all_cases
def test_estimates_are_unbiased(family, bands, rows, shape, set_size):
    shape = shape.scaled_to(set_size)
    for seed in SEEDS:
        estimates = run_trials(family, bands, rows, shape, seed).estimates
        allowed = 4 * standard_error(shape.similarity, bands * rows * len(estimates))
        assert abs(estimates.mean() - shape.similarity) <= allowed


@in_all_cases
def test_estimates_scatter_no_more_than_independent_functions(family, bands, rows, shape, set_size):
    shape = shape.scaled_to(set_size)
    estimates = np.concatenate([run_trials(family, bands, rows, shape, seed).estimates for seed in SEEDS])
    variance = np.mean((estimates - shape.similarity) ** 2)
    expected = standard_error(shape.similarity, bands * rows) ** 2
    # The variance of n squared errors that are about normal has itself a relative error of sqrt(2 / n).
    assert variance <= expected * (1 + 4 * (2 / len(estimates)) ** 0.5)


@pytest.mark.parametrize("family", ["sketch", "linear"])
@pytest.mark.parametrize("threshold", [0.5, 0.7, 0.9, 0.95])
@pytest.mark.parametrize("recall", [0.9, 0.95, 0.99])
def test_chosen_bands_keep_the_promised_recall(family, threshold, recall):
    bands, rows = Settings(threshold=threshold, recall=recall).banding
    shape = Shape(round(threshold * 100), 100 - round(threshold * 100), 0)
    for seed in SEEDS:
        found = run_trials(family, bands, rows, shape, seed).is_candidate
        assert found.mean() >= recall - 4 * standard_error(recall, len(found))


@pytest.mark.parametrize("family", ["sketch", "linear"])
@pytest.mark.parametrize("set_size", [5, 100, 2000])
def test_sets_without_a_common_member_are_no_candidates(family, set_size):
    for seed in SEEDS:
        trials = run_trials(family, 17, 8, Shape(0, set_size, set_size), seed)
        assert not trials.is_candidate.any()
        # Of 24 bits of value two may agree by chance, the more so the larger the sets.
        assert trials.estimates.mean() < 1e-4
