"""From links to clusters: in memory, or by rounds of ``mr_clusters`` where links are very many."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby, islice
from pathlib import Path
from typing import Callable, NamedTuple

import numpy as np

from jobs.edges import decode_edge, decode_id, read_edges
from jobs.outputs import write_sorted
from jobs.run_report import StepReport
from lsh_core.clustering import Edges, components
from lsh_core.ragged import rows_of, run_starts

MEMORY_LINKS = 1_000_000
"""As many links as this, or fewer, are read into memory. Where no two of them share a document, they take 350 MB there,
and 500 MB once the members of their clusters are written."""


class Cluster(NamedTuple):
    """All ids in their order, and the links between them; those of rounds are not at hand."""

    doc_ids: list[str]
    links: list[tuple[str, str, float]]
    joins: tuple[str, ...] = ()
    """The first documents of clusters of an index that are one in this."""


RunRound = Callable[[Path, Path], StepReport]
"""Runs ``mr_clusters`` over one file, and writes its lines to another."""


def clusters_of_links(
    links: Path, run_round: RunRound, tmp_dir: Path, memory_links: int = MEMORY_LINKS
) -> Iterable[Cluster]:
    """The clusters of a file of links or pairs, in the order of their smallest ids; both ways give the same.

    They can be gone through more than once.
    """
    if has_more_lines(links, memory_links):
        stars = tmp_dir / "stars"
        write_sorted(find_stars(links, run_round, tmp_dir), stars, tmp_dir)
        return StarClusters(stars)
    with open(links, "rb") as file:
        return LinkedClusters(*read_edges(file))


def has_more_lines(path: Path, num_lines: int) -> bool:
    """Whether a file has more lines than this; no more of it is read than needed."""
    with open(path, "rb") as file:
        return sum(1 for _ in islice(file, num_lines + 1)) > num_lines


class LinkedClusters:
    """Clusters of links, all of which are in memory, as numbers; ids and links of one at a time are spelled out."""

    def __init__(self, ids: list[str], edges: Edges) -> None:
        roots = components(len(ids), edges.a, edges.b)
        self._ids, self._nodes = ids, np.argsort(roots, kind="stable")
        self._edges = edges.where(np.argsort(roots[edges.a], kind="stable"))
        # Every cluster has nodes and links.
        self._num_nodes, self._num_links = (
            np.diff(run_starts(ordered), append=len(ordered)) for ordered in (roots[self._nodes], roots[self._edges.a]))

    def __iter__(self) -> Iterator[Cluster]:
        doc_ids = (self._ids[node] for node, in rows_of(self._nodes))
        links = ((self._ids[a], self._ids[b], similarity) for a, b, similarity in rows_of(*self._edges))
        for num_nodes, num_links in rows_of(self._num_nodes, self._num_links):
            yield Cluster(list(islice(doc_ids, num_nodes)), list(islice(links, num_links)))


class StarClusters:
    """Clusters of a sorted file of edges from each id to the smallest of its cluster; one at a time is in memory."""

    def __init__(self, stars: Path) -> None:
        self._stars = stars

    def __iter__(self) -> Iterator[Cluster]:
        with open(self._stars, "rb") as lines:
            for name, edges in groupby((decode_edge(line[:-1]) for line in lines), key=lambda edge: edge[0]):
                yield Cluster([decode_id(name), *(decode_id(larger) for _, larger in edges)], [])


def find_stars(links: Path, run_round: RunRound, tmp_dir: Path) -> Path:
    """Run rounds until one changes nothing: a file of edges from each id of a cluster to its smallest."""
    edges, before = tmp_dir / "cluster-edges", tmp_dir / "cluster-edges-before"
    step = run_round(links, edges)
    while step.counters.get("changed_edges"):
        edges.replace(before)
        step = run_round(before, edges)
    return edges
