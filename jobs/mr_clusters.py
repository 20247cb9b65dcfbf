"""One round on the way from links to clusters, where links are too many for memory: large-star, then small-star.

A round links nodes to smaller nodes than before. Once one counts no ``changed_edges``, each node is linked
to the smallest id of its cluster: ``clusters.py`` repeats the job until then. The number of rounds grows with the
logarithm of the longest chain; edges never become more.

A reducer reads the neighbors of its node twice, and holds but few of them: the center of a large star has millions. On
Spark it is Spark that groups values, in a worker's memory and, beyond ``spark.python.worker.memory``, on disk.
"""

import jobs.task_check  # noqa: F401

# isort: split
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain, islice
from tempfile import TemporaryFile
from typing import IO, Callable

from jobs.base import BatchMapJob, Record
from jobs.edges import decode_edge, encode_edge
from jobs.lean_mrjob import MRStep
from jobs.records import STATS_KEY
from lsh_core.clustering import large_star, small_star

MAX_HELD = 100_000
"""Neighbors of a node that are held in memory; of more, all are in a temporary file."""

Star = Callable[[bytes, Iterable[bytes]], Iterator[tuple[bytes, bytes]]]


class MRClusters(BatchMapJob):
    """Two steps: node -> neighbors, large-star; node -> smaller neighbors, small-star; lines of edges

    Ids travel as bytes that sort as ids do.
    """

    def steps(self) -> list[MRStep]:
        return [
            MRStep(mapper_init=self.mapper_init, mapper=self.mapper, mapper_final=self.mapper_final,
                   reducer=self.reduce_large_star, reducer_final=self.large_star_final),
            MRStep(reducer=self.reduce_small_star, reducer_final=self.small_star_final),
        ]

    def map_batch(self, lines: list[bytes]) -> Iterator[Record]:
        """lines of links.jsonl, of pairs.jsonl or of this job's output -> node, neighbor"""
        shuffle_bytes = 0
        for one, other in map(decode_edge, lines):
            shuffle_bytes += 2 * (len(one) + len(other) + 2)
            yield one, other
            yield other, one
        self.count({"shuffle_bytes": shuffle_bytes})

    def reduce_large_star(self, node: bytes, neighbors: Iterable[bytes]) -> Iterator[Record]:
        """node, neighbors -> larger node, smaller node"""
        if node == STATS_KEY:
            yield from ((STATS_KEY, counts) for counts in neighbors)
        else:
            shuffle_bytes = 0
            for larger, smaller in self._star(large_star, node, neighbors):
                shuffle_bytes += len(larger) + len(smaller) + 2
                yield larger, smaller
            self.count({"shuffle_bytes": shuffle_bytes})

    def large_star_final(self) -> Iterator[Record]:
        for counts in self.told_counts():
            yield STATS_KEY, counts

    def reduce_small_star(self, node: bytes, smaller_neighbors: Iterable[bytes]) -> Iterator[Record]:
        """larger node, smaller nodes -> lines of edges"""
        if node == STATS_KEY:
            yield from ((None, counts) for counts in smaller_neighbors)
        else:
            for larger, smaller in self._star(small_star, node, smaller_neighbors):
                yield None, encode_edge(larger, smaller)

    def small_star_final(self) -> Iterator[Record]:
        for counts in self.told_counts():
            yield None, counts

    def _star(self, star: Star, node: bytes, neighbors: Iterable[bytes]) -> Iterator[tuple[bytes, bytes]]:
        """The edges of a star; those of them that are new, since all former ones end at the node, are counted."""
        num_changed = 0
        with readable_twice(neighbors) as held:
            for edge in star(node, held):
                num_changed += node not in edge
                yield edge
        self.count({"changed_edges": num_changed})


class _Lines:
    """The lines of a file, from the first one each time that they are read."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def __iter__(self) -> Iterator[bytes]:
        self._file.seek(0)
        return (line[:-1] for line in self._file)


@contextmanager
def readable_twice(values: Iterable[bytes]) -> Iterator[Iterable[bytes]]:
    """Values that come but once, to be read again: from memory if they are few, else from a file."""
    rest = iter(values)
    held = list(islice(rest, MAX_HELD))
    if len(held) < MAX_HELD:
        yield held
        return
    # In the task's own folder, which is where the user wants temporary files to be.
    with TemporaryFile(dir=os.curdir) as file:
        file.writelines(value + b"\n" for value in chain(held, rest))
        yield _Lines(file)


if __name__ == "__main__":
    MRClusters.run()
