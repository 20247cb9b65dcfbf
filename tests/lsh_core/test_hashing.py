"""The numbers of the hashing scheme, fixed, and what always holds of them.

A change of any number in ``test_scheme_*`` must raise SCHEME: files made under the old numbers
would else be read as if they were made under the new.
"""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsh_core import Settings, document_keys, shingle_blocks, signature
from lsh_core.hashing import (
    SCHEME,
    digest64,
    digests64,
    digests128,
    mix64,
    range_numbers,
    scramble,
    splitmix64,
    text_digest,
)
from tests import oracles
from tests.strategies import uint64s

SENTENCE = "The way of a document."


def as_hashes(values: list[int]) -> np.ndarray:
    return np.array(values, np.uint64)


def hashes_of(text: str, **changes) -> list[int]:
    """The shingles of one normalized text, in their order."""
    blocks = list(shingle_blocks([text.encode()], Settings(**changes)))
    return np.concatenate([block.hashes for block in blocks]).tolist()


# The scheme


def test_scheme_number():
    assert SCHEME == 1


@pytest.mark.parametrize(("seed", "numbers"), [
    (0, [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]),
    (1, [0x910A2DEC89025CC1, 0xBEEB8DA1658EEC67, 0xF893A2EEFB32555E]),
    (2**64 - 1, [0xE4D971771B652C20, 0xE99FF867DBF682C9, 0x382FF84CB27281E9]),
])
def test_scheme_of_coefficients(seed, numbers):
    assert splitmix64(seed, 3).tolist() == numbers


def test_scheme_of_mix64():
    mixed = [0, 0x17FB89EE9DCAB42A, 0xC99D164ADDFF6DC2, 0xCE457292FBF6739D, 0x1F9B169DEF102DCA]
    assert mix64(as_hashes([0, 1, 2, 2**32, 2**64 - 1])).tolist() == mixed


def test_scheme_of_words_and_texts():
    assert digest64(b"word") == 10776770685243991114
    assert digest64("wört".encode()) == 6160710044134352612
    assert text_digest(b"text") == "006515930d84f1dd770e9bbb3a96d0d1"


@pytest.mark.parametrize(("shingle", "text", "numbers"), [
    ("char:1", "ab", [0xA462A1BA48464BF4, 0xC3A248A3DE404798]),
    ("char:3", "abcd", [0x136A31ACCC7D0AAC, 0xE0935A5118C75C8D]),
    ("char:8", "abcdefghi", [0x90F42E26055B9725, 0x453AEC8912A7ED57]),
    ("char:9", "abcdefghij", [0x6FB577B6E8FC0727, 0xFEC4EEF7761C8B3A]),
    ("char:20", "the quick brown fox j", [0x85E3819418664D7C, 0x7D1AE101957205E0]),
    ("char:9", "ab", [0xA9AB4771C4EFBE3B]),
    ("char:3", "café", [0x5C4EFA9461410061, 0xAA13E85AC7F4542E]),
    ("char:9", "naïve café", [0x5EB750ACAB0CAE17, 0xC1D79FDDE02AB4E2]),
    ("char:3", "aé猫😀", [0x8EA73DE3A8CD3076, 0xE1FBBC92BBC7BFAE]),
    ("char:9", "ab猫defghij", [0x07A3120C712981B9, 0x9181C98A6BAD34A1]),
    ("word:1", "one two", [0x86A5C189C5695988, 0x3329F614B8D333B2]),
    ("word:3", "one two three four", [0xD4979E14F91B4700, 0x195B456890AB1C20]),
    ("word:3", "one two", [0x126E6E6DEBCE425F]),
])
def test_scheme_of_shingles(shingle, text, numbers):
    assert hashes_of(text, shingle=shingle) == numbers
    assert hashes_of(text, shingle=shingle, shingle_bits=32) == [number >> 32 for number in numbers]


def test_scheme_of_given_integers():
    numbers = [0xB381129B65472401, 0xECB9A082F56838B7, 0x062D8DC593ADDFC3]
    assert hashes_of("0 1 18446744073709551615", format="shingled") == numbers


