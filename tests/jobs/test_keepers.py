"""Keepers of clusters: those of plain Python, with the similarities that are known."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import Any, Optional

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import jobs.keepers
from jobs.clusters import Cluster
from jobs.keep_policy import order_of
from jobs.keepers import KeptCluster, KeptClusters, members_of, read_ranks
from jobs.members import NOBODY
from lsh_core.errors import LookalikeError
from tests.cleaning import KEEPERS, kept_cluster
from tests.oracles import Pair, clusters

IDS = "abcdefgh"
graphs = st.sets(st.tuples(st.sampled_from(IDS), st.sampled_from(IDS)).filter(lambda pair: pair[0] < pair[1]))
similarities = st.integers(80, 100).map(lambda percent: percent / 100)
all_ranks = st.fixed_dictionaries({doc_id: st.sampled_from([None, -1, 0, 0.5, 7]) for doc_id in IDS})


def linked(pairs: dict[Pair, float]) -> list[Cluster]:
    return [Cluster(doc_ids, [(a, b, similarity) for (a, b), similarity in pairs.items() if a in doc_ids])
            for doc_ids in clusters(pairs)]


@pytest.mark.parametrize("kind", KEEPERS)
def test_empty(kind: str) -> None:
    assert list(KeptClusters(kind, [], {})) == []


@pytest.mark.parametrize("kind", KEEPERS)
@given(graphs, all_ranks, st.data())
def test_keepers_are_those_of_plain_python(
    kind: str, graph: set[Pair], ranks: dict[str, Any], data: st.DataObject
) -> None:
    pairs = {pair: data.draw(similarities) for pair in sorted(graph)}
    keeper_of = KEEPERS[kind](pairs, lambda doc_id: order_of(ranks[doc_id], doc_id))
    members = defaultdict(list)
    for doc_id, keeper in sorted(keeper_of.items()):
        members[keeper].append(doc_id)
    expected = [KeptCluster(keeper, doc_ids, {
        doc_id: pairs[pair] for doc_id in doc_ids for pair in ((doc_id, keeper), (keeper, doc_id)) if pair in pairs})
        for keeper, doc_ids in members.items() if len(doc_ids) > 1]
    found = KeptClusters(kind, linked(pairs), ranks)
    assert list(found) == sorted(expected, key=lambda cluster: cluster.doc_ids[0])
    assert list(found) == list(found)
    if kind == "keeper":
        assert all(set(doc_ids) - {keeper} == set(known) for keeper, doc_ids, known, _ in found)


def test_without_ranks_the_smallest_id_is_kept() -> None:
    for kind in KEEPERS:
        (cluster,) = KeptClusters(kind, [Cluster(["10", "9"], [("10", "9", 0.9)])], {})
        assert cluster == KeptCluster("10", ["10", "9"], {"9": 0.9})


def test_of_a_document_on_several_lines_the_best_rank_counts() -> None:
    lines = [json.dumps(line).encode() for line in (["a", 3], ["b", None], ["a", -2.5], ["b", None], ["c", None],
                                                    ["a", None], ["c", 10**30])]
    assert read_ranks([]) == {}
    assert read_ranks(lines) == read_ranks(reversed(lines)) == {"a": -2.5, "b": None, "c": 10**30}


def test_members_have_cluster_keeper_and_similarity() -> None:
    members = members_of([kept_cluster("abc", "b", [("a", 0.9)]), kept_cluster("de", "d", [("e", 0.8)])])

    def row(doc_id: str) -> tuple[int, bool, Optional[float]]:
        (found,) = members.find([doc_id])
        assert found != NOBODY
        similarity = float(members.similarities[found])
        return int(members.clusters[found]), bool(members.is_keeper[found]), similarity

    assert [row("a"), row("e")] == [(0, False, 0.9), (1, False, 0.8)]
    assert [row(keeper)[:2] for keeper in "bd"] == [(0, True), (1, True)]
    assert np.isnan(row("c")[2])
    assert members.find(["f"]).tolist() == [NOBODY]


def test_large_clusters_have_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs.keepers, "PART_DOCS", 2)
    all_clusters = [kept_cluster("ab", "a"), kept_cluster("cde", "c"), kept_cluster("fghi", "f"),
                    kept_cluster("jklmn", "j")]
    members = members_of(all_clusters)
    for (keeper, doc_ids, *_), num_parts in zip(all_clusters, (1, 2, 2, 3)):
        assert members.num_parts[members.find(doc_ids)].tolist() == [num_parts] * len(doc_ids), keeper


def test_more_members_than_a_task_can_hold_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs.keepers, "MAX_MEMBERS", 4)
    members_of([kept_cluster("ab", "a"), kept_cluster("cd", "c")])
    with pytest.raises(LookalikeError, match="more than 4 documents have near-duplicates: clean the corpus in parts"):
        members_of([kept_cluster("ab", "a"), kept_cluster("cde", "c")])
