"""Options of cleaning do what they say, and what cannot work is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import jobs.cleaning
from lsh_core.hashing import text_digest
from tests.cleaning import KEEPERS, clean, clean_lines, contents, read_cleaned
from tests.helpers import DATA, json_lines, lookalike, made_up_documents, tree
from tests.links import links_of
from tests.passes import written

ARTICLES = DATA / "articles.jsonl"
LINES = ARTICLES.read_bytes().splitlines()


def test_exact_only_removes_equal_texts_alone(tmp_path: Path) -> None:
    lines = json_lines({"a": "ab" * 20, "b": "ab" * 21, "c": "ab  " * 20, "d": f" {'ab' * 20}\n", "e": "ab " * 20})
    cleaned = clean_lines(tmp_path, lines, "--exact-only")
    assert cleaned.kept_ids == ["a", "b", "c"]
    assert [(record["keeper"], record["reason"]) for record in cleaned.removed] == [("a", "same text"),
                                                                                     ("c", "same text")]


def test_exact_only_takes_the_rest_of_a_former_run(tmp_path: Path) -> None:
    lines = json_lines({"a": "A text", "b": "a text", "c": "a text!"})
    clean_lines(tmp_path, lines, "--case", "fold", "--bands", "5", "--rows", "5")
    cleaned = clean(tmp_path / "exact", tmp_path / "in.jsonl", "--exact-only", "--settings",
                    tmp_path / "out" / "run.json")
    assert cleaned.kept_ids == ["a", "c"]
    assert cleaned.run["recall_promised"] == 1


@pytest.mark.parametrize(("options", "message"), [
    (("--keep", "first"), "keep is 'first'; it must be id, longest, shortest, max:FIELD or min:FIELD"),
    (("--keep", "max:score", "--format", "tsv"), "keep is 'max:score', and lines of format 'tsv' have no fields"),
    (("--exact-only", "--threshold", "0.9"), "--exact-only finds equal texts, whatever --threshold says"),
    (("--exact-only", "--rows", "5", "--bands", "5"), "--exact-only finds equal texts, whatever --bands says"),
    (("--minhash", "whole-text"), "minhash whole-text finds equal texts only: the threshold must be 1"),
], ids=str)
def test_what_cannot_work_is_refused_before_anything_runs(
    options: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    outcome = lookalike("dedup", ARTICLES, *options, "--out", tmp_path / "out")
    assert outcome.exit_code == 2
    assert outcome.stderr.startswith(f"lookalike: {message}") and outcome.stderr.count("\n") == 1
    assert tree(tmp_path) == []


def test_what_has_no_number_is_told(tmp_path: Path) -> None:
    lines = [b'{"id": "a", "text": "one"}', b'{"id": "b", "text": "one", "score": 1}',
             b'{"id": "c", "text": "one", "score": "x"}', b'{"id": "d", "text": "other"}']
    path = written(tmp_path / "in.jsonl", lines)
    outcome = lookalike("dedup", path, "--keep", "min:score", "--out", tmp_path / "out")
    assert "2 lines of clusters have no number in 'score': others are kept before them" in outcome.stderr
    assert read_cleaned(tmp_path / "out").kept_ids == ["b", "d"]


def test_a_summary_tells_what_is_below_the_threshold(tmp_path: Path) -> None:
    outcome = lookalike("dedup", ARTICLES, "--out", tmp_path / "out")
    told = read_cleaned(tmp_path / "out").run["cleaning"]
    for name in ("clusters", "kept", "removed", "chained"):
        assert f"{told[name]} " in outcome.stdout.replace(",", " ")
    assert "below 0.8 to their keeper" in outcome.stdout
    keeper = lookalike("dedup", ARTICLES, "--out", tmp_path / "keeper", "--cluster", "keeper")
    assert "to their keeper" not in keeper.stdout


def test_more_pairs_than_memory_holds_are_refused_for_keeper_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs.cleaning, "MAX_PAIRS", 10)
    outcome = lookalike("dedup", ARTICLES, "--cluster", "keeper", "--out", tmp_path / "out", "-q")
    assert (outcome.exit_code, tree(tmp_path)) == (2, [])
    assert "--cluster keeper needs all pairs in memory, and there are more than 10" in outcome.stderr
    clean(tmp_path / "out", ARTICLES)


def test_clusters_by_rounds_give_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clean(tmp_path / "memory", ARTICLES, "--keep", "longest")
    monkeypatch.setattr(jobs.cleaning, "MEMORY_LINKS", 0)
    assert clean(tmp_path / "rounds", ARTICLES, "--keep", "longest").run["steps"][2]["name"] == "clusters"
    assert contents(tmp_path / "memory") == contents(tmp_path / "rounds")


def test_numbered_ids(tmp_path: Path) -> None:
    lines = [*json_lines({"x": "one text"}), *json_lines({"x": "another", "y": "one  text"}),
             *json_lines({"x": "another"})]
    first = f"x~{text_digest(b'one text', 4)}"
    assert lookalike("dedup", written(tmp_path / "in", lines), "--out", tmp_path / "out").exit_code == 2
    cleaned = clean_lines(tmp_path, lines, "--duplicate-ids", "number")
    assert cleaned.kept == lines[:2]
    assert [(record["id"], record["keeper"], record["reason"]) for record in cleaned.removed] == [
        ("y", first, "same text"), (f"x~{text_digest(b'another', 4)}", f"x~{text_digest(b'another', 4)}", "same line")]


def test_lines_without_ids(tmp_path: Path) -> None:
    lines = [json.dumps({"text": text}).encode() for text in made_up_documents(40).values()]
    cleaned = clean_lines(tmp_path, [*lines, *lines[:5]], "--no-id")
    assert len(set(cleaned.kept)) == len(cleaned.kept) < 40
    assert sum(record["reason"] == "same line" for record in cleaned.removed) >= 5


def test_strict_stops_at_a_line_that_is_no_document(tmp_path: Path) -> None:
    path = written(tmp_path / "in.jsonl", [*LINES[:3], b"{"])
    outcome = lookalike("dedup", path, "--strict", "--out", tmp_path / "out")
    assert outcome.exit_code == 2 and f"{path}:4: not JSON" in outcome.stderr
    assert tree(tmp_path) == ["in.jsonl"]


def test_an_input_that_changes_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = Path(written(tmp_path / "in.jsonl", LINES))
    write_pairs = jobs.cleaning.write_pairs

    def change(*args: Any) -> Path:
        links = write_pairs(*args)
        written(path, [*LINES, b'{"id": "new", "text": "a new one"}'])
        return links

    monkeypatch.setattr(jobs.cleaning, "write_pairs", change)
    outcome = lookalike("dedup", path, "--out", tmp_path / "out", "-q")
    assert (outcome.exit_code, tree(tmp_path)) == (1, ["in.jsonl"])
    assert outcome.stderr == "lookalike: the input changed while it was read; nothing was written\n"


@pytest.mark.parametrize("cluster", KEEPERS)
@pytest.mark.parametrize(("unknown", "message"), [
    ("0", "cluster 0 has no keeper: did the input change?"),
    ("z", "2 documents of clusters are to go, but 1 of them were found: did the input change?")])
def test_a_link_to_an_unknown_document_is_told(
    unknown: str, message: str, cluster: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_pairs = jobs.cleaning.write_pairs

    def with_unknown(*args: Any) -> Path:
        links = write_pairs(*args).read_bytes().splitlines()
        return Path(written(tmp_path / "links", [*links, *links_of([("a", unknown)])]))

    monkeypatch.setattr(jobs.cleaning, "write_pairs", with_unknown)
    path = written(tmp_path / "in.jsonl", json_lines({"a": "one text", "b": "one text", "c": "another"}))
    outcome = lookalike("dedup", path, "--cluster", cluster, "--out", tmp_path / "out", "-q")
    assert outcome == (1, "", f"lookalike: {message}\n")
    assert not (tmp_path / "out").exists()
