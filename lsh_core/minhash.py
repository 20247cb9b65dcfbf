"""Shingles become a signature: for each function the smallest value over a document's shingles.

Two families. ``linear`` is the sources' ``(a x + b) mod p``, one pass a function. ``sketch``
(the default) needs about one pass in all: a fast similarity sketch after Dahlgaard, Knudsen
and Thorup (2017). In each round a shingle picks one function and a value for it, and an
earlier round beats a later one; functions that no shingle picked in ROUNDS rounds take the
minimum of an ordinary hash over all shingles. So every function is a fixed total order of
shingles: estimates are unbiased, and the signature of a union is the minimum of signatures.
Where only equal texts are wanted, ``whole-text`` spares all of this: a digest is the signature.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lsh_core.hashing import HALF, Hashes, digests64, splitmix64
from lsh_core.normalize import normalize_texts
from lsh_core.ragged import Ints, blocks, distinct, offsets_of, ranges, run_starts
from lsh_core.settings import Settings
from lsh_core.shingling import ShingleBlock, shingle_blocks

Signatures = npt.NDArray[np.uint32]
Words = npt.NDArray[np.uint32]

EMPTY = np.uint32(0xFFFFFFFF)
VALUE_BITS = 24
ROUNDS = 16
FILL_CELLS = 1 << 18
"""Hash evaluations that the last round of a sketch holds at a time."""

PRIME = np.uint64(4294967311)
"""The least prime above 2**32: for a, b, x below 2**32 the sum a x + b stays below 2**64."""


def signature(text: str, settings: Settings) -> Signatures:
    """The signature (bands * rows,) of one raw text.

    >>> signature("one text", Settings(bands=2, rows=3)).shape
    (6,)
    """
    row: Signatures = signatures(normalize_texts([text], settings), settings)[0]
    return row


def signatures(texts: Sequence[bytes], settings: Settings) -> Signatures:
    """Signatures (n, bands * rows) of normalized texts; that of an empty text is EMPTY throughout."""
    if settings.minhash == "whole-text":
        return digests64(texts).astype("<u8").view("<u4").astype(np.uint32).reshape(-1, 2)
    bands, rows = settings.banding
    result = np.full((len(texts), bands * rows), EMPTY)
    family = sketch_block if settings.minhash == "sketch" else linear_block
    for block in shingle_blocks(texts, settings):
        result[block.rows] = np.minimum(result[block.rows], family(block, bands * rows, settings))
    return result


def estimate_similarity(one: Signatures, other: Signatures) -> npt.NDArray[np.float64]:
    """The share of functions on which signatures agree, along the last axis.

    >>> float(estimate_similarity(np.array([1, 2, 3, 4]), np.array([1, 2, 0, 4])))
    0.75
    """
    return np.asarray(np.mean(one == other, axis=-1))


def minhash_inputs(block: ShingleBlock, settings: Settings) -> Words:
    """The 32 bits of each shingle that the functions see."""
    shift = np.uint64(0) if settings.shingle_bits == 32 else HALF
    return (block.hashes >> shift).astype(np.uint32)


class LinearFunctions(NamedTuple):
    """Coefficients of ``(a x + b) mod p``: uint64 below 2**32, a from 1."""

    a: Hashes
    b: Hashes


@lru_cache(maxsize=8)
def linear_functions(seed: int, num_functions: int) -> LinearFunctions:
    """The first functions of a seed's fixed sequence."""
    numbers = splitmix64(seed, 2 * num_functions) >> HALF
    return LinearFunctions(np.maximum(numbers[0::2], 1), numbers[1::2])


def linear_block(block: ShingleBlock, num_functions: int, settings: Settings) -> Signatures:
    """Minimum over each document's shingles of ``((a x + b) mod p) mod (2**32 - 1)``: (m, functions)."""
    shingles = minhash_inputs(block, settings).astype(np.uint64)
    starts = offsets_of(block.counts)[:-1]
    result = np.empty((len(block.rows), num_functions), np.uint32)
    for i, (a, b) in enumerate(zip(*linear_functions(settings.seed, num_functions))):
        values = shingles * a + b
        values -= values // PRIME * PRIME
        np.remainder(values, np.uint64(EMPTY), out=values, where=values >= EMPTY)
        result[:, i] = np.minimum.reduceat(values, starts)
    return result


