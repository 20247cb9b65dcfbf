"""The cleaned corpus: what every line became, put together in files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt

from jobs.errors import JobFailed
from jobs.job_runner import BLOCK_BYTES, blocks_of_lines
from jobs.keepers import KeptCluster
from jobs.kept_lines import HOLE, KEPT, Decision, Place
from jobs.places import Places
from jobs.records import json_bytes
from jobs.sides import is_against, unmarked

KEPT_NAMES = {"jsonl": "kept.jsonl", "tsv": "kept.tsv", "text": "kept.txt", "shingled": "kept.txt"}


class Outcome(NamedTuple):
    """How many lines were kept and removed, and of each cluster the smallest similarity to its keeper."""

    num_kept: int
    num_removed: int
    num_chained: int
    """Documents below the threshold to their keeper."""
    min_similarities: npt.NDArray[np.float64]


def sortable_decisions(lines: Iterable[bytes], places: Places) -> Iterator[bytes]:
    """The output of ``mr_keep``, each line behind a key that sorts by input and line."""
    for line in lines:
        place = Place.decode(line.partition(b"\t")[0])
        yield places.key(place.file, place.start, place.line_in_split) + b"\t" + line


class ClustersWritten(NamedTuple):
    """How many clusters there are, and how many documents of the input go because of them."""

    num_clusters: int
    num_going: int


class CorpusWriter:
    """Writes ``kept`` and ``removed.jsonl``."""

    def __init__(self, kept: BinaryIO, removed: BinaryIO, places: Places, num_clusters: int, threshold: float) -> None:
        self._kept, self._removed, self._places = kept, removed, places
        self._threshold = threshold
        self._min_similarities = np.ones(num_clusters)
        self._num_kept = self._num_removed = self._num_chained = 0

    def write_all(self, rest: BinaryIO, decisions: Iterator[bytes]) -> Outcome:
        """Lines that nothing was asked about, each hole among them filled with the next decision; then all others."""
        for lines in blocks_of_lines(iter(partial(rest.read, BLOCK_BYTES), b"")):
            # No line holds its end: behind one there is a mark.
            first, *others = (b"\n" + lines[:-1]).split(b"\n" + HOLE)
            self._write_rest(first)
            for run in others:
                self._write_decided(next(decisions, b""))
                self._write_rest(run)
        for line in decisions:
            self._write_decided(line)
        return Outcome(self._num_kept, self._num_removed, self._num_chained, self._min_similarities)

    def _write_rest(self, run: bytes) -> None:
        """Write lines that follow one another, each behind an end of line and a mark."""
        if run:
            self._num_kept += run.count(b"\n")
            self._kept.write(run.replace(b"\n" + KEPT, b"\n")[1:] + b"\n")

    def _write_decided(self, line: bytes) -> None:
        if not line:
            raise JobFailed("fewer decisions than lines to decide about: this is a defect, please report it")
        key, _, encoded = line.rstrip(b"\n").partition(b"\t")
        decision = Decision.decode(encoded)
        if decision.is_kept:
            self._num_kept += 1
            self._kept.write(decision.content + b"\n")
            return
        self._num_removed += 1
        self._num_chained += decision.similarity < self._threshold
        if decision.cluster >= 0:
            smallest = min(self._min_similarities[decision.cluster], decision.similarity)
            self._min_similarities[decision.cluster] = smallest
        place = json_bytes(self._places.shown(key, Place.decode(decision.place).file))
        self._removed.write(b'{"place": %b, %b\n' % (place, decision.content[1:]))


def write_clusters(
    path: Path, clusters: Iterable[KeptCluster], outcome: Outcome, has_marks: bool = False
) -> ClustersWritten:
    """Write ``clusters.jsonl``."""
    with open(path, "wb") as file:
        number, num_going = -1, 0
        for number, cluster in enumerate(clusters):
            found = {"cluster": number, "keeper": cluster.keeper, "size": len(cluster.doc_ids),
                     "min_similarity": float(outcome.min_similarities[number]), "members": cluster.doc_ids}
            file.write(json_bytes(_without_marks(found, cluster.joins) if has_marks else found) + b"\n")
            num_going += sum(doc_id != cluster.keeper and not (has_marks and is_against(doc_id))
                             for doc_id in cluster.doc_ids)
    return ClustersWritten(number + 1, num_going)


def _without_marks(cluster: dict[str, Any], joins: Sequence[str]) -> dict[str, Any]:
    """A cluster of ids that are marked as those of one of two corpora, as users see it."""
    ids = {side: [unmarked(doc_id) for doc_id in cluster["members"] if is_against(doc_id) == side]
           for side in (False, True)}
    others = {"against": ids[True]} if ids[True] else {}
    others.update({"joins": [unmarked(doc_id) for doc_id in joins]} if joins else {})
    return {**cluster, "keeper": unmarked(cluster["keeper"]), "members": ids[False], **others}
