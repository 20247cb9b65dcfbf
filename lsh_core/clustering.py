"""Links between documents: clusters of them, and the forest that says as much as all pairs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from lsh_core.ragged import Ints, distinct

LEVELS = (0.0, 0.1, 0.5)
"""Shares of a forest's edges below the levels at which edges are looked at."""

BLOCK_EDGES = 1 << 16

Node = TypeVar("Node", int, str, bytes)


def components(num_nodes: int, nodes_a: Ints, nodes_b: Ints) -> Ints:
    """The smallest node that each node is connected to by edges (a[i], b[i]): (num_nodes,).

    Each round hooks every root to the smallest root next to it, then lets each node point to
    its root, so that even a chain of n nodes takes about log n rounds. Where nodes are numbered
    in the order in which they would be kept, this is the keeper of each node's component.

    >>> components(6, np.array([4, 2, 1]), np.array([2, 5, 0]))
    array([0, 0, 2, 3, 2, 2])
    """
    root = np.arange(num_nodes)
    nodes_a, nodes_b = np.asarray(nodes_a), np.asarray(nodes_b)
    while len(nodes_a):
        root_a, root_b = root[nodes_a], root[nodes_b]
        np.minimum.at(root, root_a, root_b)
        np.minimum.at(root, root_b, root_a)
        while True:
            jumped = root[root]
            if np.array_equal(jumped, root):
                break
            root = jumped
        is_open = root[nodes_a] != root[nodes_b]
        nodes_a, nodes_b = nodes_a[is_open], nodes_b[is_open]
    return root


def greedy_clusters(num_nodes: int, nodes_a: Ints, nodes_b: Ints) -> Ints:
    """The keeper of each node: the first node keeps all its neighbors, then the first of those left, and so on.

    Nodes are numbered in the order in which they would be kept. Unlike in a component, each node
    is a neighbor of its keeper.

    >>> greedy_clusters(5, np.array([0, 1, 2, 3]), np.array([1, 2, 3, 4]))
    array([0, 0, 2, 2, 4])
    """
    low, high = np.minimum(nodes_a, nodes_b), np.maximum(nodes_a, nodes_b)
    # Once its edges to smaller nodes are done, it is known whether a node is kept.
    order = np.argsort(low, kind="stable")
    order = order[low[order] < high[order]]
    keeper, is_taken = np.arange(num_nodes), bytearray(num_nodes)
    for first in range(0, len(order), BLOCK_EDGES):
        edges = order[first : first + BLOCK_EDGES]
        for node, neighbor in zip(low[edges].tolist(), high[edges].tolist()):
            if not is_taken[node] and not is_taken[neighbor]:
                is_taken[neighbor] = True
                keeper[neighbor] = node
    return keeper


def large_star(node: Node, neighbors: Iterable[Node]) -> Iterator[tuple[Node, Node]]:
    """Edges (larger, smaller) that link the larger neighbors of a node to the smallest of it and all its neighbors.

    Done at all nodes it connects the same nodes as before, and so does ``small_star``. The two in turn
    end with each node linked to the smallest of its component (Kiveris and others, Connected
    Components in MapReduce and Beyond, 2014). The neighbors are read twice.

    >>> list(large_star(5, [7, 2, 9]))
    [(7, 2), (9, 2)]
    """
    smallest = min(node, min(neighbors, default=node))
    return ((neighbor, smallest) for neighbor in neighbors if neighbor > node)


def small_star(node: Node, smaller_neighbors: Iterable[Node]) -> Iterator[tuple[Node, Node]]:
    """Edges (larger, smaller) that link a node and its smaller neighbors, which are read twice, to the smallest.

    >>> list(small_star(5, [3, 2, 4]))
    [(5, 2), (3, 2), (4, 2)]
    """
    smallest = min(smaller_neighbors, default=node)
    if smallest < node:
        yield node, smallest
    yield from ((neighbor, smallest) for neighbor in smaller_neighbors if neighbor != smallest)


