"""Large-star and small-star, done at all nodes in turn, end with a star in each component."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import Any, Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsh_core.clustering import large_star, small_star
from tests.oracles import clusters

Edges = set[tuple[Any, Any]]


def at_all_nodes(star: Callable[..., Iterator[tuple[Any, Any]]], neighbors_of: Iterable[tuple[Any, Any]]) -> Edges:
    table: dict[Any, list[Any]] = {}
    for node, neighbor in neighbors_of:
        table.setdefault(node, []).append(neighbor)
    edges = [edge for node, neighbors in table.items() for edge in star(node, neighbors)]
    # They never become more, and run from the larger node to the smaller.
    assert len(edges) <= len(set(map(frozenset, neighbors_of)))
    assert all(larger > smaller for larger, smaller in edges)
    return set(edges)


def large_stars(edges: Edges) -> Edges:
    return at_all_nodes(large_star, edges | {(b, a) for a, b in edges})


def small_stars(edges: Edges) -> Edges:
    return at_all_nodes(small_star, edges)


def stars_of(edges: Edges) -> tuple[Edges, int]:
    """The edges once they no longer change, and the number of rounds."""
    num_rounds, before = 0, None
    while edges != before:
        before, edges = edges, small_stars(large_stars(edges))
        num_rounds += 1
    return edges, num_rounds


def graphs_of(nodes: st.SearchStrategy[Any]) -> st.SearchStrategy[Edges]:
    pairs = st.tuples(nodes, nodes).filter(lambda pair: pair[0] != pair[1])
    return st.sets(pairs.map(lambda pair: (max(pair), min(pair))), max_size=40)


graphs = st.one_of(graphs_of(st.integers(0, 15)), graphs_of(st.sampled_from("abcdefé\t\n猫😀")))


@given(graphs)
def test_each_step_connects_what_was_connected(edges: Edges) -> None:
    assert clusters(large_stars(edges)) == clusters(small_stars(edges)) == clusters(edges)


@given(graphs)
def test_rounds_end_with_each_node_linked_to_the_smallest(edges: Edges) -> None:
    expected = {(node, members[0]) for members in clusters(edges) for node in members[1:]}
    assert stars_of(edges)[0] == expected


@given(graphs)
def test_edges_without_the_node_are_those_that_change(edges: Edges) -> None:
    """What the job counts to know when it is done."""
    both_ways = edges | {(b, a) for a, b in edges}
    new = {edge for node in {a for a, _ in both_ways}
           for star, neighbors in [(large_star, [b for a, b in both_ways if a == node]),
                                   (small_star, [b for a, b in edges if a == node])]
           for edge in star(node, neighbors) if node not in edge}
    assert bool(new) == (large_stars(edges) != edges or small_stars(edges) != edges)


@pytest.mark.parametrize("order", ["ascending", "shuffled", "zigzag"])
def test_a_long_chain_takes_few_rounds(order: str) -> None:
    nodes = list(range(10_000))
    if order == "shuffled":
        random.Random(1).shuffle(nodes)
    elif order == "zigzag":
        nodes = [node for ends in zip(nodes[:5000], reversed(nodes)) for node in ends]
    edges, num_rounds = stars_of({(max(ends), min(ends)) for ends in zip(nodes, nodes[1:])})
    assert edges == {(node, 0) for node in range(1, 10_000)}
    assert num_rounds <= 20


@pytest.mark.parametrize("edges", [
    {(node, 0) for node in range(1, 500)},
    {(499, node) for node in range(499)},
    {(max(node, 250), min(node, 250)) for node in range(500) if node != 250},
    {(b, a) for a, b in combinations(range(60), 2)},
], ids=["star", "star from the largest", "star from the middle", "clique"])
def test_stars_and_cliques_take_one_round_and_one_to_know(edges: Edges) -> None:
    found, num_rounds = stars_of(edges)
    assert found == {(node, 0) for node in range(1, len(found) + 1)} and num_rounds <= 2


def test_a_node_without_neighbors_has_no_edges() -> None:
    assert list(large_star(5, [])) == list(small_star(5, [])) == []
