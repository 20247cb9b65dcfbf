"""Signatures of both families against plain Python, and what always holds of a minimum."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsh_core import Settings, ShingleBlock, estimate_similarity, normalize_texts, shingle_set, signature, signatures
from lsh_core.minhash import EMPTY, PRIME, linear_block, linear_functions, sketch_block
from tests import oracles
from tests.strategies import corpora, uint64s

FAMILIES = {"sketch": sketch_block, "linear": linear_block}
ORACLES = {"sketch": oracles.sketch_signature, "linear": oracles.linear_signature}

families = st.sampled_from(list(FAMILIES))
both_families = pytest.mark.parametrize("family", FAMILIES)
shingle_lists = st.lists(st.one_of(uint64s, st.integers(0, 20).map(lambda i: i << 32)), min_size=1, max_size=30)
nums_functions = st.integers(1, 40)


def block_of(rows: list[list[int]]) -> ShingleBlock:
    """Documents by their shingles, one after another."""
    counts = np.array([len(row) for row in rows], np.int64)
    return ShingleBlock(np.arange(len(rows)), counts, np.array([number for row in rows for number in row], np.uint64))


def signed(rows: list[list[int]], family: str, num_functions: int, **changes) -> list[list[int]]:
    settings = Settings(bands=1, rows=num_functions, **changes)
    found = FAMILIES[family](block_of(rows), num_functions, settings)
    assert found.dtype == np.uint32
    return found.tolist()


# Against plain Python


@given(corpora)
def test_signatures_of_whole_texts_are_equal_for_equal_texts_alone(corpus):
    settings = Settings(minhash="whole-text", threshold=1)
    found = signatures(normalize_texts(corpus, settings), settings)
    assert (found.shape, found.dtype) == ((len(corpus), 2), np.uint32)
    normalized = [oracles.normalize(text) for text in corpus]
    for one, other in combinations(range(len(corpus)), 2):
        assert (estimate_similarity(found[one], found[other]) == 1) == (normalized[one] == normalized[other])


def test_signatures_of_whole_texts_see_what_shingles_do_not():
    one, other = "ab" * 20, "ab" * 21
    settings = Settings(minhash="whole-text", threshold=1)
    assert np.array_equal(shingle_set(one, settings), shingle_set(other, settings))
    assert not np.array_equal(signature(one, settings), signature(other, settings))


@given(st.lists(shingle_lists, min_size=1, max_size=4), families, nums_functions, uint64s)
def test_signatures_are_those_of_plain_python(rows, family, num_functions, seed):
    expected = [ORACLES[family]([number >> 32 for number in row], seed, num_functions) for row in rows]
    assert signed(rows, family, num_functions, seed=seed) == expected


@both_families
@pytest.mark.parametrize(("size", "num_functions"), [(1, 960), (7, 300), (60, 60), (400, 136), (2000, 16)])
def test_signatures_of_larger_sets_are_those_of_plain_python(family, size, num_functions):
    numbers = oracles.splitmix64(size, size)
    expected = ORACLES[family]([number >> 32 for number in numbers], 1, num_functions)
    assert signed([numbers], family, num_functions) == [expected]


@given(shingle_lists, families, nums_functions)
def test_with_32_bits_all_of_them_are_seen(numbers, family, num_functions):
    narrow = [number >> 32 for number in numbers]
    assert signed([narrow], family, num_functions, shingle_bits=32) == signed([numbers], family, num_functions)


def test_values_of_a_linear_function_that_reach_the_mark_of_emptiness_start_again_at_zero():
    # p has a few values from 2^32 - 1 on; they are rare, so their inputs are computed.
    mark, prime, num_functions = int(EMPTY), int(PRIME), 8
    coefficients = zip(*(numbers.tolist() for numbers in linear_functions(1, num_functions)))
    for i, (a, b) in enumerate(coefficients):
        inputs = {value: (value - b) * pow(a, -1, prime) % prime for value in range(mark, prime)}
        for value, shingle in inputs.items():
            if shingle < 2**32:
                assert signed([[shingle << 32]], "linear", num_functions)[0][i] == value - mark


def test_no_linear_function_is_constant():
    # A seed whose first coefficient would be 0: its splitmix64 begins with 1, of which the upper half is taken.
    seed = 17885559969949501885
    assert oracles.splitmix64(seed, 1) == [1]
    assert linear_functions(seed, 1).a.tolist() == [1]


@given(uint64s, st.integers(1, 500))
def test_coefficients_of_linear_functions_are_in_range(seed, num_functions):
    a, b = linear_functions(seed, num_functions)
    assert len(a) == len(b) == num_functions
    assert 1 <= a.min() <= a.max() < 2**32
    assert b.max() < 2**32


# What always holds


@given(shingle_lists, shingle_lists, families, nums_functions)
def test_signature_of_a_union_is_the_minimum_of_signatures(one, other, family, num_functions):
    first, second, union = signed([one, other, one + other], family, num_functions)
    assert union == list(map(min, first, second))


@both_families
@pytest.mark.parametrize("sizes", [(1, 3000), (50, 50), (500, 700)])
def test_signature_of_a_larger_union_is_the_minimum_of_signatures(family, sizes):
    numbers = oracles.splitmix64(5, sum(sizes))
    first, second, union = signed([numbers[: sizes[0]], numbers[sizes[0] :], numbers], family, 136)
    assert union == list(map(min, first, second))


@given(shingle_lists, families, nums_functions, st.randoms())
def test_order_and_repeats_do_not_matter(numbers, family, num_functions, choose):
    shuffled = numbers + choose.choices(numbers, k=5)
    choose.shuffle(shuffled)
    assert signed([shuffled], family, num_functions) == signed([numbers], family, num_functions)


@given(st.lists(shingle_lists, min_size=1, max_size=6), families, nums_functions)
def test_a_document_has_the_same_signature_in_any_batch(rows, family, num_functions):
    alone = [signed([row], family, num_functions)[0] for row in rows]
    assert signed(rows, family, num_functions) == alone


@pytest.mark.parametrize("cells", [1, 10, 100])
def test_the_last_round_goes_in_blocks(monkeypatch, cells):
    rows = [oracles.splitmix64(size, size) for size in (1, 2, 30, 5)]
    whole = signed(rows, "sketch", 200)
    monkeypatch.setattr("lsh_core.minhash.FILL_CELLS", cells)
    assert signed(rows, "sketch", 200) == whole


@both_families
def test_seeds_make_other_functions(family):
    rows = [oracles.splitmix64(1, 100)]
    one, other = (signed(rows, family, 64, seed=seed)[0] for seed in (1, 2))
    assert sum(map(int.__eq__, one, other)) == 0


@both_families
def test_no_value_is_the_mark_of_emptiness(family):
    rows = [[number] for number in [0, 2**64 - 1, *oracles.splitmix64(2, 200)]]
    assert max(map(max, signed(rows, family, 136))) < EMPTY


# Texts


@given(corpora, families, st.sampled_from(["char:3", "char:9", "word:2"]), st.sampled_from([64, 32]))
def test_signatures_of_texts_are_those_of_their_shingles(corpus, family, shingle, shingle_bits):
    settings = Settings(minhash=family, shingle=shingle, shingle_bits=shingle_bits, bands=3, rows=5, seed=7)
    normalized = [oracles.normalize(text) for text in corpus]
    found = signatures([text.encode() for text in normalized], settings)
    assert found.shape == (len(corpus), 15)
    for text, row in zip(normalized, found.tolist()):
        inputs = [number >> shingle_bits - 32 for number in shingle_set(text, settings).tolist()]
        assert row == (ORACLES[family](inputs, 7, 15) if text else [EMPTY] * 15)
        assert row == signature(text, settings).tolist()


@both_families
def test_no_texts(family):
    assert signatures([], Settings(minhash=family)).shape == (0, 136)


# Estimates


def test_estimate_is_the_share_of_equal_functions():
    one = np.array([[1, 2, 3, 4], [1, 2, 3, 4]], np.uint32)
    other = np.array([[1, 2, 3, 4], [1, 0, 0, 0]], np.uint32)
    assert estimate_similarity(one, other).tolist() == [1.0, 0.25]
    assert estimate_similarity(one[0], other).tolist() == [1.0, 0.25]
    assert float(estimate_similarity(one[1], other[1])) == 0.25
