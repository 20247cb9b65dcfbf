"""A corpus held against another: by its documents beside brute force, whatever the ids, the files and the engine."""

from __future__ import annotations

import gzip
import json
import os
import tempfile
from collections.abc import Iterable, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import jobs.gate_file
import jobs.pipeline
from jobs.cleaning import Cleaning, clean_corpus
from jobs.job_runner import Run
from jobs.keep_policy import KeepPolicy
from jobs.pipeline import find_pairs
from lsh_core.settings import Settings
from tests.helpers import Pairs, json_lines, lookalike, made_up_documents, read_json_lines, read_run
from tests.jobs.test_links import kruskal
from tests.oracles import brute_force_pairs, clusters
from tests.passes import QUIET, written

# With 60 bands of one row no pair at 0.5 is missed.
SURE = Settings(threshold=0.5, bands=60, rows=1, shingle="char:2")
Documents = list[tuple[str, str]]

texts = st.text("abc", min_size=3, max_size=9)
documents = st.lists(st.tuples(st.sampled_from("1234é"), texts), max_size=6, unique_by=lambda document: document[0])


class Corpora(NamedTuple):
    """The documents of the input, and of what it is held against."""

    own: Documents
    against: Documents

    def wanted(self, only_across: bool = False) -> Pairs:
        """Pairs by brute force, of ids that tell the corpus by their first letter."""
        marked = {"0" + doc_id: text for doc_id, text in self.against}
        marked.update({"1" + doc_id: text for doc_id, text in self.own})
        pairs = brute_force_pairs(marked, SURE.threshold, k=2)
        starts = ("01",) if only_across else ("01", "11")
        return {(a, b): similarity for (a, b), similarity in pairs.items() if a[0] + b[0] in starts}


def run_of(folder: Path, corpora: Corpora, name: str = "out", runner: str = "inline", **choices: Any) -> Run:
    own, against = (written(folder / f"{name}-{side}.jsonl", json_lines(dict(docs)))
                    for side, docs in zip(("own", "against"), corpora))
    return Run([own], folder / name, runner, against=[against], **choices)


def shown(pairs: Pairs, only_across: bool = False) -> list[dict[str, Any]]:
    """What a file holds of pairs of marked ids, in some order."""
    where = {} if only_across else {"b_in": "against"}
    return [{"a": b[1:], "b": a[1:], **where, "similarity": similarity} if a[0] == "0"
            else {"a": a[1:], "b": b[1:], "similarity": similarity} for (a, b), similarity in pairs.items()]


def in_order(records: Iterable[dict[str, Any]]) -> list[str]:
    return sorted(json.dumps(record, ensure_ascii=False) for record in records)


def file_in_order(path: Path) -> list[str]:
    lines = path.read_text(encoding="utf-8").splitlines()
    assert [line.encode() for line in lines] == sorted(line.encode() for line in lines)
    return sorted(lines)


@given(documents, documents)
@settings(max_examples=15)
def test_pairs_and_links_are_those_between_the_two(own: Documents, against: Documents) -> None:
    corpora = Corpora(own, against)
    with tempfile.TemporaryDirectory() as name:
        run = run_of(Path(name), corpora, only_across=True)
        find_pairs(run, SURE, QUIET)
        assert file_in_order(Path(name, "out", "pairs.jsonl")) == in_order(shown(corpora.wanted(True), True))
        find_pairs(run_of(Path(name), corpora, "linked", only_across=True, links=True), SURE, QUIET)
        forest = kruskal(corpora.wanted(True))
        assert file_in_order(Path(name, "linked", "links.jsonl")) == in_order(shown(forest, True))


def removed_by_chains(pairs: Pairs, _: Any) -> dict[str, str]:
    return {doc_id: cluster[0] for cluster in clusters(pairs) for doc_id in cluster[1:] if doc_id[0] == "1"}


def removed_by_keepers(pairs: Pairs, in_keeping_order: Sequence[str]) -> dict[str, str]:
    keeper_of: dict[str, str] = {}
    for number, doc_id in enumerate(in_keeping_order):
        for other in in_keeping_order[number + 1 :] if doc_id not in keeper_of else ():
            if (min(doc_id, other), max(doc_id, other)) in pairs:
                keeper_of.setdefault(other, doc_id)
    return keeper_of


