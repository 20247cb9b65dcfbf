"""Lines that are documents: ids, texts and the other fields, in every format."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsh_core import Document, RejectedLine, Settings, normalize_text, parse_line, read_documents
from lsh_core.errors import EmptyText
from lsh_core.hashing import text_digest
from lsh_core.settings import CHOICES
from tests import oracles
from tests.strategies import texts

BOM = b"\xef\xbb\xbf"
WITHOUT_ID = {"id_field": None}


def parsed(line: bytes, **changes) -> Document:
    return parse_line(line, Settings(**changes))


# Formats


@pytest.mark.parametrize(("line", "changes", "doc_id", "text"), [
    (b'{"id": "x", "text": "a b"}', {}, "x", "a b"),
    (b'  {"text": "a b", "id": "x"}  ', {}, "x", "a b"),
    (b'{"name": "x", "body": "a"}', {"id_field": "name", "text_field": "body"}, "x", "a"),
    (b'{"id": "x", "text": "a"}', WITHOUT_ID, None, "a"),
    (b'{"text": "\\ud83d\\ude00"}', WITHOUT_ID, None, "😀"),
    (b"x\ta b\tc", {"format": "tsv"}, "x", "a b\tc"),
    (b"x y\ta", {"format": "tsv"}, "x y", "a"),
    (b"x\t", {"format": "tsv"}, "x", ""),
    (b"x\ta", {"format": "tsv", **WITHOUT_ID}, None, "x\ta"),
    (b"x a b", {"format": "text"}, "x", "a b"),
    (b" x \t a  b", {"format": "text"}, "x", "a  b"),
    (b"x a b", {"format": "text", **WITHOUT_ID}, None, "x a b"),
    (b"x 3 1 2", {"format": "shingled"}, "x", "1 2 3"),
    (b"7 3", {"format": "shingled"}, "7", "3"),
    (b"7 3", {"format": "shingled", **WITHOUT_ID}, None, "3 7"),
])
def test_formats(line, changes, doc_id, text):
    for start in (b"", BOM):
        document = parsed(start + line, **changes)
        assert (document.doc_id, document.text) == (doc_id, text)


def test_every_format_has_a_parser():
    lines = {"jsonl": b'{"id": "1", "text": "2"}', "tsv": b"1\t2", "text": b"1 2", "shingled": b"1 2"}
    assert set(lines) == set(CHOICES["format"])
    assert {parsed(line, format=name)[:2] for name, line in lines.items()} == {("1", "2")}


def test_only_one_bom_is_dropped():
    assert parsed(BOM + BOM + b"x a", format="text").doc_id == "\ufeffx"


def test_other_fields_are_kept_as_they_are():
    fields = {"year": 1603, "tags": ["a", None, 1.5], "id2": {"text": "no"}, "big": 10**300, "odd": "\ud800"}
    line = json.dumps({"id": "x", "text": "a", **fields}).encode()
    assert parsed(line).fields == fields


def test_not_a_number_in_another_field():
    assert math.isnan(parsed(b'{"id": "x", "text": "a", "score": NaN}').fields["score"])


def test_id_and_text_are_no_other_fields():
    assert parsed(b'{"id": "x", "text": "a"}').fields == {}
    assert parsed(b'{"id": "x", "text": "a"}', **WITHOUT_ID).fields == {"id": "x"}


def test_the_last_of_repeated_fields_counts():
    assert parsed(b'{"id": "x", "id": "y", "text": "a"}').doc_id == "y"


# Ids


@pytest.mark.parametrize(("written", "doc_id"), [
    ("7", "7"),
    ("-7", "-7"),
    ("0", "0"),
    ("-0", "0"),
    ("9" * 1000, "9" * 1000),
    ('"7"', "7"),
    ('"007"', "007"),
    ('" "', " "),
    (r'"a\tb\nc\u0000"', "a\tb\nc\0"),
    ('"猫"', "猫"),
])
def test_id_is_a_string_or_the_decimal_text_of_an_integer(written, doc_id):
    assert parsed(f'{{"id": {written}, "text": "a"}}'.encode()).doc_id == doc_id


@given(st.integers())
def test_any_integer_is_its_decimal_text(number):
    assert parsed(b'{"id": %d, "text": "a"}' % number).doc_id == str(number)


# Shingled


@given(st.lists(st.integers(0, 2**64 - 1), min_size=1), st.randoms())
def test_equal_sets_of_integers_are_equal_texts(numbers, choose):
    shuffled = numbers * 2
    choose.shuffle(shuffled)
    one = parsed(("x " + " ".join(map(str, numbers))).encode(), format="shingled").text
    other = parsed(("x " + "  ".join(f"{number:020}" for number in shuffled)).encode(), format="shingled").text
    assert one == other == " ".join(map(str, sorted(set(numbers))))


# Batches

lines = st.one_of(
    st.tuples(st.text(max_size=3), texts).map(lambda pair: json.dumps({"id": pair[0], "text": pair[1]}).encode()),
    texts.map(lambda text: json.dumps({"text": text}).encode()),
    texts.map(str.encode),
    st.binary(max_size=20),
    st.lists(st.integers(-1, 2**64), max_size=4).map(lambda numbers: " ".join(map(str, numbers)).encode()),
    st.sampled_from([b"", b" ", b"{", b"[]", b"x\t", b"x", b'{"id": true, "text": "a"}', b"x" * 100]),
)


def one_by_one(batch: list[bytes], settings: Settings) -> tuple[list, list, list]:
    doc_ids, normalized, rejected = [], [], []
    for number, line in enumerate(batch):
        try:
            document = parse_line(line, settings)
            text = normalize_text(document.text, settings).encode()
            if not text:
                raise EmptyText
            doc_ids.append(text_digest(text) if document.doc_id is None else document.doc_id)
            normalized.append(text)
        except RejectedLine as error:
            rejected.append((number, error.reason))
    return doc_ids, normalized, rejected


@given(st.lists(lines, max_size=8), st.sampled_from(CHOICES["format"]), st.sampled_from(["id", None]))
def test_batch_is_its_lines_one_by_one(batch, line_format, id_field):
    settings = Settings(format=line_format, id_field=id_field, max_document_bytes=80)
    read = read_documents(batch, settings)
    reasons = [(number, error.reason) for number, error in read.rejected]
    assert (read.doc_ids, read.texts, reasons) == one_by_one(batch, settings)
    assert len(read.doc_ids) + len(read.rejected) == len(batch)


@given(st.lists(texts, max_size=6))
def test_texts_of_a_batch_are_normalized(raw_texts):
    batch = [json.dumps({"id": i, "text": text}).encode() for i, text in enumerate(raw_texts)]
    normalized = [oracles.normalize(text) for text in raw_texts]
    read = read_documents(batch, Settings())
    assert read.texts == [text.encode() for text in normalized if text]
    assert [number for number, _ in read.rejected] == [i for i, text in enumerate(normalized) if not text]


def test_rejected_lines_are_in_the_order_of_the_input():
    batch = [b"{", b'{"id": 1, "text": " "}', b"[]", b'{"id": 1, "text": "a"}', b'{"id": 1, "text": "\\t"}']
    rejected = read_documents(batch, Settings()).rejected
    assert [(number, error.reason) for number, error in rejected] == [
        (0, "not JSON"), (1, "empty"), (2, "not a JSON object"), (4, "empty")]


def test_without_ids_equal_normalized_texts_have_one_id():
    batch = [json.dumps({"text": text}).encode() for text in ("a b", " a\tb ", "é", "e\u0301", "c")]
    doc_ids = read_documents(batch, Settings(id_field=None)).doc_ids
    assert [doc_ids.index(doc_id) for doc_id in doc_ids] == [0, 0, 2, 2, 4]
    assert all(len(doc_id) == 32 for doc_id in doc_ids)


def test_no_lines():
    assert read_documents([], Settings()) == ([], [], [])
