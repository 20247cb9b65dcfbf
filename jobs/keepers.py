"""From clusters to their keepers: who stays, who goes, and how similar they are known to be."""

from __future__ import annotations

import json
import math
from array import array
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from jobs.clusters import Cluster
from jobs.keep_policy import Rank, order_of
from jobs.members import MAX_MEMBERS, Members
from lsh_core.clustering import greedy_clusters
from lsh_core.errors import LookalikeError
from lsh_core.hashing import digests128

FIRST = -math.inf
"""The rank of documents that have none: all of them under the policy ``id``, else those of a corpus that this one is
held against, which stay keepers."""

PART_DOCS = 500
"""Documents of a cluster that are compared with the keeper in one reducer."""


class KeptCluster(NamedTuple):
    """A keeper, all ids of its cluster in their order, and those similarities to the keeper that are known."""

    keeper: str
    doc_ids: list[str]
    similarities: dict[str, float]
    joins: tuple[str, ...] = ()


def read_ranks(lines: Iterable[bytes]) -> dict[str, Rank]:
    """The output of ``mr_ranks``; of a document on several lines the best rank counts."""
    ranks: dict[str, Rank] = {}
    for line in lines:
        doc_id, rank = json.loads(line)
        if doc_id not in ranks or order_of(rank, doc_id) < order_of(ranks[doc_id], doc_id):
            ranks[doc_id] = rank
    return ranks


def chain_keepers(clusters: Iterable[Cluster], ranks: Mapping[str, Rank]) -> Iterator[KeptCluster]:
    """All of a cluster goes but the first in the order of keeping."""
    for doc_ids, links, joins in clusters:
        keeper = min(doc_ids, key=lambda doc_id: order_of(ranks.get(doc_id, FIRST), doc_id))
        known = {b if a == keeper else a: similarity for a, b, similarity in links if keeper in (a, b)}
        yield KeptCluster(keeper, doc_ids, known, joins)


def greedy_keepers(clusters: Iterable[Cluster], ranks: Mapping[str, Rank]) -> Iterator[KeptCluster]:
    """The first takes all that are similar to it, and so on with the rest; ``links`` are all pairs."""
    kept = [part for cluster in clusters for part in _greedy_parts(cluster, ranks)]
    return iter(sorted(kept, key=lambda part: part.doc_ids[0]))


def _greedy_parts(cluster: Cluster, ranks: Mapping[str, Rank]) -> Iterator[KeptCluster]:
    in_order = sorted(cluster.doc_ids, key=lambda doc_id: order_of(ranks.get(doc_id, FIRST), doc_id))
    number_of = {doc_id: number for number, doc_id in enumerate(in_order)}
    ends = np.array([[number_of[a], number_of[b]] for a, b, _ in cluster.links]).T
    keeper_of = {doc_id: in_order[keeper]
                 for doc_id, keeper in zip(in_order, greedy_clusters(len(in_order), *ends).tolist())}
    parts = {keeper: KeptCluster(keeper, [], {}) for keeper in set(keeper_of.values())}
    for doc_id in cluster.doc_ids:
        parts[keeper_of[doc_id]].doc_ids.append(doc_id)
    for a, b, similarity in cluster.links:
        for keeper, other in ((a, b), (b, a)):
            if keeper_of[other] == keeper:
                parts[keeper].similarities[other] = similarity
    return (part for part in parts.values() if len(part.doc_ids) > 1)


def members_of(clusters: Iterable[KeptCluster]) -> Members:
    """The side file of clusters, which are numbered as they come."""
    digests, sizes, is_keeper, similarities = bytearray(), array("q"), bytearray(), array("d")
    for keeper, doc_ids, known, _ in clusters:
        sizes.append(len(doc_ids))
        digests += digests128(doc_id.encode() for doc_id in doc_ids).tobytes()
        is_keeper += bytes(doc_id == keeper for doc_id in doc_ids)
        similarities.extend(known.get(doc_id, math.nan) for doc_id in doc_ids)
        if len(is_keeper) > MAX_MEMBERS:
            raise LookalikeError(f"more than {MAX_MEMBERS:,} documents have near-duplicates: clean the corpus in parts")
    num_docs = np.array(sizes, np.int64)
    return Members(
        np.frombuffer(digests, "S16"), np.repeat(np.arange(len(num_docs)), num_docs),
        np.repeat(-(-num_docs // PART_DOCS), num_docs), np.frombuffer(is_keeper, bool),
        np.frombuffer(similarities, np.float64)).in_order()


class KeptClusters:
    """Clusters with their keepers, which can be gone through more than once without all of them in memory."""

    def __init__(self, kind: str, clusters: Iterable[Cluster], ranks: Mapping[str, Rank]) -> None:
        self._choose = {"chain": chain_keepers, "keeper": greedy_keepers}[kind]
        self._clusters, self._ranks = clusters, ranks

    def __iter__(self) -> Iterator[KeptCluster]:
        return self._choose(self._clusters, self._ranks)
