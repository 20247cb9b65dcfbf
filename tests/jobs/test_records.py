"""What is encoded is decoded to the same, and no record breaks the line that it travels in."""

from __future__ import annotations

import base64
import json

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import jobs.records
from jobs.records import (
    BundlePart,
    BundleRecord,
    DocId,
    decode_counts,
    decode_keys,
    encode_counts,
    encode_line,
    encode_pair,
    json_bytes,
    key_bytes,
    pack_numbers,
    pack_table,
    unpack_numbers,
    unpack_table,
)

ids = st.text(st.characters(exclude_categories=["Cs"]))
keys = st.lists(st.integers(0, 2**64 - 1))


def test_empty() -> None:
    assert key_bytes(np.array([], np.uint64)) == b""
    assert decode_keys(b"").dtype == np.uint64 and len(decode_keys(b"")) == 0
    assert pack_numbers(np.empty((0, 3), np.uint64)) == b"" and unpack_numbers(b"").tolist() == []
    assert list(pack_table([np.empty((0, 2), np.uint64)])) == [] and unpack_table([], 3).shape == (0, 3)
    assert encode_line(b"") == {"line": ""}
    assert decode_counts(b"") is None


@given(ids)
def test_ids_travel_on_one_line(doc_id: str) -> None:
    encoded = json_bytes(doc_id)
    assert json.loads(encoded) == doc_id
    assert not set(encoded) & set(b"\t\r\n\0")


@given(keys)
def test_keys_come_back(numbers: list[int]) -> None:
    encoded = key_bytes(np.array(numbers, np.uint64))
    assert encoded == "".join(f"{number:016x}" for number in numbers).encode()
    assert decode_keys(encoded).tolist() == numbers


# Bytes that are escaped, those they are escaped to, and any others.
packed_bytes = st.lists(st.sampled_from(b"\x1b\n\renr\0\xff") | st.integers(0, 255), max_size=64)


@given(packed_bytes.map(bytes).map(lambda content: content[: len(content) // 8 * 8]))
@example(b"\x1bn\x1br\x1be\n\r")
def test_packed_numbers_come_back_and_hold_no_line_end(content: bytes) -> None:
    numbers = np.frombuffer(content, "<u8").astype(np.uint64)
    packed = pack_numbers(numbers)
    assert not set(packed) & set(b"\r\n")
    assert unpack_numbers(packed).tolist() == numbers.tolist()
    assert len(packed) == len(content) + sum(map(content.count, (b"\x1b", b"\n", b"\r")))


@given(keys)
def test_numbers_of_64_bits_come_back_from_a_table(numbers: list[int]) -> None:
    table = np.array([numbers, numbers[::-1]], np.uint64)
    found = unpack_numbers(pack_numbers(table))
    assert found.dtype == np.uint64 and found.tolist() == numbers + numbers[::-1]


@given(keys, st.integers(0, 3), st.integers(1, 20), st.integers(1, 5))
def test_tables_come_back_from_records_of_any_size(
    numbers: list[int], num_more: int, numbers_of_record: int, num_ranges: int
) -> None:
    column = np.array(numbers, np.uint64)
    more = np.array([numbers] * num_more, np.uint64).reshape(num_more, len(numbers)).T + np.uint64(1)
    with pytest.MonkeyPatch.context() as patches:
        patches.setattr(jobs.records, "NUMBERS_OF_RECORD", numbers_of_record)
        records = list(pack_table([column, more], num_ranges))
    # A row goes to the range of its first number.
    range_of = (column >> np.uint64(32)) * np.uint64(num_ranges) >> np.uint64(32)
    for number in range(num_ranges):
        table = unpack_table([record for found, record in records if found == number], 1 + num_more)
        expected = np.column_stack([column, more])[range_of == number]
        assert table.dtype == np.uint64 and np.array_equal(table, expected)
    assert {number for number, _ in records} == set(range_of.tolist())
    assert all(len(unpack_numbers(record)) <= max(numbers_of_record, 1 + num_more) for _, record in records)


@given(ids, keys, keys, st.binary().filter(lambda text: not set(text) & set(b"\t\r\n")))
def test_bundle_records_come_back(doc_id: str, own: list[int], earlier: list[int], text: bytes) -> None:
    own_keys, earlier_keys = (key_bytes(np.array(numbers, np.uint64)) for numbers in (own, earlier))
    record = BundleRecord(json_bytes(doc_id), own_keys, earlier_keys, text)
    assert BundleRecord.decode(record.encode()) == record


@given(st.integers(0, 2**64 - 1), st.integers(2, 10**6), st.data())
def test_parts_of_bundles_come_back(name: int, num_groups: int, data: st.DataObject) -> None:
    i = data.draw(st.integers(0, num_groups - 1))
    j = data.draw(st.integers(i, num_groups - 1))
    whole, part = BundlePart(b"%016x" % name), BundlePart(b"%016x" % name, i, j, num_groups)
    assert whole.encode() == whole.bundle and BundlePart.decode(whole.encode()) == whole
    assert BundlePart.decode(part.encode()) == part
    assert not set(part.encode()) & set(b"\t\r\n")


@given(ids, ids, st.floats(0, 1))
def test_pairs_are_json_in_order_with_the_very_similarity(a: str, b: str, similarity: float) -> None:
    encoded = encode_pair(DocId.decode(json_bytes(a)), DocId.decode(json_bytes(b)), similarity)
    assert json.loads(encoded) == {"a": min(a, b), "b": max(a, b), "similarity": similarity}
    assert decode_counts(encoded) is None


@given(st.dictionaries(ids, st.integers(0, 2**70)))
def test_counts_come_back_in_one_order(counts: dict[str, int]) -> None:
    encoded = encode_counts(counts)
    assert decode_counts(encoded) == counts
    assert encode_counts(dict(reversed(counts.items()))) == encoded


@given(st.binary() | ids.map(str.encode))
def test_no_byte_of_a_line_is_lost(line: bytes) -> None:
    fields = encode_line(line)
    if "line" in fields:
        assert fields["line"].encode() == line
    else:
        assert base64.b64decode(fields["line_base64"]) == line
