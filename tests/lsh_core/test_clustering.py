"""Components against a dict of parents, keepers against their definition, forests against Kruskal's loop."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lsh_core.clustering
from lsh_core.clustering import (
    Edges,
    ForestOfBlocks,
    components,
    greedy_clusters,
    joined,
    spanning_forest,
    without_useless,
)

MAX_NODES = 14

Edge = tuple[int, int, float]

# Few similarities, so that many edges are equal in it; and any.
similarities = st.one_of(st.integers(1, 4).map(lambda tenths: tenths / 4), st.floats(0, 1))
pairs = st.tuples(st.integers(0, MAX_NODES - 1), st.integers(0, MAX_NODES - 1))
graphs = st.dictionaries(
    pairs.filter(lambda pair: pair[0] != pair[1]).map(lambda pair: (min(pair), max(pair))), similarities, max_size=40
).map(lambda graph: [(a, b, similarity) for (a, b), similarity in graph.items()])


def as_edges(edges: list[Edge]) -> Edges:
    a, b, similarity = zip(*edges) if edges else ((), (), ())
    return Edges(np.array(a, np.int64), np.array(b, np.int64), np.array(similarity, np.float64))


def as_list(edges: Edges) -> list[Edge]:
    return list(zip(*(column.tolist() for column in edges)))


class Trees:
    """Which nodes are connected: each node's parent in a dict."""

    def __init__(self, num_nodes: int) -> None:
        self.parent = {node: node for node in range(num_nodes)}

    def root(self, node: int) -> int:
        while self.parent[node] != node:
            self.parent[node] = self.parent[self.parent[node]]
            node = self.parent[node]
        return node

    def join(self, a: int, b: int) -> bool:
        """Connect two nodes under the smaller root; say whether they were not connected yet."""
        low, high = sorted([self.root(a), self.root(b)])
        self.parent[high] = low
        return low != high


def slow_components(num_nodes: int, edges: Iterable[tuple[int, int]]) -> list[int]:
    trees = Trees(num_nodes)
    for a, b in edges:
        trees.join(a, b)
    return [trees.root(node) for node in range(num_nodes)]


def kruskal(num_nodes: int, edges: Iterable[Edge]) -> list[Edge]:
    """The best edges first, each taken unless it closes a circle."""
    trees = Trees(num_nodes)
    return [edge for edge in sorted(edges, key=lambda edge: (-edge[2], *edge[:2])) if trees.join(*edge[:2])]


def forest_of(edges: list[Edge]) -> Edges:
    return spanning_forest(MAX_NODES, as_edges(edges))


# Components


def assert_connected(num_nodes: int, edges: list[tuple[int, int]]) -> None:
    ends = np.array(edges, np.int64).reshape(-1, 2)
    found = components(num_nodes, ends[:, 0], ends[:, 1])
    assert found.dtype == np.int64
    assert found.tolist() == slow_components(num_nodes, edges)


@given(st.lists(pairs, max_size=30))
def test_components_are_named_by_their_smallest_node(edges):
    assert_connected(MAX_NODES, edges)


def chain(nodes: Sequence[int]) -> list[tuple[int, int]]:
    return list(zip(nodes, nodes[1:]))


