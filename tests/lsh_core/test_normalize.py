"""Normalized texts: a batch is its texts one by one, and both are what plain Python says."""

from __future__ import annotations

import re
import sys
import unicodedata
from itertools import product

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lsh_core import Settings, normalize_text, normalize_texts
from lsh_core.normalize import _normalize_any, _normalize_ascii, _TranslationTable
from lsh_core.settings import CHOICES
from tests import oracles
from tests.strategies import NORMALIZATION, batches, normalizations, texts

COMBINATIONS = [
    Settings(**dict(zip(NORMALIZATION, choices))) for choices in product(*(CHOICES[name] for name in NORMALIZATION))
]
ASCII = "".join(map(chr, range(1, 128)))


def expected(text: str, settings: Settings) -> str:
    return oracles.normalize(
        text, settings.unicode_form, settings.case, settings.punctuation, settings.white_space, settings.stop_words)


def choices_of(settings: Settings) -> str:
    return "-".join(getattr(settings, name) for name in NORMALIZATION)


every_combination = pytest.mark.parametrize("settings", COMBINATIONS, ids=choices_of)


# Against the oracle


@given(batches, normalizations)
@example([], Settings())
@example(["", "a", "", "é", ""], Settings())
def test_batch_is_its_texts_one_by_one(batch, settings):
    normalized = [text.decode() for text in normalize_texts(batch, settings)]
    assert normalized == [normalize_text(text, settings) for text in batch]
    assert normalized == [expected(text, settings) for text in batch]


@every_combination
def test_every_ascii_character(settings):
    batch = [f"x{character}Y" for character in "\0" + ASCII]
    assert [text.decode() for text in normalize_texts(batch, settings)] == [expected(text, settings) for text in batch]


@every_combination
def test_characters_of_every_block_of_unicode(settings):
    # Every 101st character in each place, and all of the first blocks, where most exceptions are.
    codes = {*range(0x250), *range(0x300, 0x400), *range(0x2000, 0x2200), *range(0, sys.maxunicode, 101)}
    batch = [f"e{chr(code)} {chr(code)}\u0301" for code in codes if not 0xD800 <= code < 0xE000]
    assert [text.decode() for text in normalize_texts(batch, settings)] == [expected(text, settings) for text in batch]


@given(st.lists(st.text(st.characters(min_codepoint=1, max_codepoint=127)), max_size=6), normalizations)
def test_ascii_texts_go_one_way_or_the_other(batch, settings):
    together = [text.decode() for text in _normalize_ascii(batch, settings)]
    assert together == [_normalize_any(text, settings, _TranslationTable(settings)) for text in batch]


# What always holds


@given(texts, normalizations)
def test_a_normalized_text_travels_as_it_is(text, settings):
    normalized = normalize_text(text, settings)
    assert not re.search(r"[^\S ]|\0", normalized)
    if settings.white_space == "collapse":
        assert "  " not in normalized
        assert normalized == normalized.strip()


@given(texts, normalizations)
def test_normalizing_twice_is_normalizing_once(text, settings):
    once = normalize_text(text, settings)
    assert normalize_text(once, settings) == once


@given(texts, normalizations.filter(lambda settings: settings.unicode_form != "none"))
def test_composed_and_decomposed_are_the_same(text, settings):
    forms = [unicodedata.normalize(form, text) for form in ("NFC", "NFD")]
    assert normalize_text(forms[0], settings) == normalize_text(forms[1], settings) == normalize_text(text, settings)


@given(texts)
def test_without_a_form_and_with_white_space_kept_only_spaces_change(text):
    normalized = normalize_text(text, Settings(unicode_form="none", white_space="keep"))
    assert len(normalized) == len(text)
    assert all(new == (" " if old.isspace() or old == "\0" else old) for old, new in zip(text, normalized))


# By hand


@pytest.mark.parametrize(("changes", "text", "normalized"), [
    ({}, " To\r\n be,\tor\u00a0\u2003not \x00", "To be, or not"),
    ({}, "e\u0301 \u212b ﬁ", "é Å ﬁ"),
    ({"unicode_form": "NFKC"}, "ﬁ ① ½ \u00b4", "fi 1 1⁄2 \u0301"),
    ({"unicode_form": "none"}, "e\u0301 \u212b", "e\u0301 \u212b"),
    ({"white_space": "keep"}, " a \t\nb\0", " a   b "),
    ({"white_space": "keep"}, "é\r\n", "é  "),
    ({"case": "fold"}, "ÀB Straße ΣΑΣ", "àb strasse σασ"),
    ({"punctuation": "drop"}, "don't -- “stop”; 3+4=7€", "don t stop 3 4 7"),
    ({"punctuation": "drop", "white_space": "keep"}, "a, b.", "a  b "),
    ({"case": "fold", "punctuation": "drop"}, "To be, or NOT!", "to be or not"),
    ({"stop_words": ["the", "a"]}, "The cat (a) sat, the.", "cat sat,"),
    ({"stop_words": ["The"]}, "THE then other", "then other"),
    ({"stop_words": ["don't"]}, "Don't stop", "stop"),
    ({"stop_words": ["the"], "white_space": "keep"}, "in the  end", "in  end"),
    ({}, "", ""),
])
def test_by_hand(changes, text, normalized):
    assert normalize_text(text, Settings(**changes)) == normalized


@pytest.mark.parametrize("changes", [{}, {"case": "fold", "punctuation": "drop", "stop_words": ["1"]}])
def test_given_integers_stay_as_they_are(changes):
    settings = Settings(format="shingled", **changes)
    assert normalize_texts(["1 2", "3"], settings) == [b"1 2", b"3"]
