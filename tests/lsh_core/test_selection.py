"""What documents are emitted under: a gate loses no pair, whatever its form, and brings no hot bucket back."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsh_core.bloom import BloomFilter
from lsh_core.gate import Gate, build_gate
from lsh_core.selection import BloomGate, GateTable, Selection, no_gate
from tests import oracles

MAX_DOCS = 3
NUM_BANDS = 5

Entries = set[tuple[int, int, int, int]]


@st.composite
def key_tables(draw: Any, first_text: int = 0) -> np.ndarray:
    """The digest of each document's text, then its keys; equal texts have equal keys."""
    num_docs, num_texts, num_buckets = draw(st.tuples(st.integers(0, 14), st.integers(1, 10), st.integers(1, 8)))
    keys = oracles.splitmix64(draw(st.integers(0, 99)), NUM_BANDS * num_buckets)
    buckets = draw(st.lists(st.integers(0, num_buckets - 1), min_size=num_texts * NUM_BANDS,
                            max_size=num_texts * NUM_BANDS))
    rows = [[first_text + text, *(keys[band * num_buckets + buckets[text * NUM_BANDS + band]]
                                  for band in range(NUM_BANDS))]
            for text in draw(st.lists(st.integers(0, num_texts - 1), min_size=num_docs, max_size=num_docs))]
    return np.array(rows, np.uint64).reshape(-1, 1 + NUM_BANDS)


shards = st.integers(1, NUM_BANDS + 2)


def gate_of(table: np.ndarray, num_shards: int = 1) -> Gate:
    """The gates of shares of the bands, put together."""
    gates = [build_gate(table[:, 1 + shard :: num_shards], table[:, 0], MAX_DOCS) for shard in range(num_shards)]
    keys, bundles, num_groups, texts, member_keys = map(np.concatenate, zip(*gates))
    order, by_text = np.argsort(keys), np.lexsort((member_keys, texts))
    return Gate(keys[order], bundles[order], num_groups[order], texts[by_text], member_keys[by_text])


def hot_part(gate: Gate) -> Gate:
    """What a Bloom gate has in a table: the keys that do not have one group."""
    is_hot, none = gate.num_groups != 1, np.empty(0, np.uint64)
    return Gate(gate.keys[is_hot], gate.bundles[is_hot], gate.num_groups[is_hot], none, none)


def bloom_of(gate: Gate) -> BloomGate:
    """The same gate with a filter in place of members."""
    kept = BloomFilter.sized_for(max(len(gate.keys), 1), 0.01)
    kept.add(gate.keys[gate.num_groups > 0])
    return BloomGate(kept, hot_part(gate))


def yes_to_all(gate: Gate) -> BloomGate:
    """A Bloom gate whose filter is of no use."""
    full = BloomFilter(num_bits=64, num_hashes=1)
    full.add(np.arange(1000, dtype=np.uint64))
    return BloomGate(full, hot_part(gate))


def entries(selection: Selection) -> Entries:
    """(row, key, bundle, groups) of all that is emitted, found to be in the order of rows and once each."""
    assert [column.dtype for column in selection] == [np.int64, np.uint64, np.uint64, np.int64]
    rows = selection.rows.tolist()
    found = list(zip(*(column.tolist() for column in selection)))
    assert rows == sorted(rows)
    assert len(set(found)) == len(found)
    return set(found)


# The same by dicts and sets


def buckets_of_shards(table: np.ndarray, num_shards: int) -> list[dict[int, set[int]]]:
    """For each shard the rows of each of its keys, band by band."""
    buckets: list[dict[int, set[int]]] = [defaultdict(set) for _ in range(num_shards)]
    for band in range(NUM_BANDS):
        for row, key in enumerate(table[:, 1 + band].tolist()):
            buckets[band % num_shards][key].add(row)
    return buckets


def kept_entries(table: np.ndarray, num_shards: int) -> set[tuple[int, int]]:
    """(row, key) of all documents and their kept keys."""
    return {(row, key) for buckets in buckets_of_shards(table, num_shards)
            for key, rows in oracles.maximal_buckets(buckets).items() for row in rows}


def dropped_hot_keys(table: np.ndarray, num_shards: int) -> set[int]:
    """Keys of buckets of more texts than a bundle may hold that lie in others."""
    texts, kept = table[:, 0].tolist(), {key for _, key in kept_entries(table, num_shards)}
    return {key for buckets in buckets_of_shards(table, num_shards) for key, rows in buckets.items()
            if key not in kept and len({texts[row] for row in rows}) > MAX_DOCS}


def emitted(gate: Gate, texts: list[int]) -> Entries:
    """What a gate has to emit of texts, by a dict."""
    where = dict(zip(gate.keys.tolist(), zip(gate.bundles.tolist(), gate.num_groups.tolist())))
    members = list(zip(gate.members.tolist(), gate.member_keys.tolist()))
    return {(row, key, *where[key]) for row, text in enumerate(texts) for member, key in members if member == text}


def assert_no_pair_is_lost(selection: Selection, table: np.ndarray) -> None:
    """Documents that share a key are emitted under a common key, bundle and number of groups."""
    under: list[set[tuple[int, ...]]] = [set() for _ in table]
    for row, *where in entries(selection):
        under[row].add(tuple(where))
    keys = [set(row) for row in table[:, 1:].tolist()]
    for i, j in combinations(range(len(table)), 2):
        assert bool(under[i] & under[j]) == bool(keys[i] & keys[j])


