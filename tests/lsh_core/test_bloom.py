from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsh_core.bloom import (
    MAX_NUM_BITS,
    BloomFilter,
    false_positive_rate,
    optimal_num_hashes,
)
from lsh_core.errors import SettingsError

key_sets = st.sets(st.integers(0, 2**64 - 1), max_size=200)
shapes = st.tuples(st.integers(1, 5000), st.integers(1, 12))


def as_keys(keys) -> np.ndarray:
    return np.array(sorted(keys), np.uint64)


def filter_of(keys, shape=(1024, 5)) -> BloomFilter:
    seen = BloomFilter(*shape)
    seen.add(as_keys(keys))
    return seen


def num_found(seen: BloomFilter, keys: np.ndarray) -> int:
    return int(seen.contains(keys).sum())


# Formulas


def test_number_of_hashes_by_hand():
    # 10 bits a key x ln 2 = 6.93
    assert optimal_num_hashes(num_bits=1000, num_items=100) == pytest.approx(6.931, abs=1e-3)


def test_false_positive_rate_by_hand():
    # one hash, as many bits as keys: 1 - 1/e; two hashes: (1 - 1/e^2)^2
    assert false_positive_rate(num_bits=8, num_items=8, num_hashes=1) == pytest.approx(1 - 1 / math.e)
    assert false_positive_rate(num_bits=8, num_items=8, num_hashes=2) == pytest.approx((1 - math.e**-2) ** 2)


@given(st.integers(1, 10**6), st.floats(2, 40))
def test_no_whole_number_of_hashes_beats_both_neighbors_of_the_optimum(num_items, bits_per_item):
    num_bits = int(num_items * bits_per_item)
    optimum = optimal_num_hashes(num_bits, num_items)
    near = {max(1, math.floor(optimum)), max(1, math.ceil(optimum))}
    best = min(range(1, 60), key=lambda num_hashes: false_positive_rate(num_bits, num_items, num_hashes))
    rates = [false_positive_rate(num_bits, num_items, num_hashes) for num_hashes in near]
    assert min(rates) == pytest.approx(false_positive_rate(num_bits, num_items, best))


@given(st.integers(0, 10**6), st.floats(1e-12, 0.999))
def test_sized_filter_keeps_to_the_rate(num_items, rate):
    seen = BloomFilter.sized_for(num_items, rate)
    assert false_positive_rate(seen.num_bits, num_items, seen.num_hashes) <= rate * (1 + 1e-9)


@given(st.integers(1, 10**6), st.floats(1e-12, 0.5))
def test_sized_filter_spends_few_bits(num_items, rate):
    # log2(1/rate) / ln 2 bits a key are the least; a whole number of hashes costs a little, whole words too.
    least_num_bits = num_items * math.log2(1 / rate) / math.log(2)
    assert BloomFilter.sized_for(num_items, rate).num_bits <= 1.1 * least_num_bits + 64


def test_bits_are_not_bytes():
    # 1 % at 1000 keys is 9.6 bits a key: 9,600 bits, 1,200 bytes
    seen = BloomFilter.sized_for(1000, 0.01)
    assert seen.num_bits == 9600
    assert len(seen.to_bytes()) == pytest.approx(1200, abs=40)


# Members


def test_empty_filter_holds_nothing_and_takes_an_empty_batch():
    seen = BloomFilter(64, 3)
    none = np.array([], np.uint64)
    seen.add(none)
    assert seen.contains(none).tolist() == []
    assert num_found(seen, np.arange(1000, dtype=np.uint64)) == 0


@given(key_sets, key_sets, shapes)
def test_every_key_put_in_is_found(first, second, shape):
    seen = filter_of(first, shape)
    seen.add(as_keys(second))
    assert seen.contains(as_keys(first | second)).all()


@given(key_sets, key_sets)
def test_a_wide_filter_answers_as_a_set_does(members, others):
    seen = filter_of(members, (2**20, 20))
    asked = as_keys(members | others)
    assert seen.contains(asked).tolist() == [key in members for key in asked.tolist()]


@given(st.lists(st.integers(0, 2**64 - 1), max_size=100), st.integers(0, 100), shapes)
def test_order_repeats_and_batches_do_not_matter(keys, cut, shape):
    in_two = BloomFilter(*shape)
    in_two.add(np.array(keys[::-1] + keys[:cut], np.uint64))
    in_two.add(np.array(keys[cut:], np.uint64))
    assert in_two.to_bytes() == filter_of(set(keys), shape).to_bytes()


