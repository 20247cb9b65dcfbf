"""What property tests draw from: texts that are hard to normalize, families of near-duplicates, settings."""

from __future__ import annotations

from itertools import chain
from typing import Any

from hypothesis import strategies as st

from lsh_core.settings import CHOICES, Settings

SPACES = " \t\n\r\v\f\x1c\x1f\x85\xa0\u2003\u2028\u3000"
MARKS = "\u0300\u0301\u0308\u0323\u0327\u0345\u05b4\u20d0"
LETTERS = "aeioAEIOnNsS"
# Not quite spaces, letters that fold, compose or decompose to others, and code points of every width.
ODDITIES = "\0\x7f\u200b\u200d\ufeff'.,-“–+€ßſİıÅ\u212bK\u212aﬁ①½Σς中ぁ가😀𝒜\U0010ffff"

characters = st.one_of(
    st.sampled_from(LETTERS),
    st.sampled_from(SPACES),
    st.sampled_from(MARKS),
    st.sampled_from(ODDITIES),
    st.characters(exclude_categories=["Cs"]),
)

_short_texts = st.text(characters, max_size=6)

texts = st.one_of(
    st.text(characters, max_size=60),
    st.text(st.sampled_from("ab "), max_size=60),
    st.builds(lambda text, times: text * times, _short_texts, st.integers(0, 20)),
    st.text(st.characters(max_codepoint=127), max_size=60),
)

batches = st.lists(texts, max_size=8)

NORMALIZATION = ("unicode_form", "case", "punctuation", "white_space")

stop_word_lists = st.lists(st.sampled_from(["a", "ab", "E", "ß", "I'm", "和"]), max_size=3).map(tuple)

normalization_choices = st.fixed_dictionaries({
    **{name: st.sampled_from(CHOICES[name]) for name in NORMALIZATION},
    "stop_words": stop_word_lists,
})

normalizations = normalization_choices.map(lambda choices: Settings(**choices))

shingle_choices = st.builds("{}:{}".format, st.sampled_from(["char", "word"]), st.integers(1, 40))

uint64s = st.one_of(st.integers(0, 2**64 - 1), st.sampled_from([0, 1, 2**32, 2**63, 2**64 - 1]))


@st.composite
def near_duplicates(draw: Any, min_size: int = 2, max_size: int = 6) -> list[str]:
    """Copies of one text with a few words dropped, doubled or replaced in each."""
    words = draw(st.lists(st.text(characters, min_size=1, max_size=8), min_size=1, max_size=20))
    edits = st.lists(st.tuples(st.integers(0, len(words) - 1), st.sampled_from(["", "X", None])), max_size=3)
    copies = []
    for places in draw(st.lists(edits, min_size=min_size, max_size=max_size)):
        copy = list(words)
        for place, word in places:
            copy[place] = copy[place] * 2 if word is None else word
        copies.append(" ".join(copy))
    return copies


corpora = st.lists(st.one_of(near_duplicates(), batches), max_size=4).map(lambda groups: list(chain(*groups)))


@st.composite
def settings(draw: Any) -> Settings:
    """Settings of any kind that can work."""
    choices = draw(st.fixed_dictionaries({name: st.sampled_from(allowed) for name, allowed in CHOICES.items()}))
    banding = draw(st.one_of(
        st.fixed_dictionaries({"bands": st.integers(1, 30), "rows": st.integers(1, 20)}),
        st.fixed_dictionaries({"threshold": st.floats(0.5, 1), "recall": st.floats(0.01, 0.99)}),
    ))
    return Settings(
        **({"threshold": 1.0} if choices["minhash"] == "whole-text" else banding),
        **choices,
        num_buckets=draw(st.one_of(st.none(), st.integers(1, 2**64 - 1))),
        seed=draw(uint64s),
        shingle=draw(shingle_choices),
        id_field=draw(st.sampled_from(["id", "name", None])),
        stop_words=draw(stop_word_lists),
    )
