"""Beside the way of a document: characteristic and signature matrix, as textbooks draw them.

The jobs never build these; they show on a few small sets what the batch functions compute.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lsh_core.bloom import BloomFilter
from lsh_core.errors import SettingsError
from lsh_core.hashing import Hashes, digest64

Ints = npt.NDArray[np.int64]
SignatureMatrix = npt.NDArray[np.float64]


class CharacteristicMatrix(NamedTuple):
    """One row a shingle, one column a set, true where the set has the shingle: (num_rows, num_sets)."""

    rows: tuple[str, ...]
    matrix: npt.NDArray[np.bool_]


def universe(sets: Sequence[Collection[str]]) -> tuple[str, ...]:
    """Every shingle of any set once, sorted: the rows of the characteristic matrix.

    >>> universe([{"ab", "bc"}, {"bc"}])
    ('ab', 'bc')
    """
    return tuple(sorted(set().union(*sets)))


def characteristic_matrix(sets: Sequence[Collection[str]]) -> CharacteristicMatrix:
    """The characteristic matrix of sets of shingles, each asked directly.

    >>> characteristic_matrix([{"ab", "bc"}, {"bc"}]).matrix.astype(int).tolist()
    [[1, 0], [1, 1]]
    """
    rows = universe(sets)
    is_member = [[shingle in members for members in sets] for shingle in rows]
    return CharacteristicMatrix(rows, np.array(is_member, bool).reshape(len(rows), len(sets)))


def shingle_filter(shingles: Collection[str], false_positive_rate: float = 0.01) -> BloomFilter:
    """A Bloom filter of one set's shingles, to ask instead of the set."""
    seen = BloomFilter.sized_for(len(shingles), false_positive_rate)
    seen.add(_shingle_keys(shingles))
    return seen


def characteristic_matrix_by_filters(
    rows: Sequence[str], filters: Sequence[BloomFilter]
) -> CharacteristicMatrix:
    """The characteristic matrix with each set's filter asked: every true is there, and few that are not.

    >>> sets = [{"ab", "bc"}, {"bc"}]
    >>> filters = [shingle_filter(members, 1e-9) for members in sets]
    >>> characteristic_matrix_by_filters(universe(sets), filters).matrix.astype(int).tolist()
    [[1, 0], [1, 1]]
    """
    keys = _shingle_keys(rows)
    is_member = np.zeros((len(rows), len(filters)), bool)
    for column, seen in enumerate(filters):
        is_member[:, column] = seen.contains(keys)
    return CharacteristicMatrix(tuple(rows), is_member)


def linear_permutation(num_rows: int, factor: int, shift: int) -> Ints:
    """``(factor * x + shift) mod num_rows`` for each row number x: a hash function without collisions.

    >>> linear_permutation(5, 3, 1)
    array([1, 4, 2, 0, 3])
    """
    if num_rows < 1:
        raise SettingsError(f"num_rows is {num_rows}; it must be 1 or more")
    if math.gcd(factor, num_rows) != 1:
        raise SettingsError(f"factor is {factor}; it must share no divisor with the {num_rows} rows")
    return np.array([(factor * i + shift) % num_rows for i in range(num_rows)], np.int64)


def signature_steps(matrix: npt.NDArray[np.bool_], hash_values: npt.ArrayLike) -> Iterator[SignatureMatrix]:
    """The signature matrix (num_hashes, num_sets) before the first row, all infinity, and after each row.

    ``hash_values`` (num_hashes, num_rows) has what each hash function gives for each row.
    """
    values_of_hash = np.asarray(hash_values)
    signature = np.full((len(values_of_hash), matrix.shape[1]), np.inf)
    yield signature.copy()
    for row, is_member in enumerate(matrix):
        row_values = values_of_hash[:, row, np.newaxis]
        signature[:, is_member] = np.minimum(signature[:, is_member], row_values)
        yield signature.copy()


def signature_matrix(matrix: npt.NDArray[np.bool_], hash_values: npt.ArrayLike) -> SignatureMatrix:
    """The signature matrix once all rows are scanned; the column of an empty set stays infinite.

    >>> sets = [{"ab", "bc"}, {"bc"}]
    >>> signature_matrix(characteristic_matrix(sets).matrix, [linear_permutation(2, 1, 0)]).tolist()
    [[0.0, 1.0]]
    """
    *_, signature = signature_steps(matrix, hash_values)
    return signature


def _shingle_keys(shingles: Collection[str]) -> Hashes:
    return np.array([digest64(shingle.encode()) for shingle in shingles], np.uint64)
