"""Links are Kruskal's forest of the pairs: the same documents joined, in far fewer lines."""

from __future__ import annotations

import json
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import jobs.bundles
import jobs.links
from jobs.bundles import Row
from jobs.links import Forest
from jobs.mr_pairs import MRPairs
from jobs.records import json_bytes
from lsh_core.check import Candidates
from lsh_core.settings import Settings
from tests.helpers import DATA, Pairs, json_lines, made_up_documents, pairs_of_lines, run_job
from tests.links import joined, kruskal
from tests.oracles import clusters
from tests.passes import options_of, run_passes
from tests.strategies import corpora

LOOSE = Settings(threshold=0.3, shingle="char:2", recall=0.9)
WORDS = "one two three four five six seven eight nine ten"


def links_of_job(lines: list[bytes], *options: str) -> Pairs:
    """The links of the one-step job without a gate."""
    return pairs_of_lines(joined(run_job(MRPairs, lines, "--links", *options).lines))


def test_empty() -> None:
    assert list(Forest([]).lines()) == []
    assert list(Forest([Row(b"text", b"", b"", {b'"x"': None})]).lines()) == []
    assert run_passes([], Settings(), links=True).lines == []


@given(st.lists(st.sets(st.integers(0, 99), min_size=1, max_size=3), max_size=8), st.integers(1, 4),
       st.sampled_from([0, 2, jobs.links.MAX_EDGES]), st.data())
def test_a_forest_of_rows_is_kruskals_of_their_documents(
    ids_of_rows: list[set[int]], num_strips: int, max_edges: int, data: st.DataObject
) -> None:
    taken: set[int] = set()
    rows = []
    for ids in ids_of_rows:
        if ids - taken:
            rows.append(Row(b"", b"", b"", {json_bytes(str(number)): None for number in ids - taken}))
            taken |= ids
    # Similarity 1 is an equivalence, and the rows of a class are alike to all others.
    classes = [data.draw(st.integers(0, 3)) for _ in rows]
    level = {frozenset(pair): data.draw(st.sampled_from([0.0, 0.8, 0.9])) for pair in combinations(range(4), 2)}
    edges = {(i, j): level.get(frozenset((classes[i], classes[j])), 1.0) for i, j in combinations(range(len(rows)), 2)}
    edges = {pair: similarity for pair, similarity in edges.items() if similarity}
    forest = Forest(rows)
    for strip in range(num_strips):
        chosen = list(edges.items())[strip::num_strips]
        ends = np.array([pair for pair, _ in chosen], np.int64).reshape(-1, 2)
        with pytest.MonkeyPatch.context() as patches:
            patches.setattr(jobs.links, "MAX_EDGES", max_edges)
            forest.add(Candidates(ends[:, 0], ends[:, 1], np.array([similarity for _, similarity in chosen], float)))
    names = [[doc_id.text for doc_id in row.doc_ids] for row in rows]
    pairs = {(a, b): 1.0 for ids in names for a, b in combinations(ids, 2)}
    for (i, j), similarity in edges.items():
        pairs.update({(min(a, b), max(a, b)): similarity for a in names[i] for b in names[j]})
    assert pairs_of_lines(forest.lines()) == kruskal(pairs)


@given(st.lists(st.sets(st.sampled_from(["0a", "0b", "0c", "0d", "1a", "1b", "1c", "1d"]), min_size=1), max_size=6),
       st.booleans(), st.data())
def test_a_forest_of_rows_of_two_corpora_is_kruskals_of_wanted_pairs(
    ids_of_rows: list[set[str]], only_across: bool, data: st.DataObject
) -> None:
    taken: set[str] = set()
    rows = []
    for ids in ids_of_rows:
        if ids - taken:
            rows.append(Row(b"", b"", b"", {json_bytes(doc_id): None for doc_id in ids - taken}, has_marks=True))
            taken |= ids
    classes = [data.draw(st.integers(0, 2)) for _ in rows]
    level = {frozenset(pair): data.draw(st.sampled_from([0.8, 0.9])) for pair in combinations(range(3), 2)}
    similarity_of = {(i, j): level.get(frozenset((classes[i], classes[j])), 1.0)
                     for i, j in combinations(range(len(rows)), 2)}
    forest = Forest(rows, only_across)
    ends = np.array(list(similarity_of), np.int64).reshape(-1, 2)
    forest.add(Candidates(ends[:, 0], ends[:, 1], np.array(list(similarity_of.values()))))
    names = [[doc_id.text for doc_id in row.doc_ids] for row in rows]
    pairs = {(a, b): 1.0 for ids in names for a, b in combinations(ids, 2)}
    for (i, j), similarity in similarity_of.items():
        pairs.update({(min(a, b), max(a, b)): similarity for a in names[i] for b in names[j]})
    wanted = ("01",) if only_across else ("01", "11")
    expected = kruskal({(a, b): similarity for (a, b), similarity in pairs.items() if a[0] + b[0] in wanted})
    assert pairs_of_lines(forest.lines()) == expected


@given(corpora, st.sampled_from([1, 24]))
@settings(max_examples=20)
def test_links_of_the_job_are_kruskals_of_its_pairs(texts: list[str], max_small_docs: int) -> None:
    lines = json_lines({f"i{number}": text for number, text in enumerate(texts)})
    options = (*options_of(LOOSE), "--num-cores", "1")
    pairs = run_job(MRPairs, lines, *options).pairs()
    with pytest.MonkeyPatch.context() as patches:
        patches.setattr(jobs.bundles, "MAX_SMALL_DOCS", max_small_docs)
        links = links_of_job(lines, *options)
    assert links == kruskal(pairs)
    assert clusters(links) == clusters(pairs)
    assert len(links) < max(len(texts), 1)


def test_links_of_many_documents_are_kruskals() -> None:
    settings, lines = Settings(threshold=0.5), json_lines(made_up_documents(400, num_words=25))
    pairs = pairs_of_lines(run_passes(lines, settings).lines)
    output = run_passes(lines, settings, links=True)
    links = pairs_of_lines(output.lines)
    assert output.report.num_links == len(links) and output.report.num_pairs is None
    assert links == kruskal(pairs) and clusters(links) == clusters(pairs)
    assert len(links) < len(pairs)


def test_links_of_articles_are_sorted_lines_of_pairs() -> None:
    lines = (DATA / "articles.jsonl").read_bytes().splitlines()
    links = run_passes(lines, Settings(threshold=0.6), links=True).lines
    pairs = run_passes(lines, Settings(threshold=0.6)).lines
    assert links == sorted(links) and set(links) < set(pairs)


def test_equal_texts_are_a_star_from_the_smallest_id() -> None:
    documents = dict.fromkeys(["m", "z", "b", "10", "9", "é"], WORDS)
    output = run_passes(json_lines({**documents, "other": "quite another text"}), Settings(), links=True)
    assert pairs_of_lines(output.lines) == {("10", other): 1.0 for other in sorted(set(documents) - {"10"})}


def test_texts_of_equal_shingle_sets_are_in_the_star() -> None:
    texts = {"e": "ab" * 9, "b": "ab" * 15, "d": "ab" * 15, "c": "ba" * 20, "a": "x" + "ab" * 12, "f": "ab" * 9}
    output = run_passes(json_lines(texts), Settings(shingle="char:2", threshold=0.5), links=True)
    found = pairs_of_lines(output.lines)
    # The document that is only like them hangs on the smallest of them, by one link.
    assert found.pop(("a", "b")) == json.loads(output.lines[0])["similarity"] == 2 / 3
    assert found == {("b", other): 1.0 for other in "cdef"}
