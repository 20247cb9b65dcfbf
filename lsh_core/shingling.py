"""Normalized texts become shingles: 64-bit hashes of all windows of k characters or words.

Work goes in blocks that stay in the processor's cache, and a long document is cut, so the
arrays of hashes do not grow with a document. A shingle's hash depends on its window alone: the
fast way for ASCII and the general way give the same number for the same characters.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Callable, NamedTuple

import numpy as np
import numpy.typing as npt

from lsh_core.hashing import GOLDEN, HALF, MULTIPLIER, Hashes, digest64, scramble
from lsh_core.normalize import normalize_texts
from lsh_core.ragged import Ints, blocks, distinct
from lsh_core.settings import Settings

BLOCK_UNITS = 1 << 17
"""Characters (or words, or integers) of a block."""

MAX_SHARE_REPEATED = 0.1

PACK = 8
"""ASCII characters that fit into one 64-bit word."""

Units = npt.NDArray[Any]
"""What windows run over: uint8 ASCII codes, uint32 code points, or uint64 hashes of words."""


class ShingleBlock(NamedTuple):
    """Shingles of some documents: ``counts[i]`` hashes of document ``rows[i]``, one after another.

    Repeats are not removed, and some are added. A long document goes on in the next block, under the same row.
    """

    rows: Ints
    counts: Ints
    hashes: Hashes


def shingle_set(text: str, settings: Settings) -> Hashes:
    """The distinct shingles of one raw text, ascending.

    >>> len(shingle_set("abcdabd", Settings(shingle="char:2")))
    5
    >>> len(shingle_set("This LSH Project is good", Settings(shingle="word:3")))
    3
    """
    parts = [block.hashes for block in shingle_blocks(normalize_texts([text], settings), settings)]
    return distinct(np.concatenate([*parts, np.empty(0, np.uint64)]))


def shingle_blocks(texts: Sequence[bytes], settings: Settings) -> Iterator[ShingleBlock]:
    """The shingles of normalized texts; every text that is not empty has at least one."""
    k = 1 if settings.shingle_kind == "given" else settings.shingle_size
    for alphabet in _alphabets(texts, settings.shingle_kind, k):
        for block in _window_blocks(alphabet, k):
            if settings.shingle_bits == 32:
                np.right_shift(block.hashes, HALF, out=block.hashes)
            yield block


def window_hashes(units: Units, k: int) -> Hashes:
    """Hash every window of k units: (m,) of any unit type to (m - k + 1,).

    A window is read as overlapping packs of up to eight characters, which are chained by
    bijective rounds. One pack, and so a given integer, is hashed without any collision.
    """
    width = 1 if units.dtype == np.uint64 else min(k, PACK)
    packs = _packs(units, width)
    num_windows = len(units) - k + 1
    hashes = packs[:num_windows].astype(np.uint64)
    for offset in [*range(width, k - width, width), k - width] if k > width else []:
        scramble(hashes)
        hashes += packs[offset : offset + num_windows]
    scramble(hashes)
    hashes *= MULTIPLIER
    return hashes


def _packs(units: Units, width: int) -> Hashes:
    """Every window of ``width`` units as 64 bits: (m,) to (m - width + 1,)."""
    if units.dtype == np.uint64:
        return units
    if units.dtype == np.uint32:
        return _pack_code_points(units, width)
    if width == PACK:
        return np.ndarray((len(units) - PACK + 1,), "<u8", units, strides=(1,))
    padded = np.concatenate([units, np.zeros(PACK - width, np.uint8)])
    return _packs(padded, PACK) & np.uint64((1 << 8 * width) - 1)


def _pack_code_points(units: npt.NDArray[np.uint32], width: int) -> Hashes:
    """ASCII windows as the bytes they are, as ``_packs`` has them; windows beyond ASCII hashed."""
    num_windows = len(units) - width + 1
    packed, hashed = np.zeros(num_windows, np.uint64), np.zeros(num_windows, np.uint64)
    is_beyond = np.zeros(num_windows, bool)
    for position in range(width):
        unit = units[position : position + num_windows]
        packed |= unit.astype(np.uint64) << np.uint64(8 * position)
        hashed += unit
        scramble(hashed)
        is_beyond |= unit > 127
    return np.where(is_beyond, hashed, packed)


class _Alphabet(NamedTuple):
    """Some documents as sequences of units, none shorter than a window, and how to join them."""

    rows: list[int]
    sequences: list[Any]
    join: Callable[[list[Any]], Units]


def _alphabets(texts: Sequence[bytes], kind: str, k: int) -> Iterator[_Alphabet]:
    """A text shorter than k is padded with zeros, which no text holds, to the one shingle that it is."""
    rows = [row for row, text in enumerate(texts) if text]
    if kind == "given":
        # Zero would stay zero in every hash that is a product.
        sequences = [np.array(texts[row].split(), np.uint64) ^ GOLDEN for row in rows]
        yield _Alphabet(rows, sequences, np.concatenate)
    elif kind == "word":
        words = _WordHashes()
        sequences = [words.sequence(texts[row].split(), k) for row in rows]
        yield _Alphabet(rows, sequences, np.concatenate)
    else:
        ascii_rows = [row for row in rows if texts[row].isascii()]
        yield _Alphabet(ascii_rows, [texts[row].ljust(k, b"\0") for row in ascii_rows], _join_ascii)
        wide_rows = [row for row in rows if not texts[row].isascii()]
        yield _Alphabet(wide_rows, [texts[row].decode().ljust(k, "\0") for row in wide_rows], _join_wide)


def _join_ascii(texts: list[bytes]) -> npt.NDArray[np.uint8]:
    return np.frombuffer(b"".join(texts), np.uint8)


def _join_wide(texts: list[str]) -> npt.NDArray[np.uint32]:
    return np.frombuffer("".join(texts).encode("utf-32-le"), "<u4").astype(np.uint32, copy=False)


class _WordHashes(dict[bytes, int]):
    """Each word is hashed once a batch."""

    def __missing__(self, word: bytes) -> int:
        self[word] = digest64(word)
        return self[word]

    def sequence(self, words: list[bytes], k: int) -> Hashes:
        units = np.zeros(max(k, len(words)), np.uint64)
        units[: len(words)] = [self[word] for word in words]
        return units


def _window_blocks(alphabet: _Alphabet, k: int) -> Iterator[ShingleBlock]:
    """Hash the windows of each sequence, block by block."""
    rows = np.array(alphabet.rows, np.int64)
    lengths = np.fromiter(map(len, alphabet.sequences), np.int64, len(rows))
    for first, end in blocks(lengths, BLOCK_UNITS):
        if lengths[first] > BLOCK_UNITS:
            yield from _cut_document(rows[first:end], alphabet.sequences[first], alphabet.join, k)
            continue
        counts = lengths[first:end].copy()
        hashes = window_hashes(alphabet.join(alphabet.sequences[first:end]), k)
        ends = np.cumsum(counts[:-1])
        # Windows that run over the end of a sequence into the next.
        beyond = (ends[:, np.newaxis] - np.arange(1, k)).reshape(-1)
        if len(beyond) > MAX_SHARE_REPEATED * len(hashes):
            hashes, counts = np.delete(hashes, beyond), counts - (k - 1)
        else:
            # Where they are few, to leave them out would mean to copy all others: let them be the last one before.
            hashes[beyond] = np.repeat(hashes[ends - k], k - 1)
            counts[-1] -= k - 1
        yield ShingleBlock(rows[first:end], counts, hashes)


def _cut_document(row: Ints, sequence: Any, join: Callable[[list[Any]], Units], k: int) -> Iterator[ShingleBlock]:
    """A document longer than a block, in pieces that overlap by k - 1 units."""
    step = max(BLOCK_UNITS, k)
    for start in range(0, len(sequence) - k + 1, step):
        hashes = window_hashes(join([sequence[start : start + step + k - 1]]), k)
        yield ShingleBlock(row, np.array([len(hashes)]), hashes)
