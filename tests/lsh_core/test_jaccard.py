"""The exact check against sets and fractions."""

from __future__ import annotations

from importlib import import_module
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsh_core import Settings, ShingleSets, intersection_sizes, jaccard, shingle_set, shingle_sets, similarities
from lsh_core.jaccard import similarities_of_texts
from tests import oracles
from tests.strategies import corpora, shingle_choices, uint64s

members = st.one_of(st.frozensets(st.integers(0, 15), max_size=12), st.frozensets(uint64s, max_size=12))
families_of_sets = st.lists(members, min_size=1, max_size=7)


def as_sets(families: list[frozenset[int]]) -> ShingleSets:
    rows = [sorted(numbers) for numbers in families]
    return ShingleSets(np.array([number for row in rows for number in row], np.uint64),
                       np.cumsum([0, *map(len, rows)]))


def all_rows(families: list[frozenset[int]]) -> tuple[np.ndarray, np.ndarray]:
    """Every row with every row, itself too."""
    pairs = np.array(list(product(range(len(families)), repeat=2)), np.int64).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]


def every_pair(families: list[frozenset[int]]) -> list[tuple[frozenset[int], frozenset[int]]]:
    return list(product(families, repeat=2))


# Of given sets


@given(families_of_sets)
def test_intersections_are_those_of_python_sets(families):
    found = intersection_sizes(as_sets(families), *all_rows(families))
    assert found.dtype == np.int64
    assert found.tolist() == [len(one & other) for one, other in every_pair(families)]


@given(families_of_sets, st.integers(1, 25), st.sampled_from([0, 1, 3, 10**9]))
def test_blocks_and_long_sets_do_not_change_intersections(families, limit, long_set):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(import_module("lsh_core.jaccard"), "PAIR_BLOCK_SHINGLES", limit)
        patch.setattr(import_module("lsh_core.jaccard"), "LONG_SET", long_set)
        found = intersection_sizes(as_sets(families), *all_rows(families))
    assert found.tolist() == [len(one & other) for one, other in every_pair(families)]


@given(families_of_sets)
def test_similarities_are_the_doubles_nearest_to_the_fractions(families):
    found = similarities(as_sets(families), *all_rows(families))
    assert found.dtype == np.float64
    assert found.tolist() == [float(oracles.jaccard_fraction(one, other)) for one, other in every_pair(families)]


@given(members, members)
def test_jaccard_of_two_sets(one, other):
    in_order = [np.array(sorted(numbers), np.uint64) for numbers in (one, other)]
    similarity = jaccard(*in_order)
    assert similarity == float(oracles.jaccard_fraction(one, other)) == jaccard(*reversed(in_order))
    assert similarity == similarities(as_sets([one, other]), np.array([0]), np.array([1])).tolist()[0]
    assert jaccard(in_order[0], in_order[0]) == 1.0


@pytest.mark.parametrize(("shared", "union", "threshold"), [
    (4, 5, 0.8), (7, 10, 0.7), (3, 10, 0.3), (9, 10, 0.9), (8000, 10_000, 0.8), (2, 3, 2 / 3), (1, 1, 1.0)])
def test_a_similarity_at_the_threshold_counts(shared, union, threshold):
    one, other = frozenset(range(union)), frozenset(range(shared))
    [similarity] = similarities(as_sets([one, other]), np.array([0]), np.array([1])).tolist()
    assert similarity >= threshold
    assert repr(similarity) == repr(threshold)


def test_empty_sets():
    found = similarities(as_sets([frozenset(), frozenset(), frozenset([1])]), np.array([0, 0, 2]), np.array([1, 2, 2]))
    assert found.tolist() == [1.0, 0.0, 1.0]
    assert (jaccard([], []), jaccard([], [1])) == (1.0, 0.0)


@pytest.mark.parametrize("families", [[], [frozenset()], [frozenset([1]), frozenset([2])]])
def test_no_pairs(families):
    none = np.array([], np.int64)
    assert intersection_sizes(as_sets(families), none, none).tolist() == []
    assert similarities(as_sets(families), none, none).tolist() == []


def test_sizes():
    assert as_sets([frozenset([1, 2]), frozenset(), frozenset([3])]).sizes.tolist() == [2, 0, 1]


# Of texts


@given(corpora, shingle_choices)
def test_sets_of_texts_are_ascending_and_those_of_each_text(corpus, shingle):
    settings = Settings(shingle=shingle)
    normalized = [oracles.normalize(text) for text in corpus]
    sets = shingle_sets([text.encode() for text in normalized], settings)
    assert sets.values.dtype == np.uint64
    assert len(sets.offsets) == len(corpus) + 1
    for i, text in enumerate(normalized):
        row = sets.values[sets.offsets[i] : sets.offsets[i + 1]].tolist()
        assert row == sorted(set(row)) == shingle_set(text, settings).tolist()


@given(corpora, shingle_choices, st.floats(0.05, 1))
def test_pairs_of_texts_are_those_of_brute_force(corpus, shingle, threshold):
    kind, k = shingle.split(":")
    documents = {f"d{i:03}": text for i, text in enumerate(corpus)}
    # A text of which nothing is left is no document.
    normalized = {doc_id: oracles.normalize(text) for doc_id, text in documents.items()}
    doc_ids = [doc_id for doc_id, text in normalized.items() if text]
    sets = shingle_sets([normalized[doc_id].encode() for doc_id in doc_ids], Settings(shingle=shingle))
    pairs = list(combinations(range(len(doc_ids)), 2))
    rows = np.array(pairs, np.int64).reshape(-1, 2)
    found = {
        (doc_ids[i], doc_ids[j]): similarity
        for (i, j), similarity in zip(pairs, similarities(sets, rows[:, 0], rows[:, 1]).tolist())
        if similarity >= threshold
    }
    assert found == oracles.brute_force_pairs(documents, threshold, kind, int(k))


@given(corpora, shingle_choices)
def test_similarities_of_texts_by_their_rows(corpus, shingle):
    kind, k = shingle.split(":")
    normalized = [oracles.normalize(text) for text in corpus]
    pairs = list(product(range(len(corpus)), repeat=2))
    sets = [oracles.shingles(text, kind, int(k)) for text in normalized]
    found = similarities_of_texts([text.encode() for text in normalized], pairs, Settings(shingle=shingle))
    assert found == [oracles.jaccard(sets[i], sets[j]) for i, j in pairs]


def test_signed_and_unsigned_integers_are_told_apart_exactly() -> None:
    assert jaccard([2**53, 2**63], [2**53 + 1]) == 0
    assert jaccard([1, 2], np.array([1, 2], np.uint64)) == 1
