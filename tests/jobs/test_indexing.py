"""An index: what is added piece by piece is as one run over everything, and nothing but a whole index is used."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import jobs.indexing
import jobs.mr_gate
from jobs.cleaning import Cleaning, clean_corpus
from jobs.clusters import clusters_of_links
from jobs.company import CompanyJob
from jobs.errors import InputError
from jobs.index_files import open_index
from jobs.index_names import MANIFEST
from jobs.indexing import extend_index, make_index
from jobs.job_runner import Run
from jobs.pipeline import find_pairs
from lsh_core.errors import SettingsError
from lsh_core.settings import Settings
from tests.helpers import json_lines, lookalike, made_up_documents, read_json_lines, read_run, tree
from tests.jobs.test_against import SURE, documents
from tests.oracles import brute_force_pairs, clusters
from tests.passes import QUIET, written

Documents = dict[str, str]


def grown(folder: Path, parts: list[Documents], runner: str = "inline") -> Path:
    """An index of documents that were added part by part."""
    index = folder / "index"
    for number, part in enumerate(parts):
        path = written(folder / f"part{number}.jsonl", json_lines(part))
        if number:
            extend_index(index, Run([path], Path("unused"), runner, cores=2), SURE, QUIET)
        else:
            make_index(Run([path], index, runner, cores=2), SURE, QUIET)
    return index


def clusters_of_index(folder: Path, tmp_dir: Path) -> list[list[str]]:
    (links,) = open_index(folder, SURE).paths("links")
    return [cluster.doc_ids for cluster in clusters_of_links(links, lambda *_: pytest.fail(), tmp_dir)]


def parts_of(found: Documents, num_parts: int = 3) -> list[Documents]:
    return [dict(list(found.items())[number::num_parts]) for number in range(num_parts)]


@pytest.mark.parametrize("runner", ["inline", "local"])
def test_three_parts_one_after_the_other_are_the_clusters_of_all(tmp_path: Path, runner: str) -> None:
    everything = made_up_documents(60, seed=5, num_words=12)
    index = grown(tmp_path, parts_of(everything), runner)
    corpus = written(tmp_path / "all.jsonl", json_lines(everything))
    find_pairs(Run([corpus], tmp_path / "out", links=True), SURE, QUIET)
    expected = clusters_of_links(tmp_path / "out" / "links.jsonl", lambda *_: pytest.fail(), tmp_path)
    assert clusters_of_index(index, tmp_path) == [cluster.doc_ids for cluster in expected] != []
    manifest = json.loads((index / MANIFEST).read_text())
    assert manifest["documents"] == 60 and open_index(index, SURE).num_pieces == 3
    assert {path.name for path in index.glob("links*")} == {"links-00002.jsonl"}
    assert not list(index.glob(".*"))


@given(st.lists(documents, min_size=1, max_size=3))
@settings(max_examples=8)
def test_an_index_has_the_clusters_of_brute_force(lists: list[list[tuple[str, str]]]) -> None:
    parts = [{f"{number}{doc_id}": text for doc_id, text in part} for number, part in enumerate(lists)]
    everything = {doc_id: text for part in parts for doc_id, text in part.items()}
    with tempfile.TemporaryDirectory() as name:
        index = grown(Path(name), parts)
        assert clusters_of_index(index, Path(name)) == clusters(brute_force_pairs(everything, SURE.threshold, k=2))


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


@pytest.mark.parametrize("choices", [{"format": "tsv"}, {"format": "tsv", "id_field": None}])
def test_lines_of_other_formats_and_without_ids(tmp_path: Path, choices: dict[str, Any]) -> None:
    own, index = SURE.replace(**choices), tmp_path / "index"
    make_index(Run([written(tmp_path / "1.tsv", [b"x\tabcdefgh", b"x\tabcdefgh"])], index), own, QUIET)
    more = Run([written(tmp_path / "2.tsv", [b"x\tabcdefgh", b"y\tabcdefgi"])], Path("unused"))
    extend_index(index, more, own, QUIET)
    assert [path.read_bytes() for path in open_index(index, own).paths("documents")] == [
        b"x\tabcdefgh\n", b"y\tabcdefgi\n"]
    new = written(tmp_path / "3.tsv", [b"x\tabcdefgj", b"y\tuvwxyz"])
    clean_corpus(Run([new], tmp_path / "out", against=[str(index)]), own, Cleaning(), QUIET)
    assert (tmp_path / "out" / "kept.tsv").read_bytes() == b"y\tuvwxyz\n"


def test_copies_known_documents_and_rejected_lines_are_left_out(tmp_path: Path) -> None:
    first = written(tmp_path / "1.jsonl", [*json_lines({"1": "abcdef"}) * 2, b"bad"])
    second = written(tmp_path / "2.jsonl", [*json_lines({"2": "abcdeg", "1": "abcdef"}), b"worse"])
    index = tmp_path / "index"
    make_index(Run([first], index), SURE, QUIET)
    extend_index(index, Run([second], Path("unused")), SURE, QUIET)
    held = open_index(index, SURE)
    assert [path.read_bytes().splitlines() for path in held.paths("documents")] == [
        json_lines({"1": "abcdef"}), json_lines({"2": "abcdeg"})]
    assert held.manifest["documents"] == 2 and clusters_of_index(index, tmp_path) == [["1", "2"]]
    assert [read_json_lines(index / name)[0]["line"] for name in ("rejected.jsonl", "rejected-00001.jsonl")] == [
        "bad", "worse"]


def test_a_failure_leaves_the_index_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = grown(tmp_path, [{"1": "abcdef"}])
    before = {name: (index / name).read_bytes() for name in tree(index)}
    other = written(tmp_path / "other.jsonl", json_lines({"2": "uvwxyz", "1": "abcdeg"}))
    with pytest.raises(InputError, match=r"'1' stands for another text in .*index \(1 such ids\)"):
        extend_index(index, Run([other], Path("unused")), SURE, QUIET)
    assert {name: (index / name).read_bytes() for name in tree(index)} == before
    monkeypatch.setattr(jobs.indexing, "write_manifest", lambda *_: pytest.fail("full disk"))
    with pytest.raises(pytest.fail.Exception):
        extend_index(index, Run([written(other_path(tmp_path), json_lines({"2": "abcdeg"}))], Path("x")), SURE, QUIET)
    monkeypatch.undo()
    assert open_index(index, SURE).manifest["documents"] == 1
    extend_index(index, Run([str(other_path(tmp_path))], Path("unused")), SURE, QUIET)
    assert clusters_of_index(index, tmp_path) == [["1", "2"]]


def test_what_a_killed_addition_left_goes_with_the_next(tmp_path: Path) -> None:
    index = grown(tmp_path, [{"1": "abcdef"}])
    (index / ".adding-killed" / ".stages").mkdir(parents=True)
    extend_index(index, Run([written(other_path(tmp_path), json_lines({"2": "abcdeg"}))], Path("x")), SURE, QUIET)
    assert not list(index.glob(".*"))


def other_path(folder: Path) -> Path:
    return folder / "second.jsonl"


def test_commands(tmp_path: Path) -> None:
    first, second = (written(tmp_path / f"{name}.jsonl", json_lines({name: text}))
                     for name, text in (("x", "To be or not to be"), ("y", "To be or not to bee")))
    index = tmp_path / "index"
    assert lookalike("index", first, "--out", index, "-q").exit_code == 0
    done = lookalike("pairs", second, "--against", index, "--threshold", "0.7", "--out", tmp_path / "out")
    assert done.exit_code == 2 and f"--settings {index / MANIFEST}" in done.stderr
    same = ("--settings", index / MANIFEST)
    done = lookalike("pairs", second, "--against", index, *same, "--out", tmp_path / "out", "-q")
    assert done.exit_code == 0, done.stderr
    assert [(pair["a"], pair["b"]) for pair in read_json_lines(tmp_path / "out" / "pairs.jsonl")] == [("y", "x")]
    done = lookalike("pairs", index, "--out", tmp_path / "none")
    assert done.exit_code == 2 and "is an index, which is no input; --against takes it" in done.stderr
    done = lookalike("index", second, "--add", index, "--out", tmp_path / "other")
    assert done.exit_code == 2 and "leave out one" in done.stderr
    assert lookalike("index", second, "--add", tmp_path / "absent").exit_code == 2
    done = lookalike("index", second, "--add", index)
    assert done.exit_code == 0 and f"The results are in {index}" in done.stdout, done.stderr
    with pytest.raises(SettingsError, match="--duplicate-ids must be refuse"):
        make_index(Run([first], tmp_path / "more", duplicate_ids="number"), Settings(), QUIET)
