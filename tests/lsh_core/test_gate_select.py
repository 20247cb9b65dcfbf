"""What documents are emitted under: a gate loses no pair, whatever its form."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsh_core.bloom import BloomFilter
from lsh_core.gate import BloomGate, Gate, GateIndex, Selection, build_gate
from tests import oracles

MAX_DOCS = 3


@st.composite
def key_tables(draw: Any, num_bands: int = 5) -> np.ndarray:
    """The digest of each document's text, then its keys; equal texts have equal keys."""
    num_docs, num_texts, num_buckets = draw(st.tuples(st.integers(0, 14), st.integers(1, 10), st.integers(1, 8)))
    keys = oracles.splitmix64(draw(st.integers(0, 99)), num_bands * num_buckets)
    buckets = draw(st.lists(st.integers(0, num_buckets - 1), min_size=num_texts * num_bands,
                            max_size=num_texts * num_bands))
    rows = [[text, *(keys[band * num_buckets + buckets[text * num_bands + band]] for band in range(num_bands))]
            for text in draw(st.lists(st.integers(0, num_texts - 1), min_size=num_docs, max_size=num_docs))]
    return np.array(rows, np.uint64).reshape(-1, 1 + num_bands)


def gate_of(table: np.ndarray, num_shards: int = 1) -> Gate:
    """The gates of shares of the bands, put together."""
    gates = [build_gate(table[:, 1 + shard :: num_shards], table[:, 0], MAX_DOCS) for shard in range(num_shards)]
    keys, bundles, num_groups = map(np.concatenate, zip(*gates))
    order = np.argsort(keys)
    return Gate(keys[order], bundles[order], num_groups[order])


def entries(selection: Selection) -> set[tuple[int, int, int, int]]:
    """(row, key, bundle, groups) of all that is emitted, found to be in the order of rows and once each."""
    assert [column.dtype for column in selection] == [np.int64, np.uint64, np.uint64, np.int64]
    rows = selection.rows.tolist()
    found = list(zip(*(column.tolist() for column in selection)))
    assert rows == sorted(rows)
    assert len(set(found)) == len(found)
    return set(found)


def emitted(gate: Gate, table: np.ndarray) -> set[tuple[int, int, int, int]]:
    """What a gate has to emit, by a dict."""
    kept = dict(zip(gate.keys.tolist(), zip(gate.bundles.tolist(), gate.num_groups.tolist())))
    rows = enumerate(table[:, 1:].tolist())
    return {(row, key, *kept[key]) for row, keys in rows for key in keys if key in kept}


def assert_no_pair_is_lost(selection: Selection, table: np.ndarray) -> None:
    """Documents that share a key are emitted under a common key, bundle and number of groups."""
    under: list[set[tuple[int, ...]]] = [set() for _ in table]
    for row, *where in entries(selection):
        under[row].add(tuple(where))
    keys = [set(row) for row in table[:, 1:].tolist()]
    for i, j in combinations(range(len(table)), 2):
        assert bool(under[i] & under[j]) == bool(keys[i] & keys[j])


@given(key_tables(), st.integers(1, 7))
def test_pairs_that_share_a_key_share_a_kept_key(table, num_shards):
    gate = gate_of(table, num_shards)
    for form in (GateIndex(gate), BloomGate.of(gate)):
        assert_no_pair_is_lost(form.select(table[:, 1:]), table)


@given(key_tables(), key_tables(), st.integers(1, 22))
def test_an_index_selects_just_the_keys_of_its_gate(table, other, index_bits):
    """Also for documents that the gate was not made of, and where an index of few slots has to look twice."""
    gate = gate_of(table)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lsh_core.gate.INDEX_BITS", index_bits)
        index = GateIndex(gate)
        for documents in (table, other, np.vstack([other, table])):
            assert entries(index.select(documents[:, 1:])) == emitted(gate, documents)


@given(key_tables(), key_tables())
def test_a_filter_selects_no_fewer_keys_and_bundles_the_hot_ones(table, other):
    gate = gate_of(table)
    is_hot = gate.num_groups > 1
    form = BloomGate.of(gate)
    assert [column.tolist() for column in form.hot] == [column[is_hot].tolist() for column in gate]
    documents = np.vstack([other, table])
    exact, found = emitted(gate, documents), entries(form.select(documents[:, 1:]))
    assert {entry for entry in found if entry[3] > 1} == {entry for entry in exact if entry[3] > 1}
    assert all(key == bundle for _, key, bundle, num_groups in found if num_groups == 1)
    assert {entry[:2] for entry in found} >= {entry[:2] for entry in exact}


@given(key_tables())
def test_a_filter_that_says_yes_to_all_loses_no_pair(table):
    """Keys too many are emitted, each in a bundle of its own: as without a gate, but for the hot bundles."""
    full = BloomFilter(num_bits=64, num_hashes=1)
    full.add(np.arange(1000, dtype=np.uint64))
    selection = BloomGate(full, BloomGate.of(gate_of(table)).hot).select(table[:, 1:])
    assert len(selection.rows) == table[:, 1:].size
    assert_no_pair_is_lost(selection, table)


def test_a_filter_has_few_keys_too_many():
    gate = Gate(*[np.array(oracles.splitmix64(1, 2000), np.uint64)] * 2, np.ones(2000, np.int64))
    others = np.array(oracles.splitmix64(2, 20_000), np.uint64).reshape(-1, 10)
    assert 0 < len(BloomGate.of(gate).select(others).rows) < 0.02 * others.size
    assert len(GateIndex(Gate(np.sort(gate.keys), *gate[1:])).select(others).rows) == 0
