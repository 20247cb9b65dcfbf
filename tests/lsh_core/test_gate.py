"""The gate against dicts and sets."""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsh_core.gate import Gate, build_gate, possible_pairs
from tests import oracles
from tests.strategies import uint64s

Kept = dict[int, tuple[int, int]]


class Corpus(NamedTuple):
    """The text of each document, and the keys, one a band, of each text."""

    texts: list[int]
    keys_of_text: dict[int, list[int]]
    num_bands: int

    @property
    def keys(self) -> list[list[int]]:
        return [self.keys_of_text[text] for text in self.texts]

    @property
    def band_keys(self) -> np.ndarray:
        return np.array(self.keys, np.uint64).reshape(-1, self.num_bands)

    @property
    def buckets(self) -> dict[int, set[int]]:
        """The documents of each key, keys band by band."""
        buckets: dict[int, set[int]] = {}
        for band in range(self.num_bands):
            for doc, keys in enumerate(self.keys):
                buckets.setdefault(keys[band], set()).add(doc)
        return buckets

    @property
    def text_digests(self) -> np.ndarray:
        return np.array(self.texts, np.uint64)

    def num_texts(self, docs: set[int]) -> int:
        return len({self.texts[doc] for doc in docs})

    def gate(self, max_docs: int = 4) -> Gate:
        return build_gate(self.band_keys, self.text_digests, max_docs)


@st.composite
def corpora(draw: Any) -> Corpus:
    """Few buckets a band, so that documents share several; no two bands share a key, and keys are in no order."""
    num_bands, num_buckets = draw(st.integers(1, 5)), draw(st.integers(1, 6))
    keys = oracles.splitmix64(draw(st.integers(0, 99)), num_bands * num_buckets)
    buckets = st.lists(st.integers(0, num_buckets - 1), min_size=num_bands, max_size=num_bands)
    num_docs = draw(st.integers(0, 14))
    texts = draw(st.lists(st.one_of(st.integers(0, 3), uint64s), min_size=num_docs, max_size=num_docs))
    keys_of_text = {
        text: [keys[band * num_buckets + bucket] for band, bucket in enumerate(draw(buckets))] for text in texts}
    return Corpus(texts, keys_of_text, num_bands)


def as_dict(gate: Gate) -> Kept:
    """The bundle and the number of groups of each key."""
    assert [column.dtype for column in gate] == [np.uint64, np.uint64, np.int64, np.uint64, np.uint64]
    keys, bundles, num_groups = (column.tolist() for column in gate[:3])
    assert keys == sorted(set(keys)) and len(keys) == len(bundles) == len(num_groups)
    return dict(zip(keys, zip(bundles, num_groups)))


def kept_keys(gate: Gate) -> list[int]:
    return [key for key, (_, num_groups) in as_dict(gate).items() if num_groups]


def members_of(gate: Gate) -> list[tuple[int, int]]:
    """(text, key) of all members."""
    assert len(gate.members) == len(gate.member_keys)
    return list(zip(gate.members.tolist(), gate.member_keys.tolist()))


# The same again, slowly