@given(documents, documents, st.sampled_from(["id", "longest"]), st.sampled_from(["chain", "keeper"]))
@settings(max_examples=20)
def test_dedup_removes_what_is_like_the_other_corpus_and_near_duplicates_inside(
    own: Documents, against: Documents, policy: str, kind: str
) -> None:
    corpora, text_of = Corpora(own, against), {"1" + doc_id: text for doc_id, text in own}
    pairs = corpora.wanted()
    order = [*sorted("0" + doc_id for doc_id, _ in against),
             *sorted(text_of, key=lambda doc_id: (-len(text_of[doc_id]) if policy == "longest" else 0, doc_id))]
    if kind == "chain" and policy == "longest":
        expected = {doc_id: min(cluster, key=order.index) for cluster in clusters(pairs) for doc_id in cluster}
        expected = {doc_id: keeper for doc_id, keeper in expected.items() if doc_id != keeper and doc_id[0] == "1"}
    else:
        expected = (removed_by_chains if kind == "chain" else removed_by_keepers)(pairs, order)
    with tempfile.TemporaryDirectory() as name:
        run = run_of(Path(name), corpora, links=kind == "chain")
        clean_corpus(run, SURE, Cleaning(kind, KeepPolicy(policy)), QUIET)
        out = Path(name, "out")
        kept, removed = (read_json_lines(out / f"{part}.jsonl") for part in ("kept", "removed"))
        told = {"1" + record["id"]: ("0" if "keeper_in" in record else "1") + record["keeper"] for record in removed}
        assert told == expected
        assert [record["id"] for record in kept] == [doc_id for doc_id, _ in own if "1" + doc_id not in expected]
        similarities = brute_force_pairs({**text_of, **{"0" + doc_id: text for doc_id, text in against}}, 0.0, k=2)
        for record, (doc_id, keeper) in zip(removed, told.items()):
            assert record["similarity"] == similarities.get((min(doc_id, keeper), max(doc_id, keeper)), 0.0)
        _check_clusters(out, pairs, told, kind)
        assert file_in_order(out / ("links.jsonl" if run.links else "pairs.jsonl")) == in_order(
            shown(kruskal(pairs) if run.links else pairs))


def _check_clusters(out: Path, pairs: Pairs, keeper_of: dict[str, str], kind: str) -> None:
    found = read_json_lines(out / "clusters.jsonl")
    sides = (("0", "against"), ("1", "members"))
    members = [[mark + doc_id for mark, name in sides for doc_id in cluster.get(name, ())] for cluster in found]
    assert [cluster["size"] for cluster in found] == list(map(len, members))
    assert ["against" in cluster for cluster in found] == [ids[0][0] == "0" for ids in members]
    if kind == "chain":
        assert members == clusters(pairs)
    else:
        assert {doc_id for ids in members for doc_id in ids} == {*keeper_of, *keeper_of.values()}
    keepers = [("0" if "against" in cluster else "1") + cluster["keeper"] for cluster in found]
    assert {doc_id: keeper for ids, keeper in zip(members, keepers) for doc_id in ids
            if doc_id != keeper and doc_id[0] == "1"} == keeper_of


def made_up_corpora(num_documents: int = 60) -> Corpora:
    """Families of near-duplicates, cut in two, with the same ids, and some equal texts in both."""
    found = list(made_up_documents(num_documents, seed=5, num_words=12).values())
    half = num_documents // 2
    return Corpora([(str(number), text) for number, text in enumerate(found[:half])],
                   [(str(number), text) for number, text in enumerate(found[half - 5 :])])


def results(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name not in ("run.json", "removed.jsonl")}


@pytest.mark.parametrize("links", [False, True])
def test_same_bytes_from_many_files_and_processes(tmp_path: Path, links: bool) -> None:
    own, against = corpora = made_up_corpora()
    clean = Cleaning("chain" if links else "keeper", KeepPolicy("longest"))
    clean_corpus(run_of(tmp_path, corpora, links=links), SURE, clean, QUIET)
    find_pairs(run_of(tmp_path, corpora, "pairs", only_across=True, links=links), SURE, QUIET)
    (tmp_path / "b").mkdir()
    files = [written(tmp_path / f"a{number}.jsonl", json_lines(dict(part)))
             for number, part in enumerate((own[:9], own[9:]))]
    others = [tmp_path / "b" / "0.jsonl.gz", tmp_path / "b" / "a1.jsonl"]
    others[0].write_bytes(gzip.compress(b"\n".join(json_lines(dict(against[:20])))))
    written(others[1], json_lines(dict(against[20:])))
    run = Run(files, tmp_path / "local", "local", cores=3, against=list(map(str, others)), links=links)
    clean_corpus(run, SURE, clean, QUIET)
    assert results(tmp_path / "local") == results(tmp_path / "out")
    run = Run(files, tmp_path / "local_pairs", "local", cores=3, against=[str(tmp_path / "b")], only_across=True,
              links=links)
    find_pairs(run, SURE, QUIET)
    assert results(tmp_path / "local_pairs") == results(tmp_path / "pairs")


