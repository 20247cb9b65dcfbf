"""New documents held against an index are as against its documents, and its old links take part in the clusters."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

import jobs.mr_gate
from jobs.cleaning import Cleaning, clean_corpus
from jobs.company import CompanyJob
from jobs.indexing import extend_index, make_index
from jobs.job_runner import Run
from jobs.pipeline import find_pairs
from tests.helpers import json_lines, made_up_documents, read_json_lines, read_run
from tests.jobs.test_against import SURE, documents
from tests.jobs.test_indexing import grown, parts_of
from tests.oracles import brute_force_pairs, clusters
from tests.passes import QUIET, written


@given(documents, documents)
@settings(max_examples=10)
def test_clusters_of_documents_against_an_index_are_those_of_all(
    old: list[tuple[str, str]], new: list[tuple[str, str]]
) -> None:
    marked = {**{"0" + doc_id: text for doc_id, text in old}, **{"1" + doc_id: text for doc_id, text in new}}
    expected = [ids for ids in clusters(brute_force_pairs(marked, SURE.threshold, k=2)) if ids[-1][0] == "1"]
    with tempfile.TemporaryDirectory() as name:
        index, corpus = grown(Path(name), [dict(old)]), written(Path(name, "new.jsonl"), json_lines(dict(new)))
        clean_corpus(Run([corpus], Path(name, "out"), against=[str(index)]), SURE, Cleaning(), QUIET)
        found = read_json_lines(Path(name, "out", "clusters.jsonl"))
        sides = (("0", "against"), ("1", "members"))
        assert expected == [
            [mark + doc_id for mark, side in sides for doc_id in cluster.get(side, ())] for cluster in found]
        old_clusters = clusters(brute_force_pairs({"0" + doc_id: text for doc_id, text in old}, SURE.threshold, k=2))
        first_of = {doc_id: ids[0] for ids in old_clusters for doc_id in ids}
        for cluster in found:
            joined = {first_of.get("0" + doc_id, "0" + doc_id)[1:] for doc_id in cluster.get("against", ())}
            assert cluster.get("joins", []) == (sorted(joined) if len(joined) > 1 else [])


def test_documents_against_an_index_are_as_against_its_documents_and_no_text_of_it_is_sketched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    *old, new = parts_of(made_up_documents(60, seed=5, num_words=12))
    index, corpus = grown(tmp_path, old), written(tmp_path / "new.jsonl", json_lines(new))
    files = [str(tmp_path / f"part{number}.jsonl") for number in range(2)]
    sketched: list[bytes] = []
    keys_of_texts = jobs.mr_gate.keys_of_texts

    def watched(texts: list[bytes], *args: Any) -> Any:
        sketched.extend(texts)
        return keys_of_texts(texts, *args)

    def told(name: str, *against: str) -> list[bytes]:
        find_pairs(Run([corpus], tmp_path / name, "inline", against=against, only_across=True), SURE, QUIET)
        return (tmp_path / name / "pairs.jsonl").read_bytes().splitlines()

    expected = told("files", *files)
    monkeypatch.setattr(jobs.mr_gate, "keys_of_texts", watched)
    assert told("indexed", str(index)) == expected != []
    assert len(sketched) == len(new)
    (tmp_path / "first").mkdir()
    assert told("both", str(grown(tmp_path / "first", old[:1])), files[1]) == expected
    runs = [read_run(tmp_path / name)["against"] for name in ("files", "indexed")]
    assert [run["documents"] for run in runs] == [40, 40]
    for kind in ("chain", "keeper"):
        for name, against in (("files", files), ("index", [str(index)])):
            run = Run([corpus], tmp_path / (kind + name), "inline", against=against)
            clean_corpus(run, SURE, Cleaning(kind), QUIET)
        kept = [(tmp_path / (kind + name) / "kept.jsonl").read_bytes() for name in ("files", "index")]
        assert kept[0] == kept[1] != b""


def test_old_links_take_part_in_clusters_and_what_joins_them_is_told(tmp_path: Path) -> None:
    # At 0.5, each of these is like the next one and no other.
    old = {"a1": "abcdefgh", "a2": "cdefghij", "b1": "ijklmnop", "b2": "klmnopqr", "c1": "0123456", "c2": "0123457"}
    new = {"x": "fghijklm", "y": "0123456", "z": "uvwxyz"}
    loose = SURE.replace(threshold=0.25)
    index = tmp_path / "index"
    make_index(Run([written(tmp_path / "old.jsonl", json_lines(old))], index), loose, QUIET)
    everything = clusters(brute_force_pairs({**old, **new}, 0.25, k=2))
    run = Run([written(tmp_path / "new.jsonl", json_lines(new))], tmp_path / "out", against=[str(index)])
    clean_corpus(run, loose, Cleaning(), QUIET)
    found = read_json_lines(tmp_path / "out" / "clusters.jsonl")
    assert [sorted(cluster["against"] + cluster["members"]) for cluster in found] == everything
    assert [(cluster["keeper"], cluster.get("joins")) for cluster in found] == [("a1", ["a1", "b1"]), ("c1", None)]
    assert [record["id"] for record in read_json_lines(tmp_path / "out" / "kept.jsonl")] == ["z"]
    # A cluster of old documents alone is not told of.
    other = written(tmp_path / "other.jsonl", json_lines({"z": "uvwxyz"}))
    clean_corpus(Run([other], tmp_path / "none", against=[str(index)]), loose, Cleaning(), QUIET)
    assert read_json_lines(tmp_path / "none" / "clusters.jsonl") == []


def test_what_is_joined_is_of_an_index_and_of_no_other_corpus(tmp_path: Path) -> None:
    index = grown(tmp_path, [{"b": "abcdefgh"}])
    other, new = (written(tmp_path / f"{doc_id}.jsonl", json_lines({doc_id: "abcdefgh"})) for doc_id in ("a", "c"))
    clean_corpus(Run([new], tmp_path / "out", against=[str(index), other]), SURE, Cleaning(), QUIET)
    (cluster,) = read_json_lines(tmp_path / "out" / "clusters.jsonl")
    assert cluster["against"] == ["a", "b"] and "joins" not in cluster


def test_a_keeper_may_have_nothing_in_common_with_what_it_stands_for(tmp_path: Path) -> None:
    loose, index = SURE.replace(threshold=0.25), tmp_path / "index"
    old = written(tmp_path / "old.jsonl", json_lines({"a": "abcdefgh", "b": "efghijkl"}))
    make_index(Run([old], index), loose, QUIET)
    new = written(tmp_path / "new.jsonl", json_lines({"c": "ijklmnop"}))
    clean_corpus(Run([new], tmp_path / "out", against=[str(index)]), loose, Cleaning(), QUIET)
    (removed,) = read_json_lines(tmp_path / "out" / "removed.jsonl")
    assert (removed["id"], removed["keeper"], removed["keeper_in"], removed["similarity"]) == ("c", "a", "against", 0.0)


def test_an_index_is_parsed_only_where_its_links_are_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = grown(tmp_path, [{"a": "abcdefgh", "far": "0123456"}])
    new = written(tmp_path / "new.jsonl", json_lines({"c": "abcdefgi"}))
    num_parsed = 0
    read_numbers = CompanyJob._read_numbers

    def watched(job: CompanyJob, digests: Any) -> list[int]:
        nonlocal num_parsed
        numbers = read_numbers(job, digests)
        num_parsed += len(numbers) if job.is_against else 0
        return numbers

    monkeypatch.setattr(CompanyJob, "_read_numbers", watched)
    for kind, expected in (("chain", 2), ("keeper", 1)):
        num_parsed = 0
        clean_corpus(Run([new], tmp_path / kind, "inline", against=[str(index)]), SURE, Cleaning(kind), QUIET)
        assert num_parsed == expected
    report = extend_index(index, Run([new], Path("unused"), "inline"), SURE, QUIET)
    assert [step.reads_against for step in report.steps if step.name == "keep"] == [False]
