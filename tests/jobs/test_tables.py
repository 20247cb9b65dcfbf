"""Rows of CSV and Parquet files as JSON Lines, read back with json alone."""

from __future__ import annotations

import csv
import datetime
import decimal
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.errors import InputError, MissingExtra
from jobs.tables import csv_lines, parquet_lines
from lsh_core.document import parse_line
from lsh_core.errors import BadUtf8, NoId, NoText
from lsh_core.settings import Settings


def rows_of_csv(path: Path, content: bytes, **settings: Any) -> list[Any]:
    path.write_bytes(content)
    return [json.loads(line) for line in csv_lines(str(path), "corpus.csv", Settings(**settings))]


@pytest.fixture
def csv_path(tmp_path: Path) -> Path:
    return tmp_path / "any.csv"


@pytest.mark.parametrize(("content", "rows"), [
    (b"id,text\n", []),
    (b"id,text\n1,a\n", [{"id": "1", "text": "a"}]),
    (b"\xef\xbb\xbfid,text\r\n1,a\r\n2,b", [{"id": "1", "text": "a"}, {"id": "2", "text": "b"}]),
    (b"id,text\r1,a\r2,b\r", [{"id": "1", "text": "a"}, {"id": "2", "text": "b"}]),
    (b'id,text,year\n7,"To be,\n""or"" not",99\n', [{"id": "7", "text": 'To be,\n"or" not', "year": "99"}]),
    (b"\nid,text\n\n1,a\n\n", [{"id": "1", "text": "a"}]),
    (b"id,text\n1,a\0b\n", [{"id": "1", "text": "a\0b"}]),
    ("id,text,größe\n1,\u2028é😀,\n".encode(), [{"id": "1", "text": "\u2028é😀", "größe": ""}]),
    (b"id,text\n1,a,beyond,the header\n", [{"id": "1", "text": "a"}]),
    (b"id,text\n1\n", [{"id": "1"}]),
    (b"id,text,,\n1,a,,\n", [{"id": "1", "text": "a", "": ""}]),
])  # fmt: skip
def test_csv_rows(csv_path: Path, content: bytes, rows: list[Any]) -> None:
    assert rows_of_csv(csv_path, content) == rows


CSV_TEXTS = st.text(st.characters(exclude_categories=["Cs"]))


@given(table=st.lists(st.tuples(CSV_TEXTS, CSV_TEXTS)))
def test_csv_gives_back_what_csv_wrote(tmp_path_factory: pytest.TempPathFactory, table: list[Any]) -> None:
    path = tmp_path_factory.mktemp("csv") / "any.csv"
    quoted = ["id,text"] + [",".join('"' + cell.replace('"', '""') + '"' for cell in row) for row in table]
    expected = [{"id": doc_id, "text": text} for doc_id, text in table]
    assert rows_of_csv(path, "\n".join(quoted).encode()) == expected


def test_csv_fields_can_be_long_and_the_limit_stays(csv_path: Path) -> None:
    limit_before = csv.field_size_limit()
    text = "x" * (17 * 2**20)
    assert rows_of_csv(csv_path, b"id,text\n1," + text.encode()) == [{"id": "1", "text": text}]
    with pytest.raises(InputError):
        rows_of_csv(csv_path, b'id,text\n1,"a\n')
    assert csv.field_size_limit() == limit_before


def test_bad_utf8_in_csv_spoils_its_line_alone(csv_path: Path) -> None:
    csv_path.write_bytes(b"id,text\n1,caf\xe9\n2,fine\n")
    bad, good = csv_lines(str(csv_path), "corpus.csv", Settings())
    assert b"caf\xe9" in bad
    with pytest.raises(BadUtf8):
        parse_line(bad.rstrip(b"\n"), Settings())
    assert parse_line(good.rstrip(b"\n"), Settings()).text == "fine"


@pytest.mark.parametrize("row", [b"2," + b"x" * 200, b'2,"' + b"x\n" * 100 + b'"'])
def test_csv_rows_beyond_all_bounds_are_refused(csv_path: Path, monkeypatch: Any, row: bytes) -> None:
    monkeypatch.setattr("jobs.tables.MIN_FIELD_LIMIT_CHARS", 100)
    with pytest.raises(InputError, match=r"corpus\.csv, row 2: .*100"):
        rows_of_csv(csv_path, b"id,text\n1,a\n" + row, max_document_bytes=10)


