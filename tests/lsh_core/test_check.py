"""The exact check of bundles against sets of strings."""

from __future__ import annotations

from fractions import Fraction
from itertools import chain, combinations
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsh_core import Settings
from lsh_core.check import Bundles, Candidates, KeyEntries, check_large, check_small, shingle_patterns
from tests import oracles
from tests.helpers import made_up_documents
from tests.strategies import near_duplicates, shingle_choices, texts

Found = dict[tuple[int, int], float]


class Row(NamedTuple):
    """A normalized text with the keys that decide whom it meets."""

    text: str
    own_keys: frozenset[int] = frozenset([1])
    earlier_keys: frozenset[int] = frozenset()


class Bundle(NamedTuple):
    """Rows of distinct texts, and how many of them are left ones."""

    rows: list[Row]
    num_left: int


# Keys that differ in their lowest bits alone, few enough to be shared.
key_sets = st.frozensets(st.sampled_from([0, 1, 2**63, 2**63 + 1, 2**64 - 1]), max_size=3)
own_key_sets = st.one_of(st.just(frozenset([1])), key_sets)
earlier_key_sets = st.one_of(st.just(frozenset()), key_sets)
families = st.one_of(near_duplicates(min_size=1, max_size=8), st.lists(texts, max_size=8))


@st.composite
def bundles(draw: Any) -> Bundle:
    distinct = sorted({oracles.normalize(text) for text in draw(families)} - {""})
    rows = [Row(text, draw(own_key_sets), draw(earlier_key_sets)) for text in distinct]
    return Bundle(rows, draw(st.one_of(st.just(len(rows)), st.integers(0, len(rows)))))


lists_of_bundles = st.lists(bundles(), max_size=4)


# Both ways


def slow_check(bundle: Bundle, shingle: str) -> Found:
    """The pairs of a bundle that share an own key and no earlier one, with shared members of all members."""
    rows, num_left = bundle
    pairs = combinations(range(len(rows)), 2)
    if num_left < len(rows):
        pairs = ((i, j) for i in range(num_left) for j in range(num_left, len(rows)))
    kind, k = shingle.split(":")
    sets = [oracles.shingles(row.text, kind, int(k)) for row in rows]
    return {(i, j): len(sets[i] & sets[j]) / len(sets[i] | sets[j]) for i, j in pairs
            if rows[i].own_keys & rows[j].own_keys and not rows[i].earlier_keys & rows[j].earlier_keys}


def slow_checks(many: list[Bundle], shingle: str) -> Found:
    """The same for bundles whose rows are numbered one after another."""
    found: Found = {}
    first = 0
    for bundle in many:
        found.update({(first + i, first + j): value for (i, j), value in slow_check(bundle, shingle).items()})
        first += len(bundle.rows)
    return found


def as_bundles(many: list[Bundle]) -> Bundles:
    rows = list(chain(*(bundle.rows for bundle in many)))
    counts = np.array([len(bundle.rows) for bundle in many], np.int64)
    num_left = np.array([bundle.num_left for bundle in many], np.int64)
    own_keys, earlier_keys = entries([row.own_keys for row in rows]), entries([row.earlier_keys for row in rows])
    return Bundles([row.text.encode() for row in rows], counts, num_left, own_keys, earlier_keys)


def entries(key_sets: list[frozenset[int]]) -> KeyEntries:
    """Keys of rows, the last row first, to show that any order will do."""
    pairs = [(key, row) for row, keys in enumerate(key_sets) for key in keys][::-1]
    return KeyEntries(np.array([key for key, _ in pairs], np.uint64), np.array([row for _, row in pairs], np.int64))


def as_dict(candidates: Candidates) -> Found:
    rows_a, rows_b, similarities = (column.tolist() for column in candidates)
    assert candidates.similarities.dtype == np.float64
    found = dict(zip(zip(rows_a, rows_b), similarities))
    assert len(found) == len(rows_a) == len(rows_b) == len(similarities)
    return found


def small(many: list[Bundle], shingle: str) -> Found:
    return as_dict(check_small(as_bundles(many), Settings(shingle=shingle)))


def large(bundle: Bundle, shingle: str) -> Found:
    """What all strips say, each pair in one of them."""
    strips = [as_dict(strip) for strip in check_large(as_bundles([bundle]), Settings(shingle=shingle))]
    found = {pair: similarity for strip in strips for pair, similarity in strip.items()}
    assert len(found) == sum(map(len, strips))
    return found


@given(lists_of_bundles, shingle_choices)
def test_small_bundles_together_are_checked_as_by_sets(many, shingle):
    assert small(many, shingle) == slow_checks(many, shingle)


@given(lists_of_bundles, shingle_choices, st.sampled_from([0, 1, 10**6]), st.sampled_from([0, 5, 10**6]))
def test_pairs_compared_one_by_one_are_the_same(many, shingle, few_partners, long_text):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lsh_core.check.FEW_PARTNERS", few_partners)
        patch.setattr("lsh_core.check.LONG_TEXT", long_text)
        assert small(many, shingle) == slow_checks(many, shingle)


@given(bundles(), shingle_choices, st.integers(1, 30))
def test_a_large_bundle_is_checked_as_by_sets(bundle, shingle, strip_cells):
    expected = slow_check(bundle, shingle)
    assert large(bundle, shingle) == expected
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lsh_core.check.STRIP_CELLS", strip_cells)
        assert large(bundle, shingle) == expected


@given(bundles(), shingle_choices, st.integers(5, 200))
def test_parts_of_the_shingles_do_not_change_the_check(bundle, shingle, part_shingles):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lsh_core.check.PART_SHINGLES", part_shingles)
        assert small([bundle], shingle) == large(bundle, shingle) == slow_check(bundle, shingle)


