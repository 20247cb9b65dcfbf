"""Links: the spanning forest of the pairs, which joins the same documents with far fewer lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from jobs.bundles import Row
from jobs.records import DocId, encode_pair
from lsh_core.check import Candidates
from lsh_core.clustering import Edges, joined, spanning_forest, without_useless
from lsh_core.ragged import Ints, rows_of

MAX_EDGES = 1 << 19
NO_NODE = -1
NO_EDGES = Edges(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))


class Forest:
    """The forest of confirmed pairs of rows, joined as they come, so that it is never much larger than MAX_EDGES.

    Nodes are the first documents of each row, one of each corpus, in the order of their ids. All others of a row and a
    corpus have the same neighbors as the first, and come later: each is a leaf, at the best of these.
    """

    def __init__(self, rows: Sequence[Row], only_across: bool = False) -> None:
        firsts = sorted((ids[0], side, number) for number, row in enumerate(rows)
                        for side, ids in enumerate((row.own_ids, row.against_ids)) if ids)
        self.firsts, self.only_across = [first for first, _, _ in firsts], only_across
        self.others = [(rows[number].against_ids if side else rows[number].own_ids)[1:] for _, side, number in firsts]
        self.is_own = [side == 0 for _, side, _ in firsts]
        self.node_of_row = np.full((2, len(rows)), NO_NODE)
        for node, (_, side, number) in enumerate(firsts):
            self.node_of_row[side, number] = node
        self.edges, self.num_joined = NO_EDGES, 0
        own, against = self.node_of_row
        self._take(against, own, np.ones(len(rows)))

    def add(self, pairs: Candidates) -> None:
        """Take in pairs of rows; once they are many, all but the forest is dropped."""
        own, against = self.node_of_row
        ends = [] if self.only_across else [(own, own)]
        if not all(self.is_own):
            ends += [(own, against), (against, own)]
        for nodes_a, nodes_b in ends:
            self._take(nodes_a[pairs.rows_a], nodes_b[pairs.rows_b], pairs.similarities)

    def _take(self, nodes_a: Ints, nodes_b: Ints, similarities: npt.NDArray[np.float64]) -> None:
        edges = Edges(np.minimum(nodes_a, nodes_b), np.maximum(nodes_a, nodes_b), similarities)
        edges = edges.where(edges.a != NO_NODE)
        new = without_useless(len(self.firsts), self.edges.where(slice(self.num_joined)), edges)
        self.edges = joined(self.edges, new)
        if len(self.edges.a) > MAX_EDGES:
            self._join()

    def _join(self) -> None:
        self.edges = spanning_forest(len(self.firsts), self.edges)
        self.num_joined = len(self.edges.a)

    def lines(self) -> Iterator[bytes]:
        """The forest of documents."""
        self._join()
        best: dict[int, tuple[int, float]] = {}
        for a, b, similarity in rows_of(*self.edges):
            best.setdefault(a, (b, similarity))
            best.setdefault(b, (a, similarity))
            yield from _link(self.firsts[a], self.firsts[b], similarity)
        for node, others in enumerate(self.others):
            neighbor, similarity = best.get(node, (NO_NODE, 0.0))
            if self.is_own[node] and not self.only_across and not (similarity == 1 and neighbor < node):
                neighbor, similarity = node, 1.0
            if neighbor != NO_NODE:
                yield from (line for other in others for line in _link(self.firsts[neighbor], other, similarity))


def _link(one: DocId, other: DocId, similarity: float) -> Iterator[bytes]:
    """A line; none between documents that got the same id."""
    if one != other:
        yield encode_pair(one, other, similarity)