class Edges(NamedTuple):
    """Edges between nodes a < b, each with a similarity."""

    a: Ints
    b: Ints
    similarities: npt.NDArray[np.float64]

    def where(self, chosen: Any) -> Edges:
        return Edges(self.a[chosen], self.b[chosen], self.similarities[chosen])


def joined(one: Edges, other: Edges) -> Edges:
    """The edges of both."""
    return Edges(np.append(one.a, other.a), np.append(one.b, other.b), np.append(one.similarities, other.similarities))


def spanning_forest(num_nodes: int, edges: Edges) -> Edges:
    """The maximum spanning forest under the order: similarity descending, then a, then b.

    No two edges are equal under it, so the forest is unique, and the forest of the union of
    some graphs is the forest of the union of their forests. Each round (Boruvka's) every tree
    takes its best edge to another tree.

    >>> edges = Edges(np.array([0, 0, 1]), np.array([1, 2, 2]), np.array([0.8, 0.9, 0.9]))
    >>> spanning_forest(3, edges)[:2]
    (array([0, 1]), array([2, 2]))
    """
    edges = edges.where(np.lexsort((edges.b, edges.a, -edges.similarities)))
    is_chosen = np.zeros(len(edges.a), bool)
    tree, open_edges = np.arange(num_nodes), np.arange(len(edges.a))
    while len(open_edges):
        best = np.full(num_nodes, len(edges.a))
        for ends in (edges.a, edges.b):
            np.minimum.at(best, tree[ends[open_edges]], open_edges)
        chosen = distinct(best[best < len(edges.a)])
        is_chosen[chosen] = True
        tree = components(num_nodes, tree[edges.a[chosen]], tree[edges.b[chosen]])[tree]
        open_edges = open_edges[tree[edges.a[open_edges]] != tree[edges.b[open_edges]]]
    return edges.where(is_chosen)


class ForestOfBlocks:
    """What ``spanning_forest`` gives, where edges come in blocks, the best first: no edge is held, only the nodes."""

    def __init__(self, num_nodes: int) -> None:
        self._above = np.arange(num_nodes)

    def add(self, nodes_a: Ints, nodes_b: Ints) -> Ints:
        """Which edges of the next block belong to the forest.

        >>> ForestOfBlocks(3).add(np.array([0, 1, 0]), np.array([2, 2, 1]))
        array([0, 1])
        """
        roots_a, roots_b = self._roots(nodes_a), self._roots(nodes_b)
        rows = np.flatnonzero(roots_a != roots_b)
        roots = distinct(np.append(roots_a[rows], roots_b[rows]))
        # Sooner is better.
        edges = Edges(np.searchsorted(roots, roots_a[rows]), np.searchsorted(roots, roots_b[rows]), -rows.astype(float))
        forest = spanning_forest(len(roots), edges)
        self._above[roots] = roots[components(len(roots), forest.a, forest.b)]
        return (-forest.similarities).astype(np.int64)

    def _roots(self, nodes: Ints) -> Ints:
        """The root of each node's tree, to which it is moved up."""
        roots = self._above[nodes]
        while not np.array_equal(above := self._above[roots], roots):
            roots = above
        self._above[nodes] = roots
        return roots


def without_useless(num_nodes: int, forest: Edges, edges: Edges) -> Edges:
    """Those edges that may belong to the forest of ``forest`` and ``edges`` together.

    An edge is useless if better edges of the forest connect its ends already. That is asked at
    a few levels of similarity, not at each.
    """
    for level in np.quantile(forest.similarities, LEVELS) if len(forest.a) else ():
        above = forest.where(forest.similarities > level)
        tree = components(num_nodes, above.a, above.b)
        is_useless = (edges.similarities <= level) & (tree[edges.a] == tree[edges.b])
        edges = edges.where(~is_useless)
    return edges