@pytest.mark.parametrize(("content", "message"), [
    (b"", "corpus.csv has no column 'id'; its columns are none"),
    (b"a,text\n1,2\n", "corpus.csv has no column 'id'; its columns are 'a', 'text'"),
    (b"id,body\n1,2\n", "corpus.csv has no column 'text'; its columns are 'id', 'body'"),
    (b"id;text\n1;2\n", "its columns are 'id;text'"),
    (b"id,text,text\n", "several columns 'text'"),
    (b"id,text,caf\xe9\n", "must be UTF-8"),
    (b'id,text\n1,a\n2,"b\n3,c\n', "corpus.csv, row 2: a quote is opened and never closed"),
    (b'"id,text\n1,a\n', "corpus.csv, header: a quote"),
])  # fmt: skip
def test_csv_that_is_refused(csv_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(InputError) as caught:
        rows_of_csv(csv_path, content)
    assert message in str(caught.value)


def test_columns_have_the_names_of_the_settings(csv_path: Path) -> None:
    content = b"key,body\n1,a\n"
    assert rows_of_csv(csv_path, content, id_field="key", text_field="body") == [{"key": "1", "body": "a"}]
    assert rows_of_csv(csv_path, b"body\na\n", id_field=None, text_field="body") == [{"body": "a"}]


def rows_of_parquet(path: Path, columns: dict[str, Any], **settings: Any) -> list[bytes]:
    pyarrow = pytest.importorskip("pyarrow")
    pytest.importorskip("pyarrow.parquet").write_table(pyarrow.table(columns), path)
    return list(parquet_lines(str(path), "corpus.parquet", Settings(**settings)))


def test_parquet_rows(tmp_path: Path) -> None:
    columns = {"id": [1, 2**62], "text": ["é\n", "b"], "tags": [["x"], []], "more": [{"k": 1.5}, None]}
    assert list(map(json.loads, rows_of_parquet(tmp_path / "a", columns))) == [
        {"id": 1, "text": "é\n", "tags": ["x"], "more": {"k": 1.5}},
        {"id": 2**62, "text": "b", "tags": [], "more": None},
    ]
    assert rows_of_parquet(tmp_path / "b", {"id": [], "text": []}) == []


def test_more_parquet_rows_than_a_batch_keep_their_order(tmp_path: Path) -> None:
    lines = rows_of_parquet(tmp_path / "a", {"id": list(range(1000)), "text": ["x"] * 1000})
    assert [json.loads(line)["id"] for line in lines] == list(range(1000))


def test_a_null_id_or_text_is_left_out(tmp_path: Path) -> None:
    columns = {"id": ["1", None], "text": [None, "b"], "year": [None, 1603]}
    no_text, no_id = rows_of_parquet(tmp_path / "a", columns)
    assert json.loads(no_text) == {"id": "1", "year": None}
    assert json.loads(no_id) == {"text": "b", "year": 1603}
    for line, reason in ((no_text, NoText), (no_id, NoId)):
        with pytest.raises(reason):
            parse_line(line, Settings())


@pytest.mark.parametrize(("make", "expected"), [
    (lambda pa: pa.array([datetime.date(2024, 2, 29)]), "2024-02-29"),
    (lambda pa: pa.array([1], pa.timestamp("ns")), "1970-01-01 00:00:00.000000001"),
    (lambda pa: pa.array([1], pa.duration("s")), "1"),
    (lambda pa: pa.array([decimal.Decimal("1.50")]), "1.50"),
    (lambda pa: pa.array([b"caf\xe9"]), "caf\\xe9"),
    (lambda pa: pa.array([float("nan")]), "nan"),
    (lambda pa: pa.array([[1.0, float("-inf")]]), [1.0, "-inf"]),
    (lambda pa: pa.array([{"day": datetime.date(2024, 2, 29)}]), {"day": "2024-02-29"}),
    (lambda pa: pa.array([[b"a"]]), ["a"]),
    (lambda pa: pa.array(["x"]).dictionary_encode(), "x"),
])  # fmt: skip
def test_what_json_cannot_hold_becomes_a_string(tmp_path: Path, make: Any, expected: Any) -> None:
    column = make(pytest.importorskip("pyarrow"))
    (line,) = rows_of_parquet(tmp_path / "a", {"id": [1], "text": ["x"], "value": column})
    assert json.loads(line)["value"] == expected


def test_bad_utf8_in_parquet_spoils_its_line_alone(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    as_bytes = pyarrow.array([b"caf\xe9", b"fine"])
    as_text = pyarrow.StringArray.from_buffers(2, *as_bytes.buffers()[1:])
    for column in (as_bytes, as_text):
        bad, good = rows_of_parquet(tmp_path / "a", {"id": [1, 2], "text": column})
        assert b"caf\xe9" in bad
        assert json.loads(good) == {"id": 2, "text": "fine"}


@pytest.mark.parametrize(("columns", "message"), [
    ({"text": ["a"]}, "corpus.parquet has no column 'id'; its columns are 'text'"),
    ({"id": [1], "body": ["a"]}, "corpus.parquet has no column 'text'; its columns are 'id', 'body'"),
])  # fmt: skip
def test_parquet_without_its_columns_is_refused(tmp_path: Path, columns: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        rows_of_parquet(tmp_path / "a", columns)
    assert message in str(caught.value)
    assert rows_of_parquet(tmp_path / "a", {"text": ["a"]}, id_field=None) == [b'{"text": "a"}\n']


def test_what_is_no_parquet_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    (tmp_path / "a").write_bytes(b"PAR1 not at all")
    with pytest.raises(InputError, match=r"corpus\.parquet"):
        list(parquet_lines(str(tmp_path / "a"), "corpus.parquet", Settings()))


def test_parquet_without_pyarrow_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match=r"needs pyarrow: pip install pyarrow"):
        list(parquet_lines("a", "a", Settings()))