def slow_gate(corpus: Corpus, max_docs: int, min_share: float = 0.1) -> Kept:
    maximal = oracles.maximal_buckets(corpus.buckets)
    kept: Kept = {}
    for bundle in bundles_of(maximal):
        num_texts = {key: corpus.num_texts(maximal[key]) for key in bundle}
        num_of_bundle = corpus.num_texts(set().union(*(maximal[key] for key in bundle)))
        share = sum(num**2 for num in num_texts.values()) / num_of_bundle**2
        is_chain = num_of_bundle > max_docs and share < min_share
        for key in bundle:
            num = num_texts[key] if is_chain else num_of_bundle
            kept[key] = (key if is_chain else min(bundle), (num + max_docs - 1) // max_docs)
    dropped = {key: docs for key, docs in corpus.buckets.items() if key not in kept}
    return {**kept, **{key: (key, 0) for key, docs in dropped.items() if corpus.num_texts(docs) > max_docs}}


def bundles_of(buckets: dict[int, set[int]]) -> list[set[int]]:
    """The keys of buckets that are connected by documents."""
    bundles: list[tuple[set[int], set[int]]] = []
    for key, docs in buckets.items():
        touching = [bundle for bundle in bundles if bundle[1] & docs]
        bundles = [bundle for bundle in bundles if bundle not in touching]
        bundles.append(({key}.union(*(keys for keys, _ in touching)), docs.union(*(docs for _, docs in touching))))
    return [keys for keys, _ in bundles]


@given(corpora(), st.integers(1, 8), st.sampled_from([0.1, 0.5, 0.75]))
def test_a_gate_is_the_one_of_dicts_and_sets(corpus, max_docs, min_share):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lsh_core.gate.MIN_SHARE_OF_PAIRS", min_share)
        assert as_dict(corpus.gate(max_docs)) == slow_gate(corpus, max_docs, min_share)


@given(corpora(), st.integers(1, 8))
def test_members_are_the_texts_of_kept_buckets(corpus, max_docs):
    maximal = oracles.maximal_buckets(corpus.buckets)
    expected = {(corpus.texts[doc], key) for key, docs in maximal.items() for doc in docs}
    assert members_of(corpus.gate(max_docs)) == sorted(expected)


@given(corpora(), st.integers(1, 8))
def test_a_key_of_no_groups_is_that_of_a_hot_bucket_inside_another(corpus, max_docs):
    gate = as_dict(corpus.gate(max_docs))
    for key, docs in corpus.buckets.items():
        lies_inside = any(docs <= corpus.buckets[other] for other in gate if other != key and gate[other][1])
        is_hot = corpus.num_texts(docs) > max_docs
        assert (gate.get(key) == (key, 0)) == (is_hot and lies_inside)


# What a gate keeps


@given(corpora())
def test_no_kept_bucket_lies_inside_another(corpus):
    kept = [corpus.buckets[key] for key in kept_keys(corpus.gate())]
    assert all(len(docs) > 1 for docs in kept)
    assert not any(one <= other or other <= one for one, other in combinations(kept, 2))


@given(corpora())
def test_a_bundle_has_the_name_of_its_smallest_key_and_no_document_of_another(corpus):
    keys_of_bundle: dict[int, set[int]] = {}
    for key, (bundle, _) in as_dict(corpus.gate(max_docs=100)).items():
        keys_of_bundle.setdefault(bundle, set()).add(key)
    assert all(name == min(keys) for name, keys in keys_of_bundle.items())
    docs = [set().union(*(corpus.buckets[key] for key in keys)) for keys in keys_of_bundle.values()]
    assert sum(map(len, docs)) == len(set().union(*docs))


@given(corpora(), st.randoms(use_true_random=False))
def test_a_gate_does_not_depend_on_the_order_of_documents(corpus, random):
    shuffled = corpus._replace(texts=random.sample(corpus.texts, len(corpus.texts)))
    assert as_dict(shuffled.gate()) == as_dict(corpus.gate())
    assert members_of(shuffled.gate()) == members_of(corpus.gate())


@given(corpora(), st.integers(2, 5))
def test_any_number_of_equal_texts_tells_as_much_as_two(corpus, times):
    twice, more = (corpus._replace(texts=corpus.texts * number) for number in (2, times))
    assert as_dict(more.gate()) == as_dict(twice.gate())
    assert members_of(more.gate()) == members_of(twice.gate())


@pytest.mark.parametrize("num_docs", [0, 1, 3])
@pytest.mark.parametrize("num_bands", [0, 1, 3])
def test_without_company_nothing_is_kept(num_docs, num_bands):
    """No documents, one, or three of which no two share a key; no bands, as in a shard too many."""
    keys = np.arange(num_docs * num_bands, dtype=np.uint64).reshape(num_docs, num_bands)
    gate = build_gate(keys, np.arange(num_docs, dtype=np.uint64), 4)
    assert (as_dict(gate), members_of(gate), possible_pairs(gate, np.arange(num_docs, dtype=np.uint64))) == ({}, [], 0)


# Hot bundles


def ring(num_docs: int) -> Corpus:
    """Each document shares one key with the next one, and one with the one before."""
    keys = {doc: [doc // 2, 1000 + (doc + 1) // 2 % (num_docs // 2)] for doc in range(num_docs)}
    return Corpus(list(range(num_docs)), keys, 2)


@pytest.mark.parametrize(("num_texts", "max_docs", "num_groups"), [
    (2, 4, 1), (4, 4, 1), (5, 4, 2), (8, 4, 2), (9, 4, 3), (100, 4, 25), (101, 4, 26), (100, 100, 1), (101, 100, 2)])
def test_a_hot_bundle_has_as_many_groups_as_its_texts_need(num_texts, max_docs, num_groups):
    corpus = Corpus([*range(num_texts), *[0] * 50, 1], {text: [7] for text in range(num_texts)}, 1)
    assert as_dict(corpus.gate(max_docs)) == {7: (7, num_groups)}


def test_a_chain_of_small_buckets_is_taken_apart():
    """A ring of n pairs has 4n of n^2 pairs inside buckets: a tenth at 40."""
    assert as_dict(ring(40).gate(4)) == dict.fromkeys([*range(20), *range(1000, 1020)], (0, 10))
    assert as_dict(ring(42).gate(4)) == {key: (key, 1) for key in [*range(21), *range(1000, 1021)]}
    assert as_dict(ring(42).gate(1)) == {key: (key, 2) for key in [*range(21), *range(1000, 1021)]}


def test_a_chain_that_is_not_hot_stays_together():
    assert set(as_dict(ring(100).gate(100)).values()) == {(0, 1)}
    assert set(as_dict(ring(100).gate(99)).values()) != {(0, 1)}


# Possible pairs


@given(corpora(), st.integers(1, 8))
def test_possible_pairs_are_those_of_whole_bundles(corpus, max_docs):
    docs_of_bundle: dict[int, set[int]] = {}
    for key, (bundle, num_groups) in slow_gate(corpus, max_docs).items():
        if num_groups:
            docs_of_bundle.setdefault(bundle, set()).update(corpus.buckets[key])
    expected = sum(comb(len(docs), 2) for docs in docs_of_bundle.values())
    assert possible_pairs(corpus.gate(max_docs), corpus.text_digests) == expected


def test_possible_pairs_of_a_small_example():
    keys = np.array([[1, 10], [1, 20], [2, 20], [3, 30], [3, 40], [5, 50]], np.uint64)
    texts = np.arange(6, dtype=np.uint64)
    gate = build_gate(keys, texts, 100)
    # Documents 0, 1 and 2 are one bundle, 3 and 4 another, 5 is alone.
    assert possible_pairs(gate, texts) == 3 + 1
    # Two more documents with the text of document 3, as the gate's input has them, or not.
    assert possible_pairs(gate, np.append(texts, [3, 3]).astype(np.uint64)) == 3 + 6
    assert possible_pairs(build_gate(keys[5:], texts[5:], 100), texts[5:]) == 0
