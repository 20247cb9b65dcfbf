"""Two corpora in one comparison, beside loops over all pairs of documents."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lsh_core.check import Bundles, KeyEntries, check_large, check_small
from lsh_core.gate import build_gate, possible_pairs
from lsh_core.settings import Settings
from lsh_core.sides import Sides

counts = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=5)


def wanted(one: str, other: str, only_across: bool) -> bool:
    return one != other if only_across else "own" in (one, other)


def documents(num_own: int, num_against: int) -> list[str]:
    return ["own"] * num_own + ["against"] * num_against


@given(counts, st.booleans())
def test_pairs_are_counted_as_by_hand(things: list[tuple[int, int]], only_across: bool) -> None:
    numbers = np.array(things, np.int64).reshape(-1, 2)
    sides = Sides(numbers[:, 0], numbers[:, 1], only_across)
    assert sides.pairs_inside().tolist() == [
        sum(wanted(*pair, only_across) for pair in combinations(documents(*thing), 2)) for thing in things]
    rows = np.array(list(product(range(len(things)), repeat=2)), np.int64).reshape(-1, 2)
    assert sides.pairs_between(rows[:, 0], rows[:, 1]).tolist() == [
        sum(wanted(*pair, only_across) for pair in product(documents(*one), documents(*other)))
        for one, other in product(things, repeat=2)]


rows = st.lists(st.tuples(st.integers(0, 5), st.booleans()), max_size=12)


@given(rows, st.booleans(), st.integers(1, 4), st.integers(0, 2**32))
def test_a_gate_of_two_corpora_keeps_wanted_pairs_together_and_no_other_buckets(
    lines: list[tuple[int, bool]], only_across: bool, num_bands: int, seed: int
) -> None:
    keys_of_text = np.random.default_rng(seed).integers(0, 3, (6, num_bands)).astype(np.uint64)
    keys_of_text += np.arange(num_bands, dtype=np.uint64) * 10
    texts = np.array([text for text, _ in lines], np.uint64)
    is_against = np.array([side for _, side in lines], bool)
    gate = build_gate(keys_of_text[texts.astype(int)], texts, 100, is_against, only_across)
    kept_of = {text: set(gate.member_keys[gate.members == text].tolist()) for text in range(6)}
    pairs_of_key: dict[int, int] = dict.fromkeys(gate.keys.tolist(), 0)
    num_pairs = 0
    for (text, side), (other, other_side) in combinations(lines, 2):
        if not wanted("against" if side else "own", "against" if other_side else "own", only_across):
            continue
        shared = kept_of[text] & kept_of[other]
        assert bool(shared) == bool((keys_of_text[text] == keys_of_text[other]).any())
        num_pairs += bool(shared)
        for key in shared:
            pairs_of_key[key] += 1
    assert all(pairs_of_key.values())
    assert possible_pairs(gate, texts, is_against, only_across) >= num_pairs


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)).filter(any), min_size=2, max_size=6), st.booleans())
def test_texts_of_two_corpora_are_compared_where_a_pair_is_wanted(
    things: list[tuple[int, int]], only_across: bool
) -> None:
    num_rows, numbers = len(things), np.array(things, np.int64)
    sides = Sides(numbers[:, 0], numbers[:, 1], only_across)
    keys = KeyEntries(np.zeros(num_rows, np.uint64), np.arange(num_rows))
    none = KeyEntries(np.empty(0, np.uint64), np.empty(0, np.int64))
    bundles = Bundles([b"some text of row %d" % row for row in range(num_rows)], np.array([num_rows]),
                      np.array([num_rows]), keys, none, sides)
    expected = [(i, j) for i, j in combinations(range(num_rows), 2)
                if any(wanted(*pair, only_across) for pair in product(documents(*things[i]), documents(*things[j])))]
    small = check_small(bundles, Settings())
    large = list(check_large(bundles, Settings()))
    assert sorted(zip(small.rows_a.tolist(), small.rows_b.tolist())) == expected
    assert sorted(pair for block in large for pair in zip(block.rows_a.tolist(), block.rows_b.tolist())) == expected
