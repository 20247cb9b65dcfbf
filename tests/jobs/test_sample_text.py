"""The language and the documents of a sample, batch by batch."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from jobs.sample_text import bits, mean_num_terms, num_terms_of, original_rows, stream
from jobs.sample_words import NUM_FORMS, NUM_WORDS, build_language, choose, slots
from lsh_core.hashing import splitmix64


@given(st.lists(st.integers(1, 20), min_size=1, max_size=8), st.integers(20, 400))
def test_slots_are_in_proportion(weights: list[int], num_slots: int) -> None:
    counts = np.bincount(slots(weights, num_slots), minlength=len(weights))
    assert counts.sum() == num_slots
    for weight, count in zip(weights, counts.tolist()):
        assert abs(count - weight * num_slots / sum(weights)) < 1


def test_common_words_are_short() -> None:
    words = build_language().tokens[:: NUM_FORMS][: NUM_WORDS].tolist()
    assert len(set(words)) == NUM_WORDS
    assert np.mean([len(word) for word in words[:100]]) + 2 < np.mean([len(word) for word in words])


def test_draws_are_even() -> None:
    keys = splitmix64(1, 200)
    draws = stream(keys, np.full(200, 100))
    assert len(set(draws.tolist())) == 20_000
    for values in (bits(draws, 0, 4), bits(draws, 44, 4), choose(draws, 16)):
        counts = np.bincount(values, minlength=16)
        # Six standard deviations of a binomial count.
        assert np.all(np.abs(counts - 1250) < 6 * math.sqrt(1250))


def test_lengths_are_skewed_around_the_mean() -> None:
    language = build_language()
    found = num_terms_of(language, splitmix64(1, 20_000), 10_000) / mean_num_terms(language, 10_000)
    assert abs(found.mean() - 1) < 0.02
    # A product of 16 factors of ratio 5/4: ln(5/4) * sqrt(16) / 2.
    assert abs(np.log(found).std() - 0.446) < 0.02
    assert np.median(found) < 0.95


def test_rows_have_a_header_words_and_a_footer() -> None:
    language, num_terms = build_language(), np.array([3, 50, 7])
    rows = original_rows(language, splitmix64(1, 3), num_terms)
    words = np.split(rows.values // NUM_FORMS, np.cumsum(rows.counts)[:-1])
    for row, count in zip(words, num_terms.tolist()):
        assert language.first_header <= row[0] < language.first_footer <= row[-1] < language.first_topic_term
        assert len(row) >= count + 2
        assert np.all(row[1:-1] < NUM_WORDS)


def test_no_rows() -> None:
    rows = original_rows(build_language(), splitmix64(1, 0), np.empty(0, np.int64))
    assert len(rows.values) == len(rows.counts) == 0
