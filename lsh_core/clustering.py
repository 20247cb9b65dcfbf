"""Links between documents: connected components, and the forest that says as much as all pairs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from lsh_core.ragged import Ints, distinct

LEVELS = (0.0, 0.1, 0.5)
"""Shares of a forest's edges below the levels at which edges are looked at."""


def components(num_nodes: int, nodes_a: Ints, nodes_b: Ints) -> Ints:
    """The smallest node that each node is connected to by edges (a[i], b[i]): (num_nodes,).

    Each round hooks every root to the smallest root next to it, then lets each node point to
    its root, so that even a chain of n nodes takes about log n rounds.

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
