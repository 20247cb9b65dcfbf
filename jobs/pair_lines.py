"""Pairs of texts become lines of pairs of documents: many at once, with each id and each similarity written once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from jobs.bundles import Row
from jobs.records import PAIR_LINE, decode_id
from lsh_core.check import Candidates
from lsh_core.ragged import Ints, blocks, ranges
from lsh_core.sides import Sides

PAIRS_AT_A_TIME = 1 << 14


class _Numbers(dict[float, bytes]):
    """Similarities as they are written; few of them differ."""

    def __missing__(self, similarity: float) -> bytes:
        self[similarity] = repr(similarity).encode()
        return self[similarity]


class PairLines:
    """The documents of rows, row by row, those of the corpus that the other is held against first."""

    def __init__(self, rows: Sequence[Row], sides: Sides) -> None:
        self._names = [id_json for row in rows for id_json in row.ordered_ids]
        texts = list(map(decode_id, self._names))
        rank_of_text = {text: rank for rank, text in enumerate(sorted(set(texts)))}
        self._ranks = np.array([rank_of_text[text] for text in texts], np.int64)
        self._counts, self._only_across = sides.num_own + sides.num_against, sides.only_across
        self._ends = np.cumsum(self._counts)
        self._first_own = self._ends - sides.num_own
        self.num_same_id = 0
        """Pairs that were left out since both documents have the same id."""

    def between(self, pairs: Candidates) -> Iterator[bytes]:
        """All wanted pairs of a document that has the one text of a pair and one that has the other."""
        for docs, at in self._documents(pairs.rows_a):
            rows, similarities = pairs.rows_b[at], pairs.similarities[at]
            first = self._ends[rows] - self._counts[rows]
            end = self._first_own[rows] if self._only_across else self._ends[rows]
            is_own = docs >= self._first_own[pairs.rows_a[at]]
            starts = np.where(is_own, first, self._first_own[rows])
            yield from self._lines(docs, starts, np.where(is_own, end, self._ends[rows]) - starts, similarities)

    def inside(self, rows: Ints) -> Iterator[bytes]:
        """All wanted pairs of documents that both have the text of one of the rows."""
        for docs, at in self._documents(rows):
            first_own, ends = self._first_own[rows[at]], self._ends[rows[at]]
            starts = np.where(docs < first_own, first_own, ends if self._only_across else docs + 1)
            yield from self._lines(docs, starts, ends - starts, np.ones(len(docs)))

    def _documents(self, rows: Ints) -> Iterator[tuple[Ints, Ints]]:
        """The documents of rows, some at a time, and at which place among the rows that of each stands."""
        for first, end in blocks(self._counts[rows], PAIRS_AT_A_TIME):
            counts = self._counts[rows[first:end]]
            yield (ranges(self._ends[rows[first:end]] - counts, counts), np.repeat(np.arange(first, end), counts))

    def _lines(self, docs: Ints, starts: Ints, counts: Ints, similarities: npt.NDArray[np.float64]) -> Iterator[bytes]:
        """A line for each document with each of the ``counts`` documents from ``starts``."""
        for first, end in blocks(counts, PAIRS_AT_A_TIME):
            here = slice(first, end)
            a, b = np.repeat(docs[here], counts[here]), ranges(starts[here], counts[here])
            is_pair = self._ranks[a] != self._ranks[b]
            self.num_same_id += len(a) - int(np.count_nonzero(is_pair))
            written = np.repeat(similarities[here], counts[here])[is_pair].tolist()
            a, b = a[is_pair], b[is_pair]
            is_in_order, names, numbers = self._ranks[a] < self._ranks[b], self._names, _Numbers()
            lower, upper = np.where(is_in_order, a, b).tolist(), np.where(is_in_order, b, a).tolist()
            for i, j, similarity in zip(lower, upper, written):
                yield PAIR_LINE % (names[i], names[j], numbers[similarity])
