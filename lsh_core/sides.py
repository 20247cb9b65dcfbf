"""Two corpora in one comparison: which pairs are wanted of a corpus and of another that it is held against."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lsh_core.hashing import Hashes
from lsh_core.ragged import Ints


def side_column(num_rows: int, is_against: bool) -> Hashes:
    """The side of documents as a number each, for tables of numbers: 1 if they are what others are held against."""
    return np.full(num_rows, is_against, np.uint64)


class Sides(NamedTuple):
    """How many documents of the corpus, and of the one that it is held against, there are in some things (n,).

    A pair of two documents that both are of the other corpus is never wanted; with ``only_across`` no pair is that
    lies inside one corpus.
    """

    num_own: Ints
    num_against: Ints
    only_across: bool = False

    def pairs_inside(self) -> Ints:
        """How many wanted pairs lie inside each thing.

        >>> Sides(np.array([3, 1, 0]), np.array([0, 2, 2])).pairs_inside()
        array([3, 2, 0])
        """
        pairs = self.num_own * self.num_against
        return pairs if self.only_across else pairs + self.num_own * (self.num_own - 1) // 2

    def pairs_between(self, a: Ints, b: Ints) -> Ints:
        """How many wanted pairs lie between the things of these numbers, two by two.

        >>> Sides(np.array([3, 1, 0]), np.array([0, 2, 2])).pairs_between(np.array([0, 1]), np.array([1, 2]))
        array([9, 2])
        """
        pairs = self.num_own[a] * self.num_against[b] + self.num_against[a] * self.num_own[b]
        return pairs if self.only_across else pairs + self.num_own[a] * self.num_own[b]