@pytest.mark.parametrize("stride", [1, 64, 2**20, 2**32, 2**44])
@pytest.mark.parametrize("rate", [0.1, 0.01, 0.001])
def test_measured_rate_is_that_of_the_formula_for_regular_keys_too(stride, rate):
    num_items, num_asked = 20_000, 400_000
    seen = BloomFilter.sized_for(num_items, rate)
    keys = np.arange(num_items + num_asked, dtype=np.uint64) * np.uint64(stride)
    seen.add(keys[:num_items])
    expected = num_asked * false_positive_rate(seen.num_bits, num_items, seen.num_hashes)
    # Five standard deviations of the count, and 10 % for double hashing and how full this filter came out.
    assert abs(num_found(seen, keys[num_items:]) - expected) < 5 * math.sqrt(expected) + 0.1 * expected


def test_small_filters_with_many_hashes_do_not_confuse_keys():
    asked = np.arange(10_000, dtype=np.uint64)
    # One key in 64 bits with 13 hashes: (1 - exp(-13/64))^13 is below 1e-9, over two million questions.
    num_wrong = sum(num_found(filter_of({key}, (64, 13)), asked[asked != key]) for key in range(200))
    assert num_wrong <= 2


def test_places_are_spread_evenly_over_words_and_bits():
    seen = BloomFilter(64 * 1000, 1)
    seen.add(np.arange(32_000, dtype=np.uint64))
    words = np.frombuffer(seen.to_bytes()[24:-4], "<u8")
    is_set = np.unpackbits(words.view(np.uint8), bitorder="little").reshape(1000, 64)
    # Half as many keys as bits: each is set with chance 1 - exp(-1/2) = 0.3935.
    assert is_set.mean() == pytest.approx(0.3935, abs=0.01)
    assert np.abs(is_set.mean(axis=0) - 0.3935).max() < 5 * math.sqrt(0.24 / 1000)
    assert np.abs(is_set.mean(axis=1) - 0.3935).max() < 5 * math.sqrt(0.24 / 64)


def test_no_key_has_all_its_hashes_in_one_place():
    for key in range(100):
        words = np.frombuffer(filter_of({key}, (2**16, 8)).to_bytes()[24:-4], np.uint8)
        assert np.unpackbits(words).sum() >= 7


# Merging


@given(key_sets, key_sets, shapes)
def test_merged_filter_is_the_filter_of_the_union(first, second, shape):
    left, right = filter_of(first, shape), filter_of(second, shape)
    before = left.to_bytes()
    assert (left | right).to_bytes() == filter_of(first | second, shape).to_bytes()
    assert left.to_bytes() == before
    left.merge(right)
    assert left.to_bytes() == filter_of(first | second, shape).to_bytes()


@pytest.mark.parametrize("shape", [(2048, 5), (1024, 4)])
def test_filters_of_other_shape_are_not_merged(shape):
    with pytest.raises(SettingsError, match=r"num_bits=1024, num_hashes=5\)"):
        filter_of({1}) | BloomFilter(*shape)


# Refused shapes


@pytest.mark.parametrize(
    "num_bits, num_hashes", [(0, 1), (-64, 1), (MAX_NUM_BITS + 1, 1), (64, 0), (64, 1001)]
)
def test_shapes_that_cannot_work_are_refused(num_bits, num_hashes):
    with pytest.raises(SettingsError, match="it must be from 1 to"):
        BloomFilter(num_bits, num_hashes)


@pytest.mark.parametrize("num_items, rate", [(-1, 0.1), (10, 0), (10, 1), (10, math.nan)])
def test_sizes_that_cannot_work_are_refused(num_items, rate):
    with pytest.raises(SettingsError, match="it must be"):
        BloomFilter.sized_for(num_items, rate)


def test_bits_are_rounded_up_to_whole_words():
    assert [BloomFilter(num_bits, 1).num_bits for num_bits in (1, 64, 65)] == [64, 64, 128]


def test_keys_that_are_not_unsigned_are_refused():
    with pytest.raises(TypeError):
        BloomFilter(64, 1).add(np.array([-1, 2]))
