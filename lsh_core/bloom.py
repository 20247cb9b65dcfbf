"""Bloom filters: which 64-bit keys were seen, in a few bits a key and without a false negative."""

from __future__ import annotations

import math
import struct
import zlib

import numpy as np
import numpy.typing as npt

from lsh_core.errors import LookalikeError, SettingsError
from lsh_core.hashing import GOLDEN, HALF, MULTIPLIER, SCHEME, Hashes, mix64

MAGIC = b"LKBF"
VERSION = 1
# magic, version, scheme of the hashes, num_hashes, num_bits; then the words, then a CRC-32 of all that.
HEADER = struct.Struct("<4sHHQQ")
CHECKSUM = struct.Struct("<I")

WORD_BITS = 64
WORD_BYTES = WORD_BITS // 8
# A word is picked with 32 bits of hash, four times as many as there can be words.
MAX_NUM_BITS = 2**30 * WORD_BITS
MAX_NUM_HASHES = 1000


class CorruptFilter(LookalikeError):
    """Bytes that are not a whole Bloom filter of this version."""


def optimal_num_hashes(num_bits: float, num_items: int) -> float:
    """(m/n) ln 2, the number of hashes with the lowest false-positive rate, not yet rounded.

    >>> f"{optimal_num_hashes(num_bits=1000, num_items=100):.2f}"
    '6.93'
    """
    return num_bits / num_items * math.log(2)


def false_positive_rate(num_bits: int, num_items: int, num_hashes: int) -> float:
    """(1 - e^(-kn/m))^k, the share of absent keys that are taken for present.

    >>> f"{false_positive_rate(num_bits=1000, num_items=100, num_hashes=7):.4f}"
    '0.0082'
    """
    return float((-math.expm1(-num_hashes * num_items / num_bits)) ** num_hashes)