@pytest.mark.parametrize(("family", "seed", "values"), [
    ("sketch", 1, [7227287, 9792117, 4988429, 5414762, 1116248, 11079206]),
    ("sketch", 2**64 - 1, [1297381, 5052216, 4458411, 33621685, 2653432, 2301224]),
    ("linear", 1, [167214022, 693159963, 278749825, 276984745, 358484543, 265882932]),
    ("linear", 2**64 - 1, [50639261, 87995572, 325996261, 197106896, 61553252, 493620475]),
])
def test_scheme_of_signatures(family, seed, values):
    settings = Settings(minhash=family, seed=seed, bands=2, rows=3)
    assert signature(SENTENCE, settings).tolist() == values


@pytest.mark.parametrize(("family", "seed", "num_buckets", "keys"), [
    ("sketch", 1, None, [0xF352DA52A9F55C28, 0x72B5A2CF548D235A]),
    ("sketch", 1, 1000, [0xE2E5482F9064FF08, 0x3E8984EC76295F8B]),
    ("sketch", 2**64 - 1, None, [0xAA758135DEE0B2FC, 0xDA55113549B62D0C]),
    ("linear", 1, None, [0x7CB9062EE336EAF0, 0x190BE03518CFE3B6]),
    ("linear", 2**64 - 1, 1000, [0x213B362BCF3C3508, 0x3F4DBBEC16A2C451]),
])
def test_scheme_of_band_keys(family, seed, num_buckets, keys):
    settings = Settings(minhash=family, seed=seed, num_buckets=num_buckets, bands=2, rows=3)
    assert document_keys(SENTENCE, settings).tolist() == keys


# What always holds


@given(uint64s, st.integers(0, 50))
def test_splitmix64_is_the_recurrence(seed, count):
    assert splitmix64(seed, count).tolist() == oracles.splitmix64(seed, count)


@given(uint64s, st.integers(0, 20), st.integers(0, 20))
def test_more_coefficients_begin_with_fewer(seed, fewer, more):
    assert splitmix64(seed, fewer + more)[:fewer].tolist() == splitmix64(seed, fewer).tolist()


def undo_round(mixed: int, multiplier: int) -> int:
    """The value that one round of multiply and fold made into ``mixed``."""
    return (mixed ^ mixed >> 32) * pow(multiplier, -1, 2**64) % 2**64


@given(uint64s)
def test_scramble_and_mix64_can_be_undone(value):
    values = as_hashes([value])
    golden, multiplier = 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93
    assert undo_round(int(scramble(values.copy())[0]), golden) == value
    assert undo_round(undo_round(int(mix64(values)[0]), multiplier), golden) == value
    assert values.tolist() == [value]


def test_scramble_works_in_place():
    values = as_hashes([1, 2])
    assert scramble(values) is values
    assert values.tolist() != [1, 2]


def test_each_output_bit_of_mix64_depends_on_each_input_bit():
    numbers = splitmix64(3, 2000)
    for bit in range(64):
        flipped = mix64(numbers) ^ mix64(numbers ^ np.uint64(1 << bit))
        times_changed = [int((flipped >> np.uint64(i) & np.uint64(1)).sum()) for i in range(64)]
        assert min(times_changed) > 0, bit


@given(st.binary(max_size=40), st.integers(1, 64))
def test_digest_is_the_beginning_of_blake2b(text, num_bytes):
    assert text_digest(text, num_bytes) == hashlib.blake2b(text).digest()[:num_bytes].hex()


@given(st.lists(uint64s, max_size=20), st.one_of(st.integers(1, 9), st.integers(1, 2**32 - 1)))
def test_ranges_are_in_order_and_of_equal_size(hashes, num_ranges):
    numbers = range_numbers(np.array(sorted(hashes), np.uint64), num_ranges).tolist()
    assert numbers == [(value >> 32) * num_ranges >> 32 for value in sorted(hashes)]
    assert numbers == sorted(numbers) and all(0 <= number < num_ranges for number in numbers)


@given(st.lists(st.binary(max_size=20)))
def test_digests_of_many_are_those_of_each(contents):
    assert digests64(contents).tolist() == [digest64(content) for content in contents]
    found = digests128(contents)
    assert (found.shape, found.dtype) == ((len(contents),), "S16")
    assert found.tobytes() == b"".join(hashlib.blake2b(content, digest_size=16).digest() for content in contents)
