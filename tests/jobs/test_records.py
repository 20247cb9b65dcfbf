"""What is encoded is decoded to the same, and no record breaks the line that it travels in."""

from __future__ import annotations

import base64
import json

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from jobs.records import (
    BucketRecord,
    decode_counts,
    decode_keys,
    encode_counts,
    encode_line,
    encode_pair,
    json_bytes,
    key_bytes,
)

ids = st.text(st.characters(exclude_categories=["Cs"]))
keys = st.lists(st.integers(0, 2**64 - 1))


def test_empty() -> None:
    assert key_bytes(np.array([], np.uint64)) == b""
    assert decode_keys(b"").dtype == np.uint64 and len(decode_keys(b"")) == 0
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


@given(ids, keys, st.binary().filter(lambda text: not set(text) & set(b"\t\r\n")))
def test_bucket_records_come_back(doc_id: str, numbers: list[int], text: bytes) -> None:
    record = BucketRecord(json_bytes(doc_id), key_bytes(np.array(numbers, np.uint64)), text)
    assert BucketRecord.decode(record.encode()) == record


@given(ids, ids, st.floats(0, 1))
def test_pairs_are_json_with_the_very_similarity(a: str, b: str, similarity: float) -> None:
    encoded = encode_pair(a, b, similarity)
    assert json.loads(encoded) == {"a": a, "b": b, "similarity": similarity}
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