@pytest.mark.parametrize("way", ["hot", "filter", "shards"])
def test_same_bytes_by_every_gate(tmp_path: Path, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    corpora, clean = made_up_corpora(), Cleaning()
    clean_corpus(run_of(tmp_path, corpora, links=True), SURE, clean, QUIET)
    if way == "filter":
        monkeypatch.setattr(jobs.gate_file, "MAX_MEMBERS", 0)
    if way == "shards":
        monkeypatch.setattr(jobs.pipeline, "GATE_REDUCER_BYTES", 3000)
    other = SURE.replace(max_bucket_docs=3) if way == "hot" else SURE
    clean_corpus(run_of(tmp_path, corpora, "other", links=True), other, clean, QUIET)
    assert results(tmp_path / "other") == results(tmp_path / "out")


@pytest.mark.parametrize(("own", "against"), list(product([True, False], repeat=2)))
def test_empty(tmp_path: Path, own: bool, against: bool) -> None:
    corpora = Corpora([("x", "abcdef")] * own, [("x", "abcdeg")] * against)
    clean_corpus(run_of(tmp_path, corpora, links=True), SURE, Cleaning(), QUIET)
    assert len(read_json_lines(tmp_path / "out" / "kept.jsonl")) == (own and not against)
    assert len(read_json_lines(tmp_path / "out" / "removed.jsonl")) == (own and against)
    find_pairs(run_of(tmp_path, corpora, "pairs", only_across=True), SURE, QUIET)
    assert len(read_json_lines(tmp_path / "pairs" / "pairs.jsonl")) == (own and against)


def test_of_a_corpus_against_its_copy_nothing_is_left(tmp_path: Path) -> None:
    own, _ = made_up_corpora()
    clean_corpus(run_of(tmp_path, Corpora(own, own), links=True), SURE, Cleaning("keeper"), QUIET)
    assert (tmp_path / "out" / "kept.jsonl").read_bytes() == b""
    assert {record["keeper_in"] for record in read_json_lines(tmp_path / "out" / "removed.jsonl")} == {"against"}


def test_lines_of_each_corpus_are_told_by_themselves(tmp_path: Path) -> None:
    own = written(tmp_path / "own.jsonl", [*json_lines({"1": "abcdef", "2": "xyzuvw"}) * 2, b"bad", b""])
    against = written(tmp_path / "against.jsonl", [*json_lines({"1": "abcdef"}) * 3, b"worse", b"{", b"[]"])
    done = lookalike("dedup", own, "--against", against, "--out", tmp_path / "out", "--threshold", "0.5")
    assert done.exit_code == 0, done.stderr
    assert "3 lines of --against are no documents" in done.stderr and "worse" not in done.stderr
    run = read_run(tmp_path / "out")
    assert {name: run["input"][name] for name in ("lines", "documents", "copies", "rejected")} == {
        "lines": 6, "documents": 2, "copies": 2, "rejected": 2}
    assert run["against"] == {"files": [against], "bytes": os.path.getsize(against), "lines": 6, "documents": 1,
                              "copies": 2, "rejected": 3}
    assert [record["line"] for record in read_json_lines(tmp_path / "out" / "rejected.jsonl")] == ["bad", ""]
    assert [record["id"] for record in read_json_lines(tmp_path / "out" / "kept.jsonl")] == ["2"]
    told = [(record["id"], record["keeper"], record.get("keeper_in"), record["reason"])
            for record in read_json_lines(tmp_path / "out" / "removed.jsonl")]
    assert sorted(told, key=str) == [("1", "1", "against", "same text"), ("1", "1", None, "same line"),
                                     ("2", "2", None, "same line")]
