from __future__ import annotations

import struct
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsh_core.bloom import BloomFilter, CorruptFilter
from lsh_core.errors import LookalikeError

key_sets = st.sets(st.integers(0, 2**64 - 1), max_size=200)
shapes = st.tuples(st.integers(1, 5000), st.integers(1, 12))


def as_keys(keys) -> np.ndarray:
    return np.array(sorted(keys), np.uint64)


def filter_of(keys, shape=(1024, 5)) -> BloomFilter:
    seen = BloomFilter(*shape)
    seen.add(as_keys(keys))
    return seen


def plain_mix(value: int) -> int:
    """mix64 with Python's integers."""
    for multiplier in (0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93):
        value = value * multiplier % 2**64
        value ^= value >> 32
    return value


def plain_places(key: int, num_bits: int, num_hashes: int) -> set[int]:
    """The bits of one key: double hashing, mixed; the word by the high half, the bit by the low six bits."""
    start = plain_mix(key ^ 0xD6E8FEB86659FD93)
    step = plain_mix(start ^ 0x9E3779B97F4A7C15) | 1
    hashes = [plain_mix((start + i * step) % 2**64) for i in range(num_hashes)]
    return {(value >> 32) * (num_bits // 64) // 2**32 * 64 + value % 64 for value in hashes}


@given(key_sets, shapes)
def test_bytes_come_back_as_the_same_filter(keys, shape):
    seen = filter_of(keys, shape)
    data = seen.to_bytes()
    for restored in (BloomFilter.from_bytes(data), BloomFilter.from_bytes(memoryview(data))):
        assert (restored.num_bits, restored.num_hashes) == (seen.num_bits, seen.num_hashes)
        assert restored.to_bytes() == data
        assert restored.contains(as_keys(keys)).all()


def test_restored_filter_takes_more_keys_and_leaves_the_bytes_alone():
    data = filter_of({1, 2}).to_bytes()
    copy = bytes(data)
    restored = BloomFilter.from_bytes(data)
    restored.add(as_keys({3}))
    assert restored.to_bytes() == filter_of({1, 2, 3}).to_bytes()
    assert data == copy


def test_bytes_are_laid_out_as_documented():
    data = filter_of(range(10), (128, 3)).to_bytes()
    assert struct.unpack_from("<4sHHQQ", data) == (b"LKBF", 1, 1, 3, 128)
    assert len(data) == 24 + 128 // 8 + 4
    assert struct.unpack("<I", data[-4:]) == (zlib.crc32(data[:-4]),)


@given(key_sets, shapes)
def test_bytes_are_those_of_plain_integers(keys, shape):
    seen = filter_of(keys, shape)
    places = set().union(*(plain_places(key, seen.num_bits, seen.num_hashes) for key in keys))
    bits = sum(2**place for place in places)
    assert seen.to_bytes()[24:-4] == bits.to_bytes(seen.num_bits // 8, "little")


def test_every_changed_byte_is_detected():
    data = filter_of({1, 2, 3}, (128, 3)).to_bytes()
    for place in range(len(data)):
        for flipped in (1, 128, 255):
            changed = bytearray(data)
            changed[place] ^= flipped
            with pytest.raises(CorruptFilter):
                BloomFilter.from_bytes(bytes(changed))


def test_every_cut_and_every_addition_is_detected():
    data = filter_of({1, 2, 3}, (128, 3)).to_bytes()
    for length in range(len(data)):
        with pytest.raises(CorruptFilter, match=r"cut|bytes"):
            BloomFilter.from_bytes(data[:length])
    with pytest.raises(CorruptFilter, match="has 45 bytes, not 44"):
        BloomFilter.from_bytes(data + b"\0")


def rewritten(**fields) -> bytes:
    """A filter's bytes with other fields in the header and a checksum that fits them."""
    header = {"magic": b"LKBF", "version": 1, "scheme": 1, "num_hashes": 3, "num_bits": 128, **fields}
    content = struct.pack("<4sHHQQ", *header.values()) + bytes(16)
    return content + struct.pack("<I", zlib.crc32(content))


@pytest.mark.parametrize(
    "fields, message",
    [
        ({"magic": b"PK\3\4"}, "not a Bloom filter"),
        ({"version": 2}, "version 2, scheme 1; only version 1"),
        ({"scheme": 9}, "version 1, scheme 9; only version 1, scheme 1"),
        ({"num_bits": 192}, "of 192 bits has 44 bytes, not 52"),
        ({"num_bits": 129}, "of 129 bits"),
        ({"num_hashes": 0}, "num_hashes is 0"),
    ],
)
def test_whole_bytes_of_another_kind_are_refused(fields, message):
    assert BloomFilter.from_bytes(rewritten()).num_bits == 128
    with pytest.raises(LookalikeError, match=message):
        BloomFilter.from_bytes(rewritten(**fields))
