"""A generated corpus with a large cluster, copies and rejected lines, cleaned as its pairs say."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import NamedTuple

import pytest

import jobs.keepers
from tests import oracles
from tests.cleaning import Cleaned, clean, contents, read_cleaned
from tests.helpers import lookalike, read_json_lines, read_pairs
from tests.passes import written

NUM_DOCS, NUM_TEMPLATE = 2000, 300


class Corpus(NamedTuple):
    """Lines in a file, the texts of documents, and the pairs that a run of its own finds."""

    path: str
    lines: list[bytes]
    texts: dict[str, str]
    pairs: dict[tuple[str, str], float]


def sample(folder: Path, num_docs: int, num_template: int) -> list[bytes]:
    path = folder / "sample.jsonl"
    outcome = lookalike("sample", "--docs", num_docs, "--template", num_template, "--seed", 5, "--out", path, "-q")
    assert outcome.exit_code == 0, outcome.stderr
    return path.read_bytes().splitlines()


def texts_of(lines: list[bytes]) -> dict[str, str]:
    return {record["id"]: record["text"] for record in map(json.loads, lines)}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    folder, choose = tmp_path_factory.mktemp("corpus"), random.Random(3)
    documents = sample(folder, NUM_DOCS, NUM_TEMPLATE)
    lines = [*documents, *choose.choices(documents, k=200), *[b"{", b"\xff", b'{"id": "no text"}'] * 20]
    choose.shuffle(lines)
    path = written(folder / "corpus.jsonl", lines)
    assert lookalike("pairs", path, "--out", folder / "pairs", "-q").exit_code == 0
    return Corpus(path, lines, texts_of(documents), read_pairs(folder / "pairs"))


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs.keepers, "PART_DOCS", 40)


def assert_similarities(cleaned: Cleaned, texts: dict[str, str], num_checked: int) -> None:
    """Similarities to keepers, of some documents, are those of brute force."""
    removed = random.Random(1).sample(cleaned.removed, min(num_checked, len(cleaned.removed)))
    for record in removed:
        sets = [oracles.shingles(oracles.normalize(texts[record[name]])) for name in ("id", "keeper")]
        assert record["similarity"] == oracles.jaccard(*sets)


@pytest.mark.parametrize("options", [(), ("--cluster", "keeper", "--keep", "longest")], ids=["chain", "keeper"])
def test_a_generated_corpus_is_cleaned_as_its_pairs_say(
    options: tuple[str, ...], corpus: Corpus, tmp_path: Path
) -> None:
    cleaned = clean(tmp_path / "inline", corpus.path, "-r", "inline", *options)
    assert_similarities(cleaned, corpus.texts, len(cleaned.removed))
    kept_ids = set(cleaned.kept_ids)
    assert len(kept_ids) == len(cleaned.kept) and len(cleaned.rejected) == 60
    assert not any({a, b} <= kept_ids for a, b in corpus.pairs)
    if not options:
        assert [record["members"] for record in cleaned.clusters] == oracles.clusters(corpus.pairs)
        assert max(record["size"] for record in cleaned.clusters) >= NUM_TEMPLATE
    removed = {record["id"]: record["keeper"] for record in cleaned.removed if record["reason"] != "same line"}
    assert removed.keys() | kept_ids == corpus.texts.keys() and not removed.keys() & kept_ids
    assert set(removed.values()) <= kept_ids
    assert cleaned.kept == [line for line in dict.fromkeys(corpus.lines) if line in set(cleaned.kept)]
    clean(tmp_path / "local", corpus.path, "-r", "local", "--cores", "3", *options)
    assert contents(tmp_path / "local") == contents(tmp_path / "inline")


def test_a_cleaned_corpus_is_clean(corpus: Corpus, tmp_path: Path) -> None:
    clean(tmp_path / "once", corpus.path)
    twice = clean(tmp_path / "twice", tmp_path / "once" / "kept.jsonl")
    assert (twice.removed, twice.clusters) == ([], [])
    assert twice.kept == read_cleaned(tmp_path / "once").kept


@pytest.mark.slow
def test_a_cluster_of_many_thousands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    documents = sample(tmp_path, 100_000, 20_000)
    lines = [*documents, *documents[::100], *[b"{", b"\xff"] * 50]
    path = written(tmp_path / "corpus.jsonl", lines)
    cleaned = clean(tmp_path / "local", path, "-r", "local")
    assert len(cleaned.kept) + len(cleaned.removed) + len(cleaned.rejected) == len(lines)
    assert len(cleaned.rejected) == 100
    largest = max(cleaned.clusters, key=lambda record: record["size"])
    assert largest["size"] >= 20_000
    kept_ids = set(cleaned.kept_ids)
    assert all(kept_ids & set(record["members"]) == {record["keeper"]} for record in cleaned.clusters)
    assert {record["keeper"] for record in cleaned.removed if record["reason"] != "same line"} <= kept_ids
    assert_similarities(cleaned, texts_of(documents), 1000)
    # All pairs would be 200 million. Their forest connects the same documents, by a link less than each cluster has.
    assert lookalike("pairs", path, "--links", "--out", tmp_path / "links", "-q").exit_code == 0
    links = read_json_lines(tmp_path / "links" / "links.jsonl")
    cluster_of = {doc_id: record["cluster"] for record in cleaned.clusters for doc_id in record["members"]}
    assert all(cluster_of[link["a"]] == cluster_of[link["b"]] for link in links)
    assert len(links) == len(cluster_of) - len(cleaned.clusters)
    # What is a pair does not depend on the other documents.
    assert lookalike("pairs", tmp_path / "local" / "kept.jsonl", "--out", tmp_path / "pairs", "-q").exit_code == 0
    assert read_pairs(tmp_path / "pairs") == {}
    clean(tmp_path / "inline", path, "-r", "inline")
    assert contents(tmp_path / "inline") == contents(tmp_path / "local")
