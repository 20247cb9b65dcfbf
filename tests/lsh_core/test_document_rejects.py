"""Lines that are no documents: a table of each reason, its detail, and lines at the edge."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsh_core import Document, RejectedLine, Settings, parse_line, read_documents
from lsh_core.errors import REJECT_REASONS
from lsh_core.settings import CHOICES

TSV, TEXT, SHINGLED = ({"format": name} for name in ("tsv", "text", "shingled"))
DEEP = 100_000
SHORT = {"max_document_bytes": 10}

# line, settings, reason, detail
REJECTED = [
    (b"x" * 11, SHORT, "too long", "11 bytes, at most 10 are allowed"),
    (b"\0" * 11, SHORT, "too long", "11 bytes"),
    (b'{"id": "\0"}', {}, "raw NUL byte", "at byte 8"),
    (b"x\ta\0", TSV, "raw NUL byte", "at byte 3"),
    (b'{"id": "\xff"}', {}, "bad UTF-8", "at byte 8"),
    (b"\xed\xa0\x80", TEXT, "bad UTF-8", "at byte 0"),  # a surrogate, as UTF-8 does not have it
    (b"\xc0\x80", TEXT, "bad UTF-8", "at byte 0"),  # NUL in two bytes
    (b"", {}, "empty", "blank line"),
    (b" \t\v", TSV, "empty", "blank line"),
    ("\u3000\x85".encode(), TEXT, "empty", "blank line"),
    (b"\xef\xbb\xbf", SHINGLED, "empty", "blank line"),
    (b"{", {}, "not JSON", "line 1 column 2"),
    (b"x a", {}, "not JSON", "line 1 column 1"),
    (b'{"id": "x"} {}', {}, "not JSON", "Extra data"),
    (b'{"id": "a\tb"}', {}, "not JSON", "control character"),
    (b"\xef\xbb\xbf\xef\xbb\xbf{}", {}, "not JSON", "Expecting value"),
    (b"[" * DEEP + b"]" * DEEP, {}, "not JSON", "nested deeper than 200"),
    (b'{"a": ' * DEEP + b"1" + b"}" * DEEP, {}, "not JSON", "nested deeper than 200"),
    (b"[]", {}, "not a JSON object", "found list"),
    (b'"text"', {}, "not a JSON object", "found str"),
    (b"null", {}, "not a JSON object", "found NoneType"),
    (b"NaN", {}, "not a JSON object", "found float"),
    (b"{}", {}, "no id", "field 'id' is missing, null or empty"),
    (b'{"id": null, "text": "a"}', {}, "no id", "field 'id'"),
    (b'{"id": "", "text": "a"}', {}, "no id", "field 'id'"),
    (b'{"id": "x", "text": "a"}', {"id_field": "key"}, "no id", "field 'key'"),
    (b"\ta", TSV, "no id", "before the tab"),
    *[(b'{"id": %b, "text": "a"}' % written, {}, "id not a string or an integer", f"field 'id' is {found}")
      for written, found in [(b"true", "bool"), (b"false", "bool"), (b"1.0", "float"), (b"1e3", "float"),
                             (b"NaN", "float"), (b"-Infinity", "float"), (b"1e400", "float"),
                             (b"[1]", "list"), (b'{"a": 1}', "dict")]],
    (b'{"id": "x"}', {}, "no text", "field 'text' is missing or null"),
    (b'{"id": "x", "text": null}', {}, "no text", "field 'text'"),
    (b'{"id": "x", "text": "a"}', {"text_field": "body"}, "no text", "field 'body'"),
    (b"x a", TSV, "no text", "no tab"),
    (b" x ", TEXT, "no text", "after the id"),
    (b"7", SHINGLED, "no text", "after the id"),
    *[(b'{"id": "x", "text": %b}' % written, {}, "text not a string", f"field 'text' is {found}")
      for written, found in [(b"1", "int"), (b"0", "int"), (b"false", "bool"), (b"NaN", "float"),
                             (b'["a"]', "list"), (b"{}", "dict")]],
    (b'{"id": "x", "text": "ab\\ud800"}', {}, "lone surrogate", "U+D800 at character 2"),
    (b'{"id": "x", "text": "\\ude00\\ud83d"}', {}, "lone surrogate", "U+DE00 at character 0"),
    (b'{"id": "\\udfff", "text": "a"}', {}, "lone surrogate", "U+DFFF at character 0"),
    *[(b"x 1 " + token, SHINGLED, "shingle not an integer from 0 to 2^64 - 1", f"found {token.decode()!r}")
      for token in [b"-1", b"+1", b"1.0", b"a", b"0x1", b"1_0", b"18446744073709551616", b"9" * 30,
                    "٣".encode(), "²".encode()]],
    (b"x " + b"a" * 100, SHINGLED, "shingle not an integer from 0 to 2^64 - 1", f"found {'a' * 40!r}"),
]

# Only a batch, which normalizes, can tell that these are empty.
EMPTY_AFTER_NORMALIZATION = [
    (b'{"id": "x", "text": "   "}', {"white_space": "keep"}),
    (b'{"id": "x", "text": ""}', {}),
    (b'{"id": "x", "text": " \\t\\n\\u00a0\\u0000"}', {}),
    (b'{"id": "x", "text": "?!"}', {"punctuation": "drop"}),
    (b'{"id": "x", "text": "The the,"}', {"stop_words": ["the"]}),
    (b"x\t", TSV),
]


def short_names(line: object) -> str:
    return repr(line)[:40] if isinstance(line, bytes) else ""


@pytest.mark.parametrize(("line", "changes", "reason", "detail"), REJECTED, ids=short_names)
def test_rejected(line, changes, reason, detail):
    settings = Settings(**changes)
    with pytest.raises(RejectedLine) as caught:
        parse_line(line, settings)
    assert caught.value.reason == reason
    assert str(caught.value).startswith(reason + ": ")
    assert detail in str(caught.value)
    [(number, error)] = read_documents([line], settings).rejected
    assert (number, str(error)) == (0, str(caught.value))


@pytest.mark.parametrize(("line", "changes"), EMPTY_AFTER_NORMALIZATION, ids=short_names)
def test_empty_after_normalization(line, changes):
    settings = Settings(**changes)
    assert isinstance(parse_line(line, settings), Document)
    [(number, error)] = read_documents([line], settings).rejected
    assert (number, str(error)) == (0, "empty: nothing is left after normalization")


def test_every_reason_has_a_line():
    assert {reason for _, _, reason, _ in REJECTED} == set(REJECT_REASONS)


def test_a_line_as_long_as_allowed():
    assert parse_line(b"x " + b"a" * 8, Settings(format="text", **SHORT)).text == "a" * 8


def test_the_least_and_the_greatest_given_integer():
    line = b"x 0 00000000000000000000 18446744073709551615"
    assert parse_line(line, Settings(**SHINGLED)).text == "0 18446744073709551615"


@given(st.binary(max_size=60), st.sampled_from(CHOICES["format"]), st.sampled_from(["id", None]))
def test_any_bytes_are_a_document_or_rejected(line, line_format, id_field):
    settings = Settings(format=line_format, id_field=id_field)
    try:
        document = parse_line(line, settings)
    except RejectedLine as error:
        assert error.reason in REJECT_REASONS
    else:
        assert (document.doc_id is None) == (id_field is None)
        assert document.doc_id != ""
        document.text.encode()


@pytest.mark.parametrize("field", ["id", "other"])
def test_an_integer_that_python_will_not_read_is_rejected(field):
    # Pythons since 2022 read integers of at most 4,300 digits.
    if not hasattr(sys, "get_int_max_str_digits"):
        pytest.skip("this Python reads integers of any length")
    line = b'{"text": "a", "id": "x", "%b": %b}' % (field.encode(), b"9" * (sys.get_int_max_str_digits() + 1))
    with pytest.raises(RejectedLine, match="not JSON: Exceeds the limit"):
        parse_line(line, Settings())


@pytest.mark.parametrize(("depth", "is_json"), [(199, True), (200, False), (100_000, False)])
def test_depth_is_bounded_by_a_number_not_by_the_stack(depth, is_json):
    line = b'{"id": "x", "text": "[[[ \\" {{{", "deep": ' + b"[" * depth + b"]" * depth + b"}"
    assert bool(read_documents([line], Settings()).doc_ids) == is_json