class BloomFilter:
    """A set of uint64 keys that may say yes to a key it has not, and never no to one it has.

    >>> seen = BloomFilter.sized_for(num_items=3, false_positive_rate=0.001)
    >>> seen.add(np.array([2, 3, 5], np.uint64))
    >>> seen.contains(np.array([1, 2, 3, 4, 5], np.uint64)).tolist()
    [False, True, True, False, True]
    """

    def __init__(self, num_bits: int, num_hashes: int) -> None:
        """An empty filter; ``num_bits`` is rounded up to whole words of 64."""
        if not 1 <= num_bits <= MAX_NUM_BITS:
            raise SettingsError(f"num_bits is {num_bits}; it must be from 1 to {MAX_NUM_BITS}")
        if not 1 <= num_hashes <= MAX_NUM_HASHES:
            raise SettingsError(f"num_hashes is {num_hashes}; it must be from 1 to {MAX_NUM_HASHES}")
        self.num_hashes = num_hashes
        self._words: Hashes = np.zeros(-(-num_bits // WORD_BITS), np.uint64)

    @classmethod
    def sized_for(cls, num_items: int, false_positive_rate: float) -> BloomFilter:
        """An empty filter that keeps to the rate when it holds ``num_items`` different keys.

        >>> BloomFilter.sized_for(num_items=1000, false_positive_rate=0.01)
        BloomFilter(num_bits=9600, num_hashes=7)
        """
        if num_items < 0:
            raise SettingsError(f"num_items is {num_items}; it must be 0 or more")
        if not 0 < false_positive_rate < 1:
            raise SettingsError(
                f"false_positive_rate is {false_positive_rate}; it must be above 0 and below 1"
            )
        num_items = max(1, num_items)
        ideal_num_bits = -num_items * math.log(false_positive_rate) / math.log(2) ** 2
        num_hashes = max(1, round(optimal_num_hashes(ideal_num_bits, num_items)))
        # The formula of the rate solved for the bits, as rounding the hashes has cost a little.
        share_of_set_bits = false_positive_rate ** (1 / num_hashes)
        num_bits = math.ceil(-num_hashes * num_items / math.log1p(-share_of_set_bits))
        return cls(num_bits, num_hashes)

    @property
    def num_bits(self) -> int:
        """m: the bits of the filter, set or not."""
        return len(self._words) * WORD_BITS

    def add(self, keys: Hashes) -> None:
        """Put all keys (n,) in."""
        starts, steps = _start_and_step(keys)
        for i in range(self.num_hashes):
            word_numbers, masks = self._places(_nth_hashes(starts, steps, i))
            np.bitwise_or.at(self._words, word_numbers, masks)

    def contains(self, keys: Hashes) -> npt.NDArray[np.bool_]:
        """Which keys (n,) were put in, or seem to have been."""
        starts, steps = _start_and_step(keys)
        rows = np.arange(len(keys))
        for i in range(self.num_hashes):
            # Only keys with all bits set so far are asked again: an absent key costs two looks, not k.
            word_numbers, masks = self._places(_nth_hashes(starts[rows], steps[rows], i))
            rows = rows[(self._words[word_numbers] & masks) != 0]
        is_present = np.zeros(len(keys), bool)
        is_present[rows] = True
        return is_present

    def merge(self, other: BloomFilter) -> None:
        """Put in all that the other filter, of the same shape, holds."""
        if (self.num_bits, self.num_hashes) != (other.num_bits, other.num_hashes):
            raise SettingsError(f"{other} cannot be merged into {self}; bits and hashes must be the same")
        self._words |= other._words

    def __or__(self, other: BloomFilter) -> BloomFilter:
        """A new filter of the keys of both."""
        union = BloomFilter(self.num_bits, self.num_hashes)
        union.merge(self)
        union.merge(other)
        return union

    def __repr__(self) -> str:
        return f"BloomFilter(num_bits={self.num_bits}, num_hashes={self.num_hashes})"

    def to_bytes(self) -> bytes:
        """The filter as bytes, the same on every machine."""
        header = HEADER.pack(MAGIC, VERSION, SCHEME, self.num_hashes, self.num_bits)
        content = header + self._words.astype("<u8").tobytes()
        return content + CHECKSUM.pack(zlib.crc32(content))

    @classmethod
    def from_bytes(cls, data: bytes | memoryview) -> BloomFilter:
        """The inverse of ``to_bytes``; bytes that are cut, changed or of another version are refused."""
        num_bits, num_hashes = _checked_shape(memoryview(data))
        restored = cls(num_bits, num_hashes)
        restored._words[:] = np.frombuffer(data, "<u8", num_bits // WORD_BITS, HEADER.size)
        return restored

    def _places(self, hashes: Hashes) -> tuple[npt.NDArray[np.int64], Hashes]:
        """The word of each hash, from its high half by multiply-shift, and the bit, from its low end."""
        word_numbers = ((hashes >> HALF) * np.uint64(len(self._words))) >> HALF
        return word_numbers.astype(np.int64), np.uint64(1) << (hashes & np.uint64(WORD_BITS - 1))


def _start_and_step(keys: Hashes) -> tuple[Hashes, Hashes]:
    """Two hashes of each key, for double hashing; the step is odd, so that it never stands still."""
    starts = mix64(keys ^ MULTIPLIER)
    return starts, mix64(starts ^ GOLDEN) | np.uint64(1)


def _nth_hashes(starts: Hashes, steps: Hashes, i: int) -> Hashes:
    """Hash i of each key: start + i x step, mixed.

    Unmixed, the places would be an arithmetic progression, and a small filter has so few of those
    that two keys soon share one, however many hashes there are.
    """
    return mix64(starts + np.uint64(i) * steps)


def _checked_shape(data: memoryview) -> tuple[int, int]:
    """(num_bits, num_hashes) of a filter's bytes, once nothing is wrong with them."""
    if len(data) < HEADER.size + CHECKSUM.size:
        raise CorruptFilter(f"Bloom filter is cut: {len(data)} bytes are less than its header")
    magic, version, scheme, num_hashes, num_bits = HEADER.unpack_from(data)
    if magic != MAGIC:
        raise CorruptFilter(f"not a Bloom filter: it begins with {magic!r}, not with {MAGIC!r}")
    if (version, scheme) != (VERSION, SCHEME):
        raise CorruptFilter(
            f"Bloom filter has version {version}, scheme {scheme}; "
            f"only version {VERSION}, scheme {SCHEME} can be read"
        )
    size_bytes = HEADER.size + num_bits // WORD_BITS * WORD_BYTES + CHECKSUM.size
    if num_bits % WORD_BITS or len(data) != size_bytes:
        raise CorruptFilter(f"Bloom filter of {num_bits} bits has {len(data)} bytes, not {size_bytes}")
    (checksum,) = CHECKSUM.unpack_from(data, len(data) - CHECKSUM.size)
    if zlib.crc32(data[: -CHECKSUM.size]) != checksum:
        raise CorruptFilter("Bloom filter has changed since it was written: its checksum differs")
    return num_bits, num_hashes