class SketchFunctions(NamedTuple):
    """Odd multipliers of each round (ROUNDS,) and salts of each function (functions,), uint32."""

    first: Words
    second: Words
    salts: Words


@lru_cache(maxsize=8)
def sketch_functions(seed: int, num_functions: int) -> SketchFunctions:
    """The numbers that make the sketch of a seed."""
    numbers = (splitmix64(seed, 2 * (ROUNDS + 1) + num_functions) >> HALF).astype(np.uint32)
    multipliers = numbers[: 2 * (ROUNDS + 1)] | np.uint32(1)
    return SketchFunctions(multipliers[0::2], multipliers[1::2], numbers[2 * (ROUNDS + 1) :])


def sketch_block(block: ShingleBlock, num_functions: int, settings: Settings) -> Signatures:
    """The sketch (m, functions) of each document of a block, in as few rounds as fill it."""
    functions = sketch_functions(settings.seed, num_functions)
    shingles, counts = minhash_inputs(block, settings), block.counts
    result = np.full((len(counts), num_functions), EMPTY)
    open_rows = np.arange(len(counts))
    for round_number in range(ROUNDS):
        bases = np.repeat((open_rows * num_functions).astype(np.uint32), counts)
        _throw(result, bases, shingles, round_number, functions)
        is_open = (result[open_rows] == EMPTY).any(axis=1)
        if not is_open.all():
            shingles = shingles[np.repeat(is_open, counts)]
            open_rows, counts = open_rows[is_open], counts[is_open]
        if not len(open_rows):
            return result
    _fill(result, open_rows, shingles, counts, functions)
    return result


def _throw(result: Signatures, bases: Words, shingles: Words, round_number: int, functions: SketchFunctions) -> None:
    """One round: each shingle offers one value to one function of its document (``bases`` in flat result)."""
    values = _mixed(shingles, functions, round_number)
    # The upper 16 bits choose the function; one more product makes a value of all 32.
    picks = values >> np.uint32(16)
    picks *= np.uint32(result.shape[1])
    picks >>= np.uint32(16)
    picks += bases
    values *= functions.first[ROUNDS]
    values >>= np.uint32(32 - VALUE_BITS)
    values |= np.uint32(round_number << VALUE_BITS)
    np.minimum.at(result.reshape(-1), picks.astype(np.int64), values)


def _mixed(shingles: Words, functions: SketchFunctions, round_number: int) -> Words:
    mixed: Words = shingles * functions.first[round_number]
    mixed ^= mixed >> np.uint32(15)
    mixed *= functions.second[round_number]
    return mixed


def _fill(
    result: Signatures, open_rows: Ints, shingles: Words, counts: Ints, functions: SketchFunctions
) -> None:
    """The last round: a function that is still empty takes the minimum of its own hash over all shingles."""
    keys = distinct(np.repeat(np.arange(len(counts), dtype=np.uint64), counts) << HALF | shingles)
    documents, members = (keys >> HALF).astype(np.int64), keys.astype(np.uint32)
    starts = run_starts(documents)
    sizes = np.diff(starts, append=len(documents))
    holes, columns = np.nonzero(result[open_rows] == EMPTY)
    for first, end in blocks(sizes[holes], FILL_CELLS):
        hole, column = holes[first:end], columns[first:end]
        values = members[ranges(starts[hole], sizes[hole])] ^ np.repeat(functions.salts[column], sizes[hole])
        values = _mixed(values, functions, ROUNDS) >> np.uint32(32 - VALUE_BITS)
        minima = np.minimum.reduceat(values, offsets_of(sizes[hole])[:-1])
        result[open_rows[hole], column] = minima | np.uint32(ROUNDS << VALUE_BITS)
