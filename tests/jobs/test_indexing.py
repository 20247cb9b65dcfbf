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
from jobs.errors import InputError
from jobs.index_files import open_index
from jobs.index_names import MANIFEST
from jobs.indexing import extend_index, make_index
from jobs.job_runner import Run
from jobs.pipeline import find_pairs
from lsh_core.errors import SettingsError
from lsh_core.settings import Settings
from tests.helpers import json_lines, lookalike, made_up_documents, read_json_lines, tree
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
    assert lookalike("index", second, "--add", "hdfs:///index").stderr == (
        "lookalike: an index is a local folder, and --add is hdfs:///index\n")
    done = lookalike("index", second, "--add", index)
    assert done.exit_code == 0 and f"The results are in {index}" in done.stdout, done.stderr
    with pytest.raises(SettingsError, match="--duplicate-ids must be refuse"):
        make_index(Run([first], tmp_path / "more", duplicate_ids="number"), Settings(), QUIET)


def test_marks_of_files_that_were_joined_are_not_in_the_index(tmp_path: Path) -> None:
    mark, first, second = b"\xef\xbb\xbf", *json_lines({"a": "some text", "b": "another one"})
    index = grown(tmp_path, [{"a": "some text"}])
    joined = written(tmp_path / "joined.jsonl", [mark + first, mark + second])
    extend_index(index, Run([joined], Path("unused"), "inline"), SURE, QUIET)
    pieces = open_index(index, SURE).paths("documents")
    assert [path.read_bytes() for path in pieces] == [first + b"\n", second + b"\n"]
    corpus = written(tmp_path / "corpus.jsonl", json_lines({"c": "another one"}))
    report = find_pairs(Run([corpus], tmp_path / "out", against=[str(index)]), SURE, QUIET)
    assert report.num_pairs == 1
