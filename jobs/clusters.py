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
from lsh_core.ragged import run_starts

MEMORY_LINKS = 2_000_000
"""As many links as this, or fewer, are read into memory: some 400 bytes each, where no two share a document."""


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
        return list(_clusters_in_memory(*read_edges(file)))


def has_more_lines(path: Path, num_lines: int) -> bool:
    """Whether a file has more lines than this; no more of it is read than needed."""
    with open(path, "rb") as file:
        return sum(1 for _ in islice(file, num_lines + 1)) > num_lines


def _clusters_in_memory(ids: list[str], edges: Edges) -> Iterator[Cluster]:
    roots = components(len(ids), edges.a, edges.b)
    nodes = np.argsort(roots, kind="stable")
    edges = edges.where(np.argsort(roots[edges.a], kind="stable"))
    node_starts, edge_starts = run_starts(roots[nodes]).tolist(), run_starts(roots[edges.a]).tolist()
    names = [ids[node] for node in nodes.tolist()]
    ends = [[ids[node] for node in column.tolist()] for column in edges[:2]]
    links = list(zip(*ends, edges.similarities.tolist()))
    for first, end, first_link, end_link in zip(node_starts, [*node_starts[1:], len(names)],
                                                edge_starts, [*edge_starts[1:], len(links)]):
        yield Cluster(names[first:end], links[first_link:end_link])


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
