"""The cleaned corpus is what brute force says, for every policy, both kinds of clusters and any input."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import jobs.keepers
from tests import oracles
from tests.cleaning import (
    ALL_PAIRS,
    KEEPERS,
    POLICIES,
    RANK_OF_TEXT,
    Cleaned,
    Documents,
    assert_fate,
    clean,
    clean_lines,
    contents,
    fate_of,
    fate_of_documents,
    read_cleaned,
)
from tests.helpers import DATA, json_lines, lookalike, read_pairs

ARTICLES = DATA / "articles.jsonl"
LINES = ARTICLES.read_bytes().splitlines()


def with_fields(documents: dict[str, str], seed: int = 1) -> list[bytes]:
    """Lines with a score that is sometimes missing, or no number."""
    choose = random.Random(seed)
    records: list[dict[str, Any]] = [{"id": doc_id, "text": text} for doc_id, text in documents.items()]
    for record in records:
        if (score := choose.choice([None, "none", 1, 2, 2.5, -3])) is not None:
            record["score"] = score
    return [json.dumps(record, ensure_ascii=False).encode() for record in records]


# Nothing to do


@pytest.mark.parametrize("runner", ["inline", "local"])
@pytest.mark.parametrize("options", [(), ("--cluster", "keeper", "--keep", "longest"), ("--exact-only",)], ids=str)
def test_empty(runner: str, options: tuple[str, ...], tmp_path: Path) -> None:
    cleaned = clean_lines(tmp_path, [], "-r", runner, *options)
    assert cleaned[:4] == ([], [], [], [])
    pairs = "pairs.jsonl" if "keeper" in options else "links.jsonl"
    assert contents(tmp_path / "out") == dict.fromkeys(["kept.jsonl", "removed.jsonl", "clusters.jsonl", pairs], b"")


@pytest.mark.parametrize("runner", ["inline", "local"])
@pytest.mark.parametrize("options", [(), ("--cluster", "keeper", "--keep", "longest"), ("--exact-only",)], ids=str)
def test_a_corpus_with_nothing_to_remove_stays_as_it_is(
    runner: str, options: tuple[str, ...], tmp_path: Path
) -> None:
    lines = json_lines({"x": "one text", "y": "quite another"})
    cleaned = clean_lines(tmp_path, lines, "-r", runner, *options)
    assert cleaned[:4] == (lines, [], [], [])
    assert [name for name, content in contents(tmp_path / "out").items() if content] == ["kept.jsonl"]


def test_a_corpus_of_rejected_lines_has_nothing_to_keep(tmp_path: Path) -> None:
    cleaned = clean_lines(tmp_path, [b"{", b"", b"\xff"])
    assert (cleaned.kept, cleaned.removed, len(cleaned.rejected)) == ([], [], 3)


# Against brute force


@pytest.mark.parametrize("cluster", KEEPERS)
@pytest.mark.parametrize("policy", POLICIES)
def test_articles_are_cleaned_as_by_brute_force(policy: str, cluster: str, tmp_path: Path) -> None:
    lines = with_fields({record["id"]: record["text"] for record in map(json.loads, LINES)})
    options = ("--keep", policy, "--cluster", cluster, "--threshold", "0.5", *ALL_PAIRS)
    cleaned = clean_lines(tmp_path, lines, *options)
    assert_fate(cleaned, fate_of(lines, policy, cluster, 0.5))
    below = [record for record in cleaned.removed if record["similarity"] < 0.5]
    assert cleaned.run["cleaning"]["chained"] == len(below)
    assert bool(below) == (cluster == "chain")


def test_fields_of_articles_stay(tmp_path: Path) -> None:
    cleaned = clean(tmp_path / "out", ARTICLES)
    assert set(cleaned.kept) < set(LINES) and cleaned.kept == [line for line in LINES if line in set(cleaned.kept)]
    assert {record["line"].encode() for record in cleaned.removed} == set(LINES) - set(cleaned.kept)
    for record in cleaned.removed:
        line_number = LINES.index(record["line"].encode()) + 1
        assert record["place"] == f"{ARTICLES}:{line_number}"


@pytest.mark.parametrize("options", [(), ("--threshold", "0.5", "--recall", "0.7"), ("--exact-only",)], ids=str)
def test_clusters_are_those_of_the_pairs_of_another_run(options: tuple[str, ...], tmp_path: Path) -> None:
    cleaned = clean(tmp_path / "out", ARTICLES, *options)
    as_pairs = ("--minhash", "whole-text", "--threshold", "1") if "--exact-only" in options else options
    assert lookalike("pairs", ARTICLES, *as_pairs, "--out", tmp_path / "pairs", "-q").exit_code == 0
    pairs = read_pairs(tmp_path / "pairs")
    assert [record["members"] for record in cleaned.clusters] == oracles.clusters(pairs) != []
    assert not any({a, b} <= set(cleaned.kept_ids) for a, b in pairs)


@pytest.mark.parametrize("cluster", KEEPERS)
@pytest.mark.parametrize("policy", RANK_OF_TEXT)
def test_papers_are_cleaned_as_by_brute_force(policy: str, cluster: str, tmp_path: Path) -> None:
    lines = {json.loads(line)["id"]: line for line in (DATA / "papers.jsonl").read_bytes().splitlines()}
    texts = {doc_id: json.loads(line)["abstract"] for doc_id, line in lines.items()}
    sets = {doc_id: oracles.shingles(oracles.normalize(text), "word", 3) for doc_id, text in texts.items()}
    options = ("--text-field", "abstract", "--shingle", "word:3", "--threshold", "0.4", *ALL_PAIRS)
    cleaned = clean(tmp_path / "out", DATA / "papers.jsonl", *options, "--keep", policy, "--cluster", cluster)
    pairs = oracles.similar_pairs(sets, 0.4)
    assert_fate(cleaned, fate_of_documents(Documents(lines, texts, sets), pairs, policy, cluster))
    assert len(cleaned.removed) >= 5


@pytest.mark.parametrize("cluster", KEEPERS)
@pytest.mark.parametrize("policy", RANK_OF_TEXT)
def test_lines_of_integers_are_cleaned_as_by_brute_force(policy: str, cluster: str, tmp_path: Path) -> None:
    lines = {line.split()[0].decode(): line for line in (DATA / "shingled.txt").read_bytes().splitlines()}
    sets = {doc_id: set(line.decode().split()[1:]) for doc_id, line in lines.items()}
    texts = {doc_id: " ".join(sorted(members, key=int)) for doc_id, members in sets.items()}
    cleaned = clean(tmp_path / "out", DATA / "shingled.txt", "--format", "shingled", "--threshold", "0.5", *ALL_PAIRS,
                    "--keep", policy, "--cluster", cluster)
    pairs = oracles.similar_pairs(sets, 0.5)
    assert_fate(cleaned, fate_of_documents(Documents(lines, texts, sets), pairs, policy, cluster))
    assert len(cleaned.removed) >= 20
    assert (tmp_path / "out" / "kept.txt").exists()


records = st.fixed_dictionaries(
    {"id": st.sampled_from("abcdefgh"), "space": st.sampled_from(["", " "])}, optional={"score": st.integers(-1, 2)})


@given(st.lists(records, max_size=14), st.sampled_from(POLICIES), st.sampled_from(list(KEEPERS)),
       st.sampled_from([1, 2, 500]))
@settings(max_examples=15)
def test_copies_and_clusters_are_cleaned_as_by_brute_force(
    tmp_path_factory: pytest.TempPathFactory, found: list[dict[str, Any]], policy: str, cluster: str, part_docs: int
) -> None:
    texts = dict(zip("abcdefgh", ("abcdefgh", "abcdefgh", "abcdefghi", "bcdefghi", "cdefghijk", "xyz", "xyzw", "qrst")))
    lines = [json.dumps({**record, "text": record["space"] + texts[record["id"]]}).encode() for record in found]
    with pytest.MonkeyPatch.context() as patches:
        patches.setattr(jobs.keepers, "PART_DOCS", part_docs)
        cleaned = clean_lines(tmp_path_factory.mktemp("dedup"), lines, "--keep", policy, "--cluster", cluster,
                              "--shingle", "char:2", "--threshold", "0.6", "--bands", "60", "--rows", "1")
    assert_fate(cleaned, fate_of(lines, policy, cluster, 0.6, 2))


# Inputs


def cleaned_in_files(folder: Path, lines: list[bytes], num_files: int, name: str, *options: object) -> Cleaned:
    folder.mkdir()
    step = -(-len(lines) // num_files)
    paths = [folder / f"{number}{name}" for number in range(num_files)]
    for path, first in zip(paths, range(0, len(lines), step)):
        content = b"".join(line + b"\n" for line in lines[first : first + step])
        path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return clean(folder / "out", *paths, *options)


@pytest.mark.parametrize("options", [
    (1, ".jsonl", "-r", "local", "--cores", "3"), (3, ".jsonl"), (3, ".jsonl", "-r", "local"), (2, ".gz"),
    (2, ".jsonl.gz", "-r", "local")], ids=str)
def test_files_and_runners_do_not_show(options: tuple[Any, ...], tmp_path: Path) -> None:
    lines = [*LINES, b"{", *LINES[:7], b'{"id": "a001", "text": ""}', LINES[3]]
    whole = clean_lines(tmp_path, lines)
    other = cleaned_in_files(tmp_path / "files", lines, *options)

    def without_places(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [{name: value for name, value in record.items() if name != "place"} for record in records]

    assert (other.kept, other.clusters) == (whole.kept, whole.clusters)
    for mine, its in zip(whole[1:4:2], other[1:4:2]):
        assert without_places(mine) == without_places(its)


def test_standard_input(tmp_path: Path) -> None:
    clean(tmp_path / "file", ARTICLES)
    cleaned = clean(tmp_path / "stdin", "-", stdin=ARTICLES.read_bytes())
    assert cleaned.kept == read_cleaned(tmp_path / "file").kept
    assert cleaned.removed[0]["place"].startswith("standard input:")
