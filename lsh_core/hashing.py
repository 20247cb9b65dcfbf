"""Fixed integer hashing: the same numbers on every machine, engine and Python.

Arithmetic is modulo 2**64; that unsigned products overflow is meant throughout.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

Hashes = npt.NDArray[np.uint64]

# A change of any hash is a change of scheme: files made under another one are refused.
SCHEME = 1

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
MULTIPLIER = np.uint64(0xD6E8FEB86659FD93)
HALF = np.uint64(32)


def splitmix64(seed: int, count: int) -> Hashes:
    """The first ``count`` numbers of the splitmix64 recurrence, the source of every coefficient.

    >>> hex(splitmix64(0, 1)[0])
    '0xe220a8397b1dcdaf'
    """
    state = np.arange(1, count + 1, dtype=np.uint64) * GOLDEN + np.array([seed], np.uint64)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))


def scramble(values: Hashes) -> Hashes:
    """One cheap bijective round over an array, in place: multiply, then fold the high half down."""
    values *= GOLDEN
    values ^= values >> HALF
    return values


def mix64(values: Hashes) -> Hashes:
    """A bijection of 64 bits whose every output bit depends on every input bit; a new array.

    >>> len(set(mix64(np.arange(1000, dtype=np.uint64)).tolist()))
    1000
    """
    mixed = scramble(values.copy())
    mixed *= MULTIPLIER
    mixed ^= mixed >> HALF
    return mixed


def range_numbers(hashes: Hashes, num_ranges: int) -> Hashes:
    """In which of equal ranges, fewer than 2**32, each hash lies.

    >>> range_numbers(np.array([0, 2**62, 2**63, 2**64 - 1], np.uint64), 4).tolist()
    [0, 1, 2, 3]
    """
    return (hashes >> HALF) * np.uint64(num_ranges) >> HALF


def text_digest(text: bytes, num_bytes: int = 16) -> str:
    """The first ``num_bytes`` of a text's hash in hex: the id of a document that has none.

    >>> text_digest(b"", 4)
    '786a02f7'
    """
    return hashlib.blake2b(text).hexdigest()[: 2 * num_bytes]


def digest64(content: bytes) -> int:
    """64 bits of a word, a text or an id."""
    return int.from_bytes(hashlib.blake2b(content, digest_size=8).digest(), "little")


def digests64(contents: Iterable[bytes]) -> Hashes:
    """``digest64`` of each."""
    joined = b"".join([hashlib.blake2b(content, digest_size=8).digest() for content in contents])
    return np.frombuffer(joined, "<u8").astype(np.uint64)


def digests128(contents: Iterable[bytes]) -> npt.NDArray[np.bytes_]:
    """128 bits of each, where two that are equal by chance could not be told apart later: (n,) S16."""
    return np.frombuffer(b"".join([hashlib.blake2b(content, digest_size=16).digest() for content in contents]), "S16")
