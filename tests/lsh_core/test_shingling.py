"""Shingles against windows cut from strings: equal hashes are equal windows, and the reverse."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lsh_core import Settings, shingle_blocks, shingle_set
from lsh_core.shingling import window_hashes
from tests import oracles
from tests.strategies import characters, corpora, near_duplicates, shingle_choices, texts, uint64s
from tests.windows import hashes_of_rows, windows

words = st.lists(st.text(st.sampled_from("abé猫"), min_size=1, max_size=2), max_size=50).map(" ".join)
normalized_texts = st.one_of(texts, words, st.text(characters, min_size=30, max_size=100)).map(oracles.normalize)
normalized_corpora = corpora.map(lambda corpus: [oracles.normalize(text) for text in corpus])


def hashes_of_texts(batch: list[str], settings: Settings) -> list[list[int]]:
    """The shingles of each text of a batch, in the order of its windows."""
    blocks = list(shingle_blocks([text.encode() for text in batch], settings))
    assert all(block.hashes.dtype == np.uint64 for block in blocks)
    return hashes_of_rows(blocks, batch, settings.shingle)


# Against windows of strings


@pytest.mark.parametrize("kind", ["char", "word"])
@pytest.mark.parametrize("k", range(1, 41))
def test_as_many_distinct_hashes_as_distinct_windows(kind, k):
    text = "It is a truth universally acknowledged, that a single cat 猫 in possession is in want " * 3
    for ascii_or_not in (text, text.replace("猫", "")):
        normalized = oracles.normalize(ascii_or_not)
        found = shingle_set(ascii_or_not, Settings(shingle=f"{kind}:{k}"))
        assert len(found) == len(oracles.shingles(normalized, kind, k))


@given(normalized_texts, st.sampled_from(["char", "word"]), st.integers(1, 40))
def test_as_many_distinct_hashes_as_distinct_windows_of_any_text(text, kind, k):
    settings = Settings(shingle=f"{kind}:{k}", white_space="keep", unicode_form="none")
    assert len(shingle_set(text, settings)) == len(oracles.shingles(text, kind, k))


@given(normalized_corpora, shingle_choices)
@example(["ab", "ab猫", "abab", "猫ab", "b"], "char:2")
@example(["a b", "ab", "a b c", "b", "猫 a b"], "word:2")
def test_equal_hashes_are_equal_windows_across_a_corpus(corpus, shingle):
    window_of, hash_of = {}, {}
    for text, hashes in zip(corpus, hashes_of_texts(corpus, Settings(shingle=shingle))):
        cut = windows(text, shingle)
        assert len(hashes) == len(cut)
        for window, number in zip(cut, hashes):
            assert window_of.setdefault(number, window) == window
            assert hash_of.setdefault(window, number) == number


@given(near_duplicates(), shingle_choices)
def test_similarity_of_hashes_is_similarity_of_windows(pair, shingle):
    kind, k = shingle.split(":")
    one, other = pair[:2]
    hashed = [set(shingle_set(text, Settings(shingle=shingle)).tolist()) for text in (one, other)]
    cut = [oracles.shingles(oracles.normalize(text), kind, int(k)) for text in (one, other)]
    assert oracles.jaccard_fraction(*hashed) == oracles.jaccard_fraction(*cut)


@given(st.text(st.characters(min_codepoint=1, max_codepoint=127), min_size=40), st.integers(1, 40))
def test_ascii_hashed_as_bytes_or_as_code_points_is_the_same(text, k):
    as_bytes = np.frombuffer(text.encode(), np.uint8)
    assert window_hashes(as_bytes, k).tolist() == window_hashes(as_bytes.astype(np.uint32), k).tolist()


@pytest.mark.parametrize(("shingle", "digits"), [
    ("char:13", "0123456789"), ("char:13", "零一二三四五六七八九"), ("word:2", "0123456789")])
def test_alike_windows_spread_over_the_upper_half_too(shingle, digits):
    # Minhash sees the upper 32 bits: of n windows about n^2 / 2^33 pairs may agree there.
    numbers = " ".join(f"{i:06}" for i in range(100_000)).translate(str.maketrans("0123456789", digits))
    hashes = shingle_set(numbers, Settings(shingle=shingle))
    upper_halves = np.unique(hashes >> np.uint64(32))
    assert len(hashes) - len(upper_halves) < 5 * max(1, len(hashes) ** 2 / 2**33)


# Batches


@given(normalized_corpora, shingle_choices, st.randoms())
def test_a_text_has_the_same_shingles_in_any_batch(corpus, shingle, choose):
    settings = Settings(shingle=shingle)
    alone = {text: hashes_of_texts([text], settings)[0] for text in corpus}
    shuffled = corpus * 2
    choose.shuffle(shuffled)
    assert hashes_of_texts(shuffled, settings) == [alone[text] for text in shuffled]


@pytest.mark.parametrize("batch", [[], [""], ["", ""]])
@pytest.mark.parametrize("changes", [{}, {"shingle": "word:2"}, {"format": "shingled"}])
def test_nothing_has_no_shingles(batch, changes):
    assert list(shingle_blocks([text.encode() for text in batch], Settings(**changes))) == []


# Short texts, and fewer bits


@pytest.mark.parametrize("text", ["a", "ab", "猫", "a猫", "a b c"])
@pytest.mark.parametrize("shingle", ["char:6", "char:8", "char:9", "char:40", "word:4", "word:40"])
def test_a_text_shorter_than_k_is_one_shingle(text, shingle):
    longer = shingle_set(text + " and more of it, and more", Settings(shingle=shingle))
    shingles = shingle_set(text, Settings(shingle=shingle))
    assert len(shingles) == 1
    assert not set(shingles.tolist()) & set(longer.tolist())


def test_short_texts_of_other_lengths_differ():
    settings = Settings(shingle="char:9")
    assert len({int(shingle_set("a" * length, settings)[0]) for length in range(1, 10)}) == 9


@given(normalized_corpora, shingle_choices)
def test_32_bits_are_the_upper_half(corpus, shingle):
    wide, narrow = (hashes_of_texts(corpus, Settings(shingle=shingle, shingle_bits=bits)) for bits in (64, 32))
    assert narrow == [[number >> 32 for number in row] for row in wide]


# Given integers


@given(st.lists(uint64s, min_size=1, unique=True), st.lists(uint64s, min_size=1, unique=True))
@example([0, 1, 2**53, 2**53 + 1], [2**63, 2**63 - 1, 2**64 - 1, 2**64 - 2])
def test_given_integers_are_exact(one, other):
    settings = Settings(format="shingled")
    sets = [set(shingle_set(" ".join(map(str, numbers)), settings).tolist()) for numbers in (one, other)]
    assert [len(hashes) for hashes in sets] == [len(one), len(other)]
    assert oracles.jaccard_fraction(*sets) == oracles.jaccard_fraction(one, other)
