"""Shingles as flat arrays of 64-bit hashes, for finders that work in numpy. Products overflow, as is meant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from benchmarks.texts import SHINGLE_CHARS

Hashes = npt.NDArray[np.uint64]
Ints = npt.NDArray[np.int64]

BATCH_CHARS = 1 << 17
"""Characters of texts that are hashed at a time: their arrays stay in the cache."""

HALF = np.uint64(32)
ODD_NUMBERS = np.random.default_rng(9).integers(0, 2**63, SHINGLE_CHARS + 2, np.uint64) * np.uint64(2) + np.uint64(1)
SPREAD, LAST = ODD_NUMBERS[-2:]
NUM_PACKED = 8
"""Characters of ASCII in one 64-bit word: all of a shingle but the last."""


class Windows(NamedTuple):
    """The shingles of some texts, repeats included: ``counts[i]`` hashes of text ``rows[i]``, one after another."""

    rows: Ints
    counts: Ints
    hashes: Hashes

    def by_text(self) -> Iterator[tuple[int, Hashes]]:
        """Each row with its own hashes."""
        ends = np.cumsum(self.counts)
        for row, start, end in zip(self.rows.tolist(), (ends - self.counts).tolist(), ends.tolist()):
            yield row, self.hashes[start:end]


def window_batches(texts: Sequence[str]) -> Iterator[Windows]:
    """The shingles of all prepared texts; their rows come in batches, ASCII texts of a batch first."""
    first = 0
    while first < len(texts):
        end, num_chars = first, 0
        while end < len(texts) and num_chars < BATCH_CHARS:
            num_chars += len(texts[end])
            end += 1
        rows = range(first, end)
        ascii_rows = [row for row in rows if texts[row].isascii()]
        wide_rows = [row for row in rows if not texts[row].isascii()]
        parts = [_ascii_windows(texts, ascii_rows)] if ascii_rows else []
        parts += [_wide_windows(texts, wide_rows)] if wide_rows else []
        yield Windows(*map(np.concatenate, zip(*parts)))
        first = end


def _ascii_windows(texts: Sequence[str], rows: list[int]) -> Windows:
    # No text holds a NUL: one that is padded is no other's shingle.
    padded = [texts[row].ljust(SHINGLE_CHARS, "\0") for row in rows]
    codes = np.frombuffer("".join(padded).encode(), np.uint8)
    packed: Hashes = np.ndarray((len(codes) - NUM_PACKED,), "<u8", codes, strides=(1,))
    return _inside(rows, padded, _hashed(packed.astype(np.uint64), codes))


def _wide_windows(texts: Sequence[str], rows: list[int]) -> Windows:
    """Shingles of ASCII alone get the hash that they have in other texts."""
    padded = [texts[row].ljust(SHINGLE_CHARS, "\0") for row in rows]
    codes = np.frombuffer("".join(padded).encode("utf-32-le"), "<u4").astype(np.uint64)
    num_windows = len(codes) - NUM_PACKED
    packed, hashed, largest = (np.zeros(num_windows, np.uint64) for _ in range(3))
    for place in range(NUM_PACKED):
        character = codes[place : place + num_windows]
        packed |= character << np.uint64(8 * place)
        hashed += character * ODD_NUMBERS[place]
        np.maximum(largest, character, out=largest)
    return _inside(rows, padded, _hashed(np.where(largest < 128, packed, hashed), codes))


def _hashed(packed: Hashes, codes: npt.NDArray[np.generic]) -> Hashes:
    """Hashes of eight characters, in place, with the ninth."""
    packed *= SPREAD
    packed ^= packed >> HALF
    packed += codes[NUM_PACKED:].astype(np.uint64) * LAST
    packed *= SPREAD
    packed ^= packed >> HALF
    return packed


def _inside(rows: list[int], padded: list[str], hashes: Hashes) -> Windows:
    """Without the windows that run from one text into the next."""
    lengths = np.fromiter(map(len, padded), np.int64, len(padded))
    is_inside = np.ones(len(hashes), bool)
    is_inside[(np.cumsum(lengths)[:-1, None] - np.arange(1, SHINGLE_CHARS)).ravel()] = False
    return Windows(np.array(rows), lengths - NUM_PACKED, hashes[is_inside])


def distinct(hashes: Hashes) -> Hashes:
    """Ascending, without repeats."""
    ordered = np.sort(hashes)
    is_first = np.ones(len(ordered), bool)
    np.not_equal(ordered[1:], ordered[:-1], out=is_first[1:])
    return ordered[is_first]


def pairs_of_equal(values: Hashes, max_pairs: int) -> Iterator[tuple[Ints, Ints]]:
    """All pairs of positions of equal values in an ascending array, in blocks of about so many.

    >>> [(a.tolist(), b.tolist()) for a, b in pairs_of_equal(np.array([3, 5, 5, 5], np.uint64), 10)]
    [([1, 1, 2], [2, 3, 3])]
    """
    num_after = np.searchsorted(values, values, side="right") - np.arange(len(values)) - 1
    positions = np.flatnonzero(num_after)
    num_after = num_after[positions]
    block_of = np.cumsum(num_after) // max_pairs
    for block in np.split(np.arange(len(positions)), np.flatnonzero(np.diff(block_of)) + 1):
        counts = num_after[block]
        a = np.repeat(positions[block], counts)
        starts = np.cumsum(counts) - counts
        yield a, a + 1 + np.arange(len(a)) - np.repeat(starts, counts)


class SharedCounter:
    """Counts the shingles that one set shares with others: a hash table that holds one set at a time."""

    def __init__(self, max_size: int) -> None:
        # Some room, so that few places are wanted twice.
        num_bits = max(10, (64 * max_size).bit_length())
        self.shift = np.uint64(64 - num_bits)
        self.table = np.zeros(1 << num_bits, np.uint64)

    def shared(self, one: Hashes, others: Sequence[Hashes]) -> Ints:
        """How many members of ``one`` each of the others has: (len(others),)."""
        places = one >> self.shift
        self.table[places] = one
        crowded_out = one[self.table[places] != one]
        joined = np.concatenate(others)
        is_shared = self.table[joined >> self.shift] == joined
        if len(crowded_out):
            is_shared |= np.isin(joined, crowded_out)
        # A hash of zero looks like an empty place.
        is_shared &= (joined != 0) | (one[0] == 0)
        self.table[places] = 0
        starts = np.cumsum([0, *map(len, others[:-1])])
        return np.add.reduceat(is_shared, starts, dtype=np.int64)
