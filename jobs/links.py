"""Links: the spanning forest of the pairs, which joins the same documents with far fewer lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from jobs.bundles import Row
from jobs.edges import read_edges
from jobs.records import DocId, encode_pair, json_bytes
from lsh_core.check import Candidates
from lsh_core.clustering import Edges, components, joined, spanning_forest, without_useless

MAX_EDGES = 1 << 19
NO_EDGES = Edges(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))


class Forest:
    """The forest of confirmed pairs of rows, joined as they come, so that it is never much larger than MAX_EDGES."""

    def __init__(self, rows: Sequence[Row]) -> None:
        """Nodes are rows in the order of their smallest ids."""
        smallest = [row.doc_ids[0] for row in rows]
        order = sorted(range(len(rows)), key=smallest.__getitem__)
        self.rows = [rows[i] for i in order]
        self.node_of_row = np.empty(len(rows), np.int64)
        self.node_of_row[order] = np.arange(len(rows))
        self.edges, self.num_joined = NO_EDGES, 0

    def add(self, pairs: Candidates) -> None:
        """Take in pairs of rows; once they are many, all but the forest is dropped."""
        nodes = np.sort(np.stack([self.node_of_row[pairs.rows_a], self.node_of_row[pairs.rows_b]]), axis=0)
        new = without_useless(len(self.rows), self.edges.where(slice(self.num_joined)),
                              Edges(nodes[0], nodes[1], pairs.similarities))
        self.edges = joined(self.edges, new)
        if len(self.edges.a) > MAX_EDGES:
            self._join()

    def _join(self) -> None:
        self.edges = spanning_forest(len(self.rows), self.edges)
        self.num_joined = len(self.edges.a)

    def lines(self) -> Iterator[bytes]:
        """The forest of documents: those at similarity 1 are one class, a star from its smallest id."""
        self._join()
        same = self.edges.where(self.edges.similarities == 1)
        class_of_node = components(len(self.rows), same.a, same.b)
        members: dict[int, list[DocId]] = {}
        for node, row in enumerate(self.rows):
            members.setdefault(int(class_of_node[node]), []).extend(row.doc_ids)
        for ids in members.values():
            first, *others = sorted(ids)
            yield from (encode_pair(first, other, 1.0) for other in others if other != first)
        for a, b, similarity in zip(*(column.tolist() for column in self.edges.where(self.edges.similarities < 1))):
            one, other = self.rows[a].doc_ids[0], self.rows[b].doc_ids[0]
            if one != other:
                yield encode_pair(one, other, similarity)


def join_forests(lines: Iterable[bytes]) -> Iterator[bytes]:
    """The forest of the links of all reducers: their pieces of split bundles become one."""
    ids, edges = read_edges(lines)
    for a, b, similarity in zip(*(column.tolist() for column in spanning_forest(len(ids), edges))):
        yield encode_pair(DocId(ids[a], json_bytes(ids[a])), DocId(ids[b], json_bytes(ids[b])), similarity)
