"""Decisions about documents that have company: one for each line, whatever the parts, tasks and copies."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import jobs.held_lines
import jobs.keepers
import jobs.mr_keep
from jobs.kept_lines import Decision, Place
from jobs.mr_keep import MRKeep, NoKeeper, SameId
from tests import oracles
from tests.cleaning import kept_cluster, side_files
from tests.helpers import json_lines, made_up_documents, run_job
from tests.passes import written

TEXTS = {"a": "a text that others are like", "b": "a text that others are like!", "c": "A text that others are like",
         "d": "a  text that others are like", "e": "quite another", "alone": "nothing like it"}
LINES = json_lines(TEXTS)
CLUSTERS = [kept_cluster("abcd", "b", [("a", 0.5)])]


def decisions(lines: list[bytes], *options: str) -> list[Decision]:
    """The decisions of the job, in the order of their places."""
    output = run_job(MRKeep, lines, *options)
    found = sorted(map(Decision.decode, output.lines), key=lambda one: Place.decode(one.place))
    assert output.counts.get("kept", 0) == sum(one.is_kept for one in found)
    assert output.counts.get("removed", 0) == sum(not one.is_kept for one in found)
    return found


def told(found: list[Decision]) -> list[tuple[str, ...]]:
    """(id,) of what is kept, (id, keeper, reason) of what is removed."""
    records = [json.loads(one.content) for one in found]
    return [(record["id"],) if one.is_kept else (record["id"], record["keeper"], record["reason"])
            for one, record in zip(found, records)]


def test_empty(tmp_path: Path) -> None:
    assert run_job(MRKeep, [], *side_files(tmp_path, [], [])) == ([], {})


def test_all_of_a_cluster_but_the_keeper_is_removed(tmp_path: Path) -> None:
    found = decisions(LINES, *side_files(tmp_path, LINES, CLUSTERS))
    assert told(found) == [("a", "b", "similar"), ("b",), ("c", "b", "similar"), ("d", "b", "similar")]
    sets = {doc_id: oracles.shingles(oracles.normalize(text)) for doc_id, text in TEXTS.items()}
    # What is known is not counted again.
    assert [one.similarity for one in found] == [0.5, 1.0, *(oracles.jaccard(sets["b"], sets[one]) for one in "cd")]
    assert {one.cluster for one in found} == {0}
    for one, line in zip(found, LINES):
        assert one.content == line if one.is_kept else json.loads(one.content)["line"].encode() == line


def test_equal_texts_are_told_from_similar_ones(tmp_path: Path) -> None:
    found = decisions(LINES, *side_files(tmp_path, LINES, [kept_cluster("acd", "a")]))
    assert told(found) == [("a",), ("c", "a", "similar"), ("d", "a", "same text")]
    assert found[2].similarity == 1.0


def test_two_texts_of_one_id_are_never_taken_for_copies(tmp_path: Path) -> None:
    lines = [*json_lines({"x": "one text"}) * 2, *json_lines({"x": "another"})]
    with pytest.raises(SameId, match='two texts got the id "x"'):
        run_job(MRKeep, lines, *side_files(tmp_path, lines, []))


def test_of_lines_of_one_document_the_smallest_stays_and_of_equal_ones_the_first(tmp_path: Path) -> None:
    lines = [b'{"id": "x", "text": "own", "z": 1}', b'{"id": "x", "text": "own", "y": 1}', LINES[4],
             b'{"id": "x", "text": "own", "y": 1}', b'{"id": "x", "text": "own", "y": 2}']
    found = decisions(lines, *side_files(tmp_path, lines, []), "--num-cores", "1")
    assert [one.is_kept for one in found] == [False, True, False, False]
    assert {one.cluster for one in found} == {-1}
    for one in found:
        if not one.is_kept:
            record = json.loads(one.content)
            assert (record["keeper"], record["similarity"], record["reason"]) == ("x", 1.0, "same line")
            assert "cluster" not in record


@pytest.mark.parametrize(("policy", "kept"), [
    ("max:score", 2), ("min:score", 1), ("longest", 3), ("shortest", 1), ("id", 1)])
def test_of_lines_of_one_document_the_first_by_the_policy_stays(policy: str, kept: int, tmp_path: Path) -> None:
    lines = [b'{"id": "x", "text": "own"}', b'{"id": "x", "score": 1, "text": "own"}',
             b'{"id": "x", "score": 3, "text": "own"}', b'{"id": "x", "score": 2, "text": " own "}']
    for clusters in ([], [kept_cluster("x", "x")]):
        found = decisions(lines, *side_files(tmp_path, lines, clusters), "--keep", policy, "--num-cores", "1")
        assert [one.is_kept for one in found] == [number == kept for number in range(4)]


@pytest.mark.parametrize("told_name", [str, os.path.basename], ids=["path", "base name"])
def test_copies_in_several_files_come_in_the_order_of_the_inputs(
    told_name: Callable[[str], str], tmp_path: Path
) -> None:
    paths = [written(tmp_path / name, LINES[:1]) for name in ("2.jsonl", "1.jsonl", "3.jsonl")]
    found = decisions([], *side_files(tmp_path, LINES[:1] * 3, [], list(map(told_name, paths))), *paths)
    assert [Place.decode(one.place).input_number for one in found] == [0, 1, 2]
    assert [one.is_kept for one in found] == [True, False, False]


@given(st.lists(st.integers(0, 29), max_size=45), st.integers(1, 3), st.sampled_from([1, 2, 7, 500]),
       st.sampled_from([0, 300, 1 << 19]), st.sampled_from([1, 1 << 25]), st.randoms(use_true_random=False))
@settings(max_examples=20)
def test_decisions_do_not_depend_on_order_parts_or_batches(
    tmp_path_factory: pytest.TempPathFactory, copied: list[int], num_cores: int, part_docs: int, check_bytes: int,
    held_bytes: int, choose: random.Random,
) -> None:
    documents = made_up_documents(30, num_words=8)
    doc_ids = sorted(documents)
    cluster, other = kept_cluster(doc_ids[:20], doc_ids[7]), kept_cluster(doc_ids[20:26], doc_ids[20])
    lines = json_lines(documents)
    lines += [lines[number] for number in copied]
    choose.shuffle(lines)
    folder = tmp_path_factory.mktemp("keep")
    with pytest.MonkeyPatch.context() as patches:
        patches.setattr(jobs.keepers, "PART_DOCS", part_docs)
        patches.setattr(jobs.mr_keep, "CHECK_BYTES", check_bytes)
        patches.setattr(jobs.held_lines, "HELD_BYTES", held_bytes)
        options = side_files(folder, lines, [cluster, other])
        found = decisions(lines, *options, "--num-cores", str(num_cores))
    sets = {doc_id: oracles.shingles(oracles.normalize(text)) for doc_id, text in documents.items()}
    with_company = [line for line in lines if lines.count(line) > 1 or json.loads(line)["id"] in doc_ids[:26]]
    assert sorted(json.loads(one.content).get("line", one.content.decode()) for one in found) == sorted(
        map(bytes.decode, with_company))
    kept = [json.loads(one.content)["id"] for one in found if one.is_kept]
    assert sorted(kept) == sorted({cluster.keeper, other.keeper, *(
        doc_id for doc_id in doc_ids[26:] if lines.count(json_lines({doc_id: documents[doc_id]})[0]) > 1)})
    for one in found:
        record = json.loads(one.content)
        if not one.is_kept:
            assert record["similarity"] == one.similarity == oracles.jaccard(
                sets[record["id"]], sets[record["keeper"]])
            assert record["keeper"] == record["id"] or record["keeper"] in (cluster.keeper, other.keeper)


def test_a_keeper_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(NoKeeper, match=r"cluster 0 has no keeper: did the input change\?"):
        decisions(LINES[:1], *side_files(tmp_path, LINES, CLUSTERS))
