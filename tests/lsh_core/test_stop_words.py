from __future__ import annotations

import re

from lsh_core.stop_words import ENGLISH_STOP_WORDS


def test_words_are_sorted_and_each_there_once():
    assert list(ENGLISH_STOP_WORDS) == sorted(set(ENGLISH_STOP_WORDS))


def test_words_are_lower_case_letters_with_at_most_one_apostrophe_inside():
    assert [word for word in ENGLISH_STOP_WORDS if not re.fullmatch(r"[a-z]+('[a-z]+)?", word)] == []


def test_the_number_of_words_is_that_of_function_words():
    assert 150 <= len(ENGLISH_STOP_WORDS) <= 180


def test_function_words_and_contractions_are_there_and_words_with_meaning_are_not():
    words = set(ENGLISH_STOP_WORDS)
    assert words >= {"a", "and", "the", "of", "is", "this", "you", "don't", "isn't", "won't", "they're"}
    assert words.isdisjoint({"good", "project", "document", "hash", "time", "people"})


def test_each_negative_contraction_has_its_verb():
    verbs = {word[:-3] for word in ENGLISH_STOP_WORDS if word.endswith("n't")} - {"ca", "wo"}
    assert verbs <= set(ENGLISH_STOP_WORDS)
