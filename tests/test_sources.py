"""The published numbers that this program has to meet, and the truth of the corpora in data/."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import pytest

from benchmarks.truth import exact_pairs
from jobs.mr_pairs import MRPairs
from lsh_core import Settings, jaccard, shingle_set
from lsh_core.tuning import nearest_factor_pair, s_curve
from tests.cleaning import KEEPERS, RANK_OF_TEXT, Documents, assert_fate, clean, fate_of_documents
from tests.helpers import DATA, Pairs, lookalike, read_pairs, run_job
from tests.oracles import brute_force_pairs, clusters, normalize, shingles, similar_pairs

ARTICLES = Path(__file__).parents[2] / "shared" / "data" / "articles"
needs_articles = pytest.mark.skipif(not ARTICLES.is_dir(), reason="the published articles are not in ../shared")

NUM_PLANTED = {100: 5, 1000: 10, 2500: 20}
AS_PUBLISHED = ("--bands", "10", "--rows", "10", "--minhash", "linear", "--shingle-bits", "32", "--shingle", "char:9")


def lines_of(name: str) -> list[bytes]:
    return (DATA / name).read_bytes().splitlines()


def known_pairs(name: str, threshold: float = 0.0, **fields: str) -> Pairs:
    """The pairs of a truth file at or above a threshold, of those records that have the given fields."""
    records = map(json.loads, lines_of(name))
    return {(record["a"], record["b"]): record["similarity"] for record in records
            if record["similarity"] >= threshold and fields.items() <= record.items()}


def planted_pairs(num_documents: int) -> set[tuple[str, ...]]:
    content = (ARTICLES / f"articles_{num_documents}.truth").read_text()
    return {tuple(sorted(line.split())) for line in content.splitlines() if line.strip()}


# The articles


@needs_articles
@pytest.mark.parametrize(("white_space", "second"), [("keep", 0.9870), ("collapse", 0.9869)])
def test_similarities_of_articles_are_the_published_ones(white_space: str, second: float) -> None:
    published = {("t980", "t2023"): 0.9840, ("t1088", "t5015"): second, ("t1297", "t4638"): 0.9850,
                 ("t1768", "t5248"): 0.9857, ("t1952", "t3495"): 0.9826}
    settings = Settings(white_space=white_space)
    with open(ARTICLES / "articles_100.train", encoding="utf-8", newline="\n") as file:
        # As published, a text keeps the newline at its end.
        texts = dict(line.split(" ", 1) for line in file)
    sets = {doc_id: shingle_set(text, settings) for doc_id, text in texts.items()}
    assert len(texts) == 100 and all(text.endswith("\n") for text in texts.values())
    assert {(a, b): round(jaccard(sets[a], sets[b]), 4) for a, b in published} == published


@needs_articles
@pytest.mark.parametrize("num_documents", NUM_PLANTED)
@pytest.mark.parametrize("options", [AS_PUBLISHED, ()], ids=["as published", "default"])
def test_all_planted_pairs_of_articles_are_found(
    options: tuple[str, ...], num_documents: int, tmp_path: Path
) -> None:
    outcome = lookalike("pairs", ARTICLES / f"articles_{num_documents}.train", "--format", "text", "--threshold", "0.8",
                        *options, "--out", tmp_path / "out", "-r", "inline")
    assert outcome.exit_code == 0, outcome.stderr
    planted = planted_pairs(num_documents)
    assert len(planted) == NUM_PLANTED[num_documents]
    assert set(read_pairs(tmp_path / "out")) == planted


class Articles(NamedTuple):
    """The file of published articles, what is known of them, and their pairs at or above a threshold."""

    path: Path
    known: Documents
    threshold: float
    pairs: Pairs


@pytest.fixture(scope="module", params=[(100, 0.8), (1000, 0.8), (2500, 0.8), (1000, 0.1)], ids=str)
def articles(request: pytest.FixtureRequest) -> Articles:
    """Articles beside their exact truth; at 0.1 some of them chain."""
    num_documents, threshold = request.param
    path = ARTICLES / f"articles_{num_documents}.train"
    lines = {line.split()[0].decode(): line for line in path.read_bytes().split(b"\n") if line}
    texts = {doc_id: line.decode().partition(" ")[2] for doc_id, line in lines.items()}
    ids, normal = sorted(texts), {doc_id: normalize(text) for doc_id, text in texts.items()}
    found = exact_pairs([normal[doc_id] for doc_id in ids], threshold)
    pairs = {(ids[a], ids[b]): similarity for a, b, similarity in found}
    sets = {doc_id: shingles(normal[doc_id]) for pair in pairs for doc_id in pair}
    return Articles(path, Documents(lines, texts, sets), threshold, pairs)


@needs_articles
@pytest.mark.parametrize("cluster", KEEPERS)
@pytest.mark.parametrize("policy", RANK_OF_TEXT)
def test_articles_are_cleaned_as_by_exact_pairs(
    articles: Articles, policy: str, cluster: str, tmp_path: Path
) -> None:
    cleaned = clean(tmp_path / "out", articles.path, "--format", "text", "--recall", "0.999999",
                    "--threshold", articles.threshold, "--keep", policy, "--cluster", cluster)
    assert_fate(cleaned, fate_of_documents(articles.known, articles.pairs, policy, cluster))
    assert len(cleaned.removed) >= NUM_PLANTED[len(articles.known.lines)]


@needs_articles
@pytest.mark.parametrize("num_documents", NUM_PLANTED)
def test_clusters_of_articles_are_those_of_the_pairs_of_another_run(num_documents: int, tmp_path: Path) -> None:
    path = ARTICLES / f"articles_{num_documents}.train"
    cleaned = clean(tmp_path / "out", path, "--format", "text")
    assert lookalike("pairs", path, "--format", "text", "--out", tmp_path / "pairs", "-q").exit_code == 0
    found = clusters(read_pairs(tmp_path / "pairs"))
    assert [record["members"] for record in cleaned.clusters] == found and len(found) == NUM_PLANTED[num_documents]


def test_bands_and_rows_are_those_published_for_a_hundred_functions() -> None:
    assert nearest_factor_pair(100, 0.8) == (10, 10)


# The job


def test_sixty_bands_of_sixteen_rows_find_all_shingled_pairs() -> None:
    output = run_job(MRPairs, lines_of("shingled.txt"), "--format", "shingled", "--threshold", "0.9",
                     "--bands", "60", "--rows", "16")
    expected = known_pairs("shingled.truth.jsonl", 0.9)
    assert output.pairs() == expected and len(expected) >= 5
    assert 1 - s_curve(0.9, 60, 16) == pytest.approx(4.6e-6, rel=0.01)


def test_thirty_nine_bands_of_twenty_five_rows_find_no_other_pairs() -> None:
    output = run_job(MRPairs, lines_of("shingled.txt"), "--format", "shingled", "--threshold", "0.9",
                     "--bands", "39", "--rows", "25", "--minhash", "linear", "--shingle-bits", "32")
    assert output.pairs().items() <= known_pairs("shingled.truth.jsonl", 0.9).items()


# The corpora of this project

LEAST_KNOWN = 0.5


def test_the_truth_of_the_articles_is_that_of_brute_force() -> None:
    articles = {record["id"]: record["text"] for record in map(json.loads, lines_of("articles.jsonl"))}
    assert known_pairs("articles.truth.jsonl") == brute_force_pairs(articles, LEAST_KNOWN)


def test_the_truth_of_the_shingled_lines_is_that_of_brute_force() -> None:
    sets = {doc_id: set(map(int, members)) for doc_id, *members in
            (line.split() for line in (DATA / "shingled.txt").read_text().splitlines())}
    assert known_pairs("shingled.truth.jsonl") == similar_pairs(sets, LEAST_KNOWN)


FIELDS = ("abstract", "keywords", "conclusion")


@pytest.mark.parametrize("field", FIELDS)
def test_papers_are_paired_field_by_field(field: str, tmp_path: Path) -> None:
    papers = {record["id"]: record[field] for record in map(json.loads, lines_of("papers.jsonl"))}
    expected = known_pairs("papers.truth.jsonl", field=field)
    assert expected == brute_force_pairs(papers, LEAST_KNOWN) and expected
    outcome = lookalike("pairs", DATA / "papers.jsonl", "--text-field", field, "--threshold", LEAST_KNOWN,
                        "--recall", "0.999", "--out", tmp_path / "out")
    assert outcome.exit_code == 0, outcome.stderr
    assert read_pairs(tmp_path / "out") == expected


def test_the_truth_of_the_papers_has_no_other_field() -> None:
    assert {record["field"] for record in map(json.loads, lines_of("papers.truth.jsonl"))} == set(FIELDS)


def test_all_known_pairs_of_the_articles_are_found(tmp_path: Path) -> None:
    outcome = lookalike("pairs", DATA / "articles.jsonl", "--out", tmp_path / "out")
    assert outcome.exit_code == 0, outcome.stderr
    assert read_pairs(tmp_path / "out") == known_pairs("articles.truth.jsonl", 0.8)