@pytest.mark.parametrize("shingle", ["char:5", "word:2"])
@pytest.mark.parametrize("num_left", [120, 50, 119, 1, 0])
def test_many_rows(num_left, shingle, monkeypatch):
    monkeypatch.setattr("lsh_core.check.PART_SHINGLES", 5000)
    monkeypatch.setattr("lsh_core.check.STRIP_CELLS", 1000)
    texts_of_rows = sorted({oracles.normalize(text) for text in made_up_documents(200).values()})[:120]
    rows = [Row(text, frozenset([i % 3, 10 + i % 7]), frozenset([20 + i % 11])) for i, text in enumerate(texts_of_rows)]
    bundle = Bundle(rows, num_left)
    expected = slow_check(bundle, shingle)
    assert len(rows) == 120 and bool(expected) == bool(num_left)
    assert small([bundle], shingle) == large(bundle, shingle) == expected


@pytest.mark.parametrize("part_shingles", [100, 1000, 10**6])
def test_patterns_of_parts_are_those_of_all_shingles(part_shingles, monkeypatch):
    """Each part has patterns of its own, so the same rows come again, but no shingle does."""
    shared, own = " ".join(map(str, range(300))), " ".join(map(str, range(1000, 1200)))
    contents = [shared.encode(), f"{shared} {own}".encode(), own.encode()]
    monkeypatch.setattr("lsh_core.check.PART_SHINGLES", part_shingles)
    patterns = shingle_patterns(contents, np.array([0, 0, 1]), Settings(shingle="word:1"))
    assert patterns.sizes.tolist() == [300, 500, 200]
    assert patterns.weights.sum() == 300
    assert len(patterns.weights) == 1 + sum(map(len, contents)) // part_shingles
    assert patterns.rows.tolist() == [0, 1] * len(patterns.weights)
    assert patterns.weights.max() <= 2 * 300 / len(patterns.weights)


# Particular bundles


@pytest.mark.parametrize("many", [[], [Bundle([], 0)], [Bundle([], 0)] * 3, [Bundle([Row("one text")], 1)],
                                  [Bundle([Row("one text")], 0), Bundle([], 0), Bundle([Row("another")], 1)]])
def test_no_company_no_candidates(many):
    assert small(many, "char:3") == {}
    assert [large(bundle, "char:3") for bundle in many] == [{}] * len(many)


def test_rows_of_different_bundles_never_meet():
    """Even of equal text, and with the same keys."""
    one, other = Bundle([Row("abcd"), Row("abce")], 2), Bundle([Row("abcd"), Row("bcde"), Row("zzzz")], 1)
    found = small([one, Bundle([], 0), other], "char:2")
    assert found == {(0, 1): 2 / 4, (2, 3): 2 / 4, (2, 4): 0.0}


def test_rows_that_met_before_do_not_meet_again():
    rows = [Row("abcd", frozenset([5, 6]), frozenset([1])), Row("abc", frozenset([5]), frozenset([1, 2])),
            Row("bcd", frozenset([6]), frozenset([2])), Row("cd", frozenset([5, 6]))]
    bundle = Bundle(rows, 4)
    # 0 and 1 share key 1; 1 and 2 share no own key.
    expected = {(0, 2): 2 / 3, (0, 3): 1 / 3, (1, 3): 0.0, (2, 3): 1 / 2}
    assert small([bundle], "char:2") == large(bundle, "char:2") == expected


@pytest.mark.parametrize(("num_left", "meeting"), [
    (0, []), (1, [(0, 1), (0, 2)]), (2, [(0, 2), (1, 2)]), (3, [(0, 1), (0, 2), (1, 2)])])
def test_left_rows_meet_the_others_or_all_meet_each_other(num_left, meeting):
    bundle = Bundle([Row("abcd"), Row("abce"), Row("abcf")], num_left)
    assert sorted(small([bundle], "char:2")) == sorted(large(bundle, "char:2")) == meeting


@pytest.mark.parametrize(("shared", "union"), [(4, 5), (7, 10), (1, 3), (2, 3), (48, 49), (1, 49), (300, 301), (1, 1)])
def test_a_similarity_is_the_double_nearest_to_the_fraction(shared, union):
    """Also where it is at a threshold: 4 of 5 is 0.8, not a little less."""
    words = [f"w{number}" for number in range(union)]
    # Texts in another order have the same words.
    bundle = Bundle([Row(" ".join(words)), Row(" ".join(words[:shared][::-1] + words[:1]))], 2)
    assert small([bundle], "word:1") == large(bundle, "word:1") == {(0, 1): shared / union}
    assert shared / union == float(Fraction(shared, union))


def test_a_strip_holds_a_bounded_number_of_cells(monkeypatch):
    monkeypatch.setattr("lsh_core.check.STRIP_CELLS", 25)
    rows = [Row(f"text number {number}") for number in range(12)]
    strips = list(check_large(as_bundles([Bundle(rows, 12)]), Settings()))
    assert [sorted(set(strip.rows_a.tolist())) for strip in strips] == [[0, 1], [2, 3], [4, 5], [6, 7], [8, 9], [10]]
    strips = list(check_large(as_bundles([Bundle(rows, 4)]), Settings()))
    assert [sorted(set(strip.rows_a.tolist())) for strip in strips] == [[0, 1, 2], [3]]


def test_candidates_that_stay_keep_their_similarities():
    candidates = Candidates(np.array([0, 0, 1]), np.array([1, 2, 2]), np.array([0.5, 0.9, 0.8]))
    assert as_dict(candidates.where(candidates.similarities >= 0.8)) == {(0, 2): 0.9, (1, 2): 0.8}
