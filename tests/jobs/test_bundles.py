"""Bundles take in records in any order: a text is one row, a copy is no document more."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.bundles import Bundle, equal_texts, gather
from jobs.records import BundlePart, BundleRecord, DocId, json_bytes, key_bytes
from lsh_core.check import MAX_SMALL_DOCS
from lsh_core.hashing import digest64

NAME = b"0000000000000001"
WHOLE = BundlePart(NAME)


def keys_of(*numbers: int) -> bytes:
    return key_bytes(np.array(numbers, np.uint64))


def record(doc_id: str, text: str, own: bytes = NAME, earlier: bytes = b"") -> bytes:
    return BundleRecord(json_bytes(doc_id), own, earlier, text.encode()).encode()


def bundle_of(*records: bytes, part: BundlePart = WHOLE) -> Bundle:
    bundle = Bundle(part)
    for value in records:
        bundle.add(value)
    return bundle


def test_empty() -> None:
    rows, to_check = gather([])
    assert rows == [] and to_check.texts == []
    assert [len(column) for column in (to_check.counts, to_check.num_left)] == [0, 0]
    assert [len(column) for column in (*to_check.own_keys, *to_check.earlier_keys)] == [0] * 4
    assert bundle_of().num_docs == 0 and equal_texts([bundle_of()]).tolist() == [] and not bundle_of().is_large


@given(st.lists(st.tuples(st.sampled_from("abcé"), st.sampled_from(["x", "y", "z"])), max_size=12),
       st.randoms(use_true_random=False))
def test_rows_are_texts_with_all_their_ids(documents: list[tuple[str, str]], choose: random.Random) -> None:
    distinct = set(documents)
    choose.shuffle(documents)
    bundle = bundle_of(*(record(doc_id, text) for doc_id, text in documents))
    ids_of = {text: sorted(doc_id for doc_id, other in distinct if other == text) for _, text in distinct}
    found = {row.text.decode(): row.doc_ids for row in bundle.rows.values()}
    assert found == {text: [DocId(doc_id, json_bytes(doc_id)) for doc_id in ids] for text, ids in ids_of.items()}
    assert bundle.num_docs == len(distinct)
    equals = {bundle.ordered_rows[number].text.decode() for number in equal_texts([bundle])}
    assert equals == {text for text, ids in ids_of.items() if len(ids) > 1}


def test_equal_texts_meet_in_their_first_bundle_only() -> None:
    first = bundle_of(record("a", "x"), record("b", "x"), record("c", "y"))
    assert first.ordered_rows[0].text == b"x" and equal_texts([first]).tolist() == [0]
    later = bundle_of(record("a", "x", earlier=keys_of(7)), record("b", "x", earlier=keys_of(7)))
    assert later.num_docs == 2 and equal_texts([later]).tolist() == []
    assert equal_texts([later, first]).tolist() == [1]


def test_equal_texts_meet_inside_their_group_only() -> None:
    records = (record("a", "x"), record("b", "x"))
    group = digest64(b"x") % 3
    for other in range(3):
        part = BundlePart(NAME, min(group, other), max(group, other), 3)
        assert len(equal_texts([bundle_of(*records, part=part)])) == (group == other)


@pytest.mark.parametrize(("num_texts", "is_large"), [(MAX_SMALL_DOCS, False), (MAX_SMALL_DOCS + 1, True)])
def test_distinct_texts_make_a_bundle_large(num_texts: int, is_large: bool) -> None:
    bundle = bundle_of(*(record(f"{number}{copy}", str(number)) for number in range(num_texts) for copy in "abc"))
    assert bundle.is_large == is_large


def test_bundles_are_gathered_one_after_another() -> None:
    one = bundle_of(record("a", "x", keys_of(1, 2), keys_of(9)), record("b", "y", keys_of(2)))
    other = bundle_of(record("a", "x", keys_of(3)), record("c", "x", keys_of(3)), record("d", "z", keys_of(3, 4, 5)))
    rows, to_check = gather([one, other])
    assert [row.text for row in rows] == to_check.texts == [b"x", b"y", b"x", b"z"]
    assert to_check.counts.tolist() == to_check.num_left.tolist() == [2, 2]
    assert to_check.own_keys.keys.tolist() == [1, 2, 2, 3, 3, 4, 5]
    assert to_check.own_keys.rows.tolist() == [0, 0, 1, 2, 3, 3, 3]
    assert to_check.earlier_keys.keys.tolist() == [9] and to_check.earlier_keys.rows.tolist() == [0]


@given(st.integers(2, 6), st.data(), st.randoms(use_true_random=False))
def test_the_first_group_of_a_part_comes_first(num_groups: int, data: st.DataObject, choose: random.Random) -> None:
    i = data.draw(st.integers(0, num_groups - 2))
    j = data.draw(st.integers(i + 1, num_groups - 1))
    texts = [str(number) for number in range(30) if digest64(str(number).encode()) % num_groups in (i, j)]
    choose.shuffle(texts)
    bundle = bundle_of(*(record(text, text) for text in texts), part=BundlePart(NAME, i, j, num_groups))
    _, to_check = gather([bundle])
    groups = [digest64(text) % num_groups for text in to_check.texts]
    assert groups == sorted(groups) and sorted(to_check.texts) == sorted(text.encode() for text in texts)
    assert to_check.num_left.tolist() == [groups.count(i)]