@pytest.mark.parametrize("order", ["ascending", "descending", "zigzag", "shuffled"])
def test_a_long_chain_is_one_component(order):
    num_nodes = 10_000
    nodes = list(range(num_nodes))
    if order == "descending":
        nodes.reverse()
    elif order == "zigzag":
        nodes = [node for ends in zip(nodes[: num_nodes // 2], reversed(nodes)) for node in ends]
    elif order == "shuffled":
        np.random.default_rng(1).shuffle(nodes)
    assert_connected(num_nodes + 1, chain(nodes))
    # Two chains stay two, and edges may come in any order.
    edges = chain(nodes[:4000]) + chain(nodes[4000:])
    assert_connected(num_nodes, [edges[i] for i in np.random.default_rng(2).permutation(len(edges))])


@pytest.mark.parametrize("edges", [
    [(0, node) for node in range(1, 500)],
    [(499, node) for node in range(499)],
    [(node, 250) for node in range(500)],
    list(combinations(range(0, 60, 2), 2)) + list(combinations(range(1, 60, 2), 2)),
    [(node, node) for node in range(5)],
    [(3, 4)] * 5,
], ids=["star", "star from the largest", "star from the middle", "two cliques", "loops", "repeats"])
def test_stars_and_cliques(edges):
    assert_connected(500, edges)


@pytest.mark.parametrize("num_nodes", [0, 1, 4])
def test_without_edges_each_node_is_its_own_component(num_nodes):
    assert_connected(num_nodes, [])


# Keepers


def slow_keepers(num_nodes: int, edges: Iterable[tuple[int, int]]) -> list[int]:
    """The first node that is left keeps all its neighbors that are left."""
    ends, keeper_of = list(edges), dict[int, int]()
    for node in range(num_nodes):
        if node not in keeper_of:
            neighbors = {a + b - node for a, b in ends if node in (a, b)}
            keeper_of.update(dict.fromkeys({node, *neighbors} - set(keeper_of), node))
    return [keeper_of[node] for node in range(num_nodes)]


def keepers(num_nodes: int, edges: list[tuple[int, int]]) -> list[int]:
    ends = np.array(edges, np.int64).reshape(-1, 2)
    found = greedy_clusters(num_nodes, ends[:, 0], ends[:, 1])
    assert found.dtype == np.int64
    return found.tolist()


@given(st.lists(pairs, max_size=40), st.sampled_from([1, 3, lsh_core.clustering.BLOCK_EDGES]))
def test_keepers_are_those_of_the_definition(edges, block_edges):
    with pytest.MonkeyPatch.context() as patches:
        patches.setattr(lsh_core.clustering, "BLOCK_EDGES", block_edges)
        assert keepers(MAX_NODES, edges) == slow_keepers(MAX_NODES, edges)


def test_keepers_of_chains_stars_and_cliques():
    assert keepers(10_000, chain(range(10_000))) == [node - node % 2 for node in range(10_000)]
    assert keepers(500, [(0, node) for node in range(1, 500)]) == [0] * 500
    # The center of a star goes to the first leaf, and the others are left alone.
    assert keepers(500, [(499, node) for node in range(499)]) == [*range(499), 0]
    assert keepers(60, list(combinations(range(0, 60, 2), 2)) + list(combinations(range(1, 60, 2), 2))) == [0, 1] * 30
    assert keepers(3, []) == [0, 1, 2] and keepers(0, []) == []


# Forests


@given(graphs)
def test_the_forest_is_that_of_kruskal(edges):
    assert as_list(forest_of(edges)) == kruskal(MAX_NODES, edges)


@given(graphs, st.randoms(use_true_random=False))
def test_the_forest_does_not_depend_on_the_order_of_edges(edges, random):
    shuffled = random.sample(edges, len(edges))
    assert as_list(forest_of(shuffled)) == as_list(forest_of(edges))


@given(graphs)
def test_the_forest_connects_what_all_edges_connect(edges):
    forest = forest_of(edges)
    assert components(MAX_NODES, *forest[:2]).tolist() == slow_components(MAX_NODES, [edge[:2] for edge in edges])


@given(graphs, st.lists(st.integers(1, 3), min_size=40, max_size=40))
def test_the_forest_of_forests_is_the_forest_of_the_whole(edges, parts_of_edge):
    """An edge is in part 1, in part 2, or in both."""
    one, other = ([edge for edge, parts in zip(edges, parts_of_edge) if parts & part] for part in (1, 2))
    found = spanning_forest(MAX_NODES, joined(forest_of(one), forest_of(other)))
    assert as_list(found) == kruskal(MAX_NODES, edges)


@given(st.lists(st.sets(st.integers(0, MAX_NODES - 1), min_size=1), max_size=4), graphs)
def test_a_class_at_similarity_1_is_a_star_from_its_smallest_node(sets, others):
    nodes: set[int] = set()
    classes = []
    for members in sets:
        classes.append(sorted(members - nodes))
        nodes |= members
    equal = [(a, b, 1.0) for members in classes for a, b in combinations(members, 2)]
    found = as_list(forest_of(equal + [(a, b, similarity / 2) for a, b, similarity in others]))
    stars = {(members[0], node) for members in classes for node in members[1:]}
    assert {(a, b) for a, b, similarity in found if similarity == 1} == stars


@given(graphs, st.integers(1, 9))
def test_the_forest_of_blocks_in_order_is_that_of_kruskal(edges, block_edges):
    in_order, forest, found = sorted(edges, key=lambda edge: (-edge[2], *edge[:2])), ForestOfBlocks(MAX_NODES), []
    for first in range(0, len(edges), block_edges):
        block = in_order[first : first + block_edges]
        found += [block[row] for row in forest.add(*as_edges(block)[:2]).tolist()]
    assert found == kruskal(MAX_NODES, edges)


def test_the_forest_of_many_edges():
    random = np.random.default_rng(1)
    edges = [(a, b, round(random.random(), 2)) for a, b in combinations(range(120), 2)]
    assert as_list(spanning_forest(120, as_edges(edges))) == kruskal(120, edges)


@pytest.mark.parametrize("num_nodes", [0, 1, 3])
def test_the_forest_of_no_edges_is_empty(num_nodes):
    assert as_list(spanning_forest(num_nodes, as_edges([]))) == []


# Useless edges


@given(graphs, graphs)
def test_no_edge_of_the_forest_is_taken_for_useless(one, other):
    forest, edges = forest_of(one), as_edges(other)
    useful = without_useless(MAX_NODES, forest, edges)
    assert set(as_list(useful)) <= set(other)
    found = spanning_forest(MAX_NODES, joined(forest, useful))
    assert as_list(found) == as_list(spanning_forest(MAX_NODES, joined(forest, edges)))


def test_edges_that_better_ones_replace_are_useless():
    """Levels are 0.5, 0.7 and 0.9: the least, the tenth and the middle of the forest's similarities."""
    forest = as_edges([(node, node + 1, tenths / 10) for node, tenths in enumerate([5, 7] + [9] * 4 + [10] * 5)])
    useless = [(7, 10, 0.9), (7, 10, 0.8), (2, 5, 0.7), (1, 4, 0.5), (3, 5, 0.1)]
    # Better than all edges at some place between its ends; or worse, but not at one of the levels.
    useful = [(0, 1, 0.6), (2, 6, 0.95), (0, 12, 0.1), (2, 6, 0.8)]
    assert as_list(without_useless(13, forest, as_edges(useless + useful))) == useful


def test_no_edge_is_useless_for_an_empty_forest():
    edges = [(0, 1, 0.5), (0, 2, 0.5), (1, 2, 0.1)]
    assert as_list(without_useless(3, as_edges([]), as_edges(edges))) == edges
    assert as_list(without_useless(3, forest_of(edges), as_edges([]))) == []