def assert_no_group_is_too_large(selection: Selection, table: np.ndarray) -> None:
    """No bundle has more texts than its groups may hold."""
    texts_under = defaultdict(set)
    for row, _, bundle, num_groups in entries(selection):
        texts_under[bundle, num_groups].add(int(table[row, 0]))
    assert all(len(texts) <= num_groups * MAX_DOCS for (_, num_groups), texts in texts_under.items())


# All forms


@pytest.mark.parametrize("num_docs", [0, 1, 3])
@pytest.mark.parametrize("num_bands", [0, 1, 3])
def test_without_company_nothing_is_selected(num_docs, num_bands):
    keys = np.arange(num_docs * num_bands, dtype=np.uint64).reshape(num_docs, num_bands)
    texts = np.arange(num_docs, dtype=np.uint64)
    gate = build_gate(keys, texts, MAX_DOCS)
    assert entries(GateTable(gate).select(texts)) == entries(bloom_of(gate).select(keys)) == set()


@given(key_tables(), shards)
def test_pairs_that_share_a_key_share_a_kept_key(table, num_shards):
    gate = gate_of(table, num_shards)
    selections = [form.select(table[:, 1:]) for form in (bloom_of(gate), yes_to_all(gate))]
    for selection in (GateTable(gate).select(table[:, 0]), *selections):
        assert_no_pair_is_lost(selection, table)
        assert_no_group_is_too_large(selection, table)


@given(key_tables())
def test_without_a_gate_each_key_is_its_own_bundle(table):
    expected = {(row, key, key, 1) for row, keys in enumerate(table[:, 1:].tolist()) for key in keys}
    assert entries(no_gate(table[:, 1:])) == expected


# By text


@given(key_tables(), shards)
def test_a_text_has_its_kept_keys_and_no_others(table, num_shards):
    gate = gate_of(table, num_shards)
    found = entries(GateTable(gate).select(table[:, 0]))
    assert {entry[:2] for entry in found} == kept_entries(table, num_shards)
    where = dict(zip(gate.keys.tolist(), zip(gate.bundles.tolist(), gate.num_groups.tolist())))
    assert all((bundle, num_groups) == where[key] and num_groups > 0 for _, key, bundle, num_groups in found)


@given(key_tables(), key_tables(first_text=5), st.integers(1, 22))
def test_an_index_selects_just_the_texts_of_its_gate(table, other, index_bits):
    """Also of documents that the gate was not made of, and where an index of few slots has to look twice."""
    gate = gate_of(table)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lsh_core.selection.INDEX_BITS", index_bits)
        index = GateTable(gate)
        for texts in (table[:, 0], other[:, 0], np.append(other[:, 0], table[:, 0])):
            assert entries(index.select(texts)) == emitted(gate, texts.tolist())


# By key


@given(key_tables(), key_tables(first_text=50), shards)
def test_a_filter_selects_no_fewer_keys_and_bundles_the_hot_ones(table, other, num_shards):
    gate = gate_of(table, num_shards)
    exact, found = emitted(gate, table[:, 0].tolist()), entries(bloom_of(gate).select(table[:, 1:]))
    assert {entry for entry in found if entry[3] > 1} == {entry for entry in exact if entry[3] > 1}
    assert all(key == bundle for _, key, bundle, num_groups in found if num_groups == 1)
    assert {entry[:2] for entry in found} >= {entry[:2] for entry in exact}
    # Documents that the gate was not made of change nothing for the others.
    assert entries(bloom_of(gate).select(np.vstack([table, other])[:, 1:])) >= found


@given(key_tables(), shards)
def test_a_filter_that_says_yes_to_all_brings_no_hot_bucket_back(table, num_shards):
    """Keys too many are emitted, each in a bundle of its own: as without a gate, but for the hot buckets."""
    gate = gate_of(table, num_shards)
    dropped = dropped_hot_keys(table, num_shards)
    assert set(gate.keys[gate.num_groups == 0].tolist()) == dropped
    found = {entry[:2] for entry in entries(yes_to_all(gate).select(table[:, 1:]))}
    every = {(row, key) for row, keys in enumerate(table[:, 1:].tolist()) for key in keys}
    assert found == {(row, key) for row, key in every if key not in dropped}


def test_a_hot_bucket_inside_another_stays_away():
    """Nine texts share band 0, the first five of them band 1: at most three may be compared."""
    keys = np.array([[7, 100 if text < 5 else 200 + text] for text in range(9)], np.uint64)
    texts = np.arange(9, dtype=np.uint64)
    gate = build_gate(keys, texts, MAX_DOCS)
    assert gate.keys.tolist() == [7, 100] and gate.num_groups.tolist() == [3, 0]
    expected = {(row, 7, 7, 3) for row in range(9)}
    assert entries(GateTable(gate).select(texts)) == expected
    singles = {(row, 200 + row, 200 + row, 1) for row in range(5, 9)}
    assert entries(yes_to_all(gate).select(keys)) == expected | singles


def test_a_filter_has_few_keys_too_many():
    keys, texts = (np.sort(np.array(oracles.splitmix64(seed, 2000), np.uint64)) for seed in (1, 3))
    gate = Gate(keys, keys, np.ones(2000, np.int64), texts, keys)
    others = np.array(oracles.splitmix64(2, 20_000), np.uint64).reshape(-1, 10)
    assert 0 < len(bloom_of(gate).select(others).rows) < 0.02 * others.size
    assert len(GateTable(gate).select(others.reshape(-1)).rows) == 0
