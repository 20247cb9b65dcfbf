"""Variants of a sample's documents, kind by kind."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs import sample_edits
from jobs.sample_edits import (
    BOILERPLATE,
    EQUAL,
    NUMBERS,
    SENTENCES,
    SPACES,
    TEMPLATE,
    WORDS,
    edited_rows,
    respaced,
)
from jobs.sample_text import original_rows
from jobs.sample_words import NUM_FORMS, NUMBER_WORDS, Rows, build_language
from lsh_core.hashing import splitmix64
from lsh_core.normalize import normalize_texts
from lsh_core.settings import Settings

NUM_DOCS = 300


def words_of(rows: Rows) -> list[list[int]]:
    """The words of each row, header and footer included."""
    words = (rows.values // NUM_FORMS).tolist()
    ends = np.cumsum(rows.counts).tolist()
    return [words[end - count : end] for end, count in zip(ends, rows.counts.tolist())]


def before_and_after(kind: int) -> list[tuple[list[int], list[int]]]:
    language = build_language()
    rows = original_rows(language, splitmix64(3, NUM_DOCS), np.full(NUM_DOCS, 40))
    edited = edited_rows(language, rows, splitmix64(4, NUM_DOCS), np.full(NUM_DOCS, kind))
    return list(zip(words_of(rows), words_of(edited)))


def has_swap(one: list[int], other: list[int]) -> bool:
    neighbors = {(b, a) for a, b in zip(one, one[1:]) if a != b} - set(zip(one, one[1:]))
    return not neighbors.isdisjoint(zip(other, other[1:]))


def num_repeats(words: list[int]) -> int:
    return sum(one == other for one, other in zip(words, words[1:]))


@pytest.mark.parametrize("kind", [EQUAL, SPACES])
def test_words_stay(kind: int) -> None:
    assert all(one == other for one, other in before_and_after(kind))


@pytest.mark.parametrize("kind", [NUMBERS, BOILERPLATE, SENTENCES, WORDS, TEMPLATE])
def test_nearly_all_differ_and_not_always_in_the_first_word(kind: int) -> None:
    rows = before_and_after(kind)
    assert sum(one != other for one, other in rows) > 0.95 * NUM_DOCS
    assert sum(one[1] != other[1] for one, other in rows) < 0.4 * NUM_DOCS


@pytest.mark.parametrize("kind", range(7))
def test_boilerplate_changes_only_where_that_is_the_kind(kind: int) -> None:
    rows = before_and_after(kind)
    has_new_header = [one[0] != other[0] for one, other in rows]
    has_new_footer = [one[-1] != other[-1] for one, other in rows]
    if kind == BOILERPLATE:
        assert min(sum(has_new_header), sum(has_new_footer)) > 0.3 * NUM_DOCS
        assert not any(header and footer for header, footer in zip(has_new_header, has_new_footer))
    else:
        assert not any(has_new_header + has_new_footer)


def test_all_numbers_change() -> None:
    numbers = set(NUMBER_WORDS.tolist())
    rows = before_and_after(NUMBERS)
    num_before = sum(len(numbers & set(one)) for one, _ in rows)
    num_kept = sum(len(numbers & set(one) & set(other)) for one, other in rows)
    assert num_kept < 0.02 * num_before


def test_templates_fill_in_numbers_at_the_same_places() -> None:
    numbers = set(NUMBER_WORDS.tolist())
    for one, other in before_and_after(TEMPLATE):
        assert len(one) == len(other)
        for place, (word, new_word) in enumerate(zip(one, other)):
            assert word == new_word or (place % 22 == 5 and new_word in numbers)


def test_sentences_are_dropped() -> None:
    rows = before_and_after(SENTENCES)
    assert sum(len(other) < len(one) for one, other in rows) > 0.1 * NUM_DOCS
    assert all(len(other) <= len(one) for one, other in rows)


def test_words_are_replaced_dropped_inserted_and_swapped() -> None:
    rows = before_and_after(WORDS)
    assert any(len(other) > len(one) for one, other in rows)
    assert any(len(other) < len(one) for one, other in rows)
    assert sum(has_swap(one, other) for one, other in rows) > 0.1 * NUM_DOCS
    # A word that is put in is a new one, not the one before it again.
    num_more_repeats = sum(num_repeats(other) - num_repeats(one) for one, other in rows)
    assert num_more_repeats < 0.2 * NUM_DOCS


@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=30))
def test_swaps_against_a_loop(flags: list[tuple[bool, bool]]) -> None:
    is_chosen, is_body = ([flag[i] for flag in flags] for i in (0, 1))
    expected = list(range(len(flags)))
    previous = -2
    for i in range(len(flags) - 1):
        if is_chosen[i] and is_body[i + 1]:
            if previous != i - 1:
                expected[i], expected[i + 1] = expected[i + 1], expected[i]
            previous = i
    words = np.arange(len(flags))
    sample_edits._swap_with_next(words, np.array(is_chosen, bool), np.array(is_body, bool))
    assert words.tolist() == expected


def test_respaced_is_equal_once_normalized() -> None:
    text = "Ünö, dös. Trés?\n\nQuátre. End"
    other = respaced(text)
    assert other != text
    assert normalize_texts([other], Settings()) == normalize_texts([text], Settings())
