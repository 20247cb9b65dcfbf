"""Kept lines are the lines of the input, in its format, whatever stands in them."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cleaning import clean, clean_lines
from tests.passes import written
from tests.strategies import texts

BOM = b"\xef\xbb\xbf"
ODD_LINES = [
    b'{"counts": {"lines": 1}, "id": "1", "text": "one"}',
    b'\t{"id": "2", "text": "tabs\\tinside", "more": [1.50, {"x": null}]}\t',
    ' {"id": "3", "text": "spaces and 猫", "id": "33"} '.encode(),
    b'{"id": 4, "text": "\\ud83d\\ude00 escaped"}',
    "{\"id\": \"5\", \"text\": \"a line separator \u2028 and a next line \x85\"}".encode(),
    b'{"id":"6","text":"no spaces \\u0000"}',
]
ODD_TABLE = [b"=\tfirst of all", b"?\tsecond one here", b"-\tthird, and last", b"a\tb\tc with a second tab",
             b'{"counts": 1}\tlike a record of ours', "é\t猫 and others".encode()]


@pytest.mark.parametrize("runner", ["inline", "local"])
def test_odd_lines_of_json_stay_as_they_are(runner: str, tmp_path: Path) -> None:
    cleaned = clean_lines(tmp_path, [*ODD_LINES, *ODD_LINES[1:4], b'{"counts": 1}', b"="], "-r", runner)
    assert cleaned.kept == ODD_LINES
    assert [record["line"].encode() for record in cleaned.removed] == ODD_LINES[1:4]
    assert [record["line"] for record in cleaned.rejected] == ['{"counts": 1}', "="]


@pytest.mark.parametrize(("line_format", "name"), [("tsv", "kept.tsv"), ("text", "kept.txt")])
def test_odd_lines_of_text_stay_as_they_are(line_format: str, name: str, tmp_path: Path) -> None:
    lines = ODD_TABLE if line_format == "tsv" else [line.replace(b"\t", b" ") for line in ODD_TABLE if line[:1] != b"{"]
    copies = [lines[0], lines[-1]]
    cleaned = clean_lines(tmp_path, [*lines, *copies, b"=", b""], "--format", line_format)
    assert cleaned.kept == lines
    assert [record["line"].encode() for record in cleaned.removed] == copies
    assert len(cleaned.rejected) == 2
    assert (tmp_path / "out" / name).exists()


@pytest.mark.parametrize("runner", ["inline", "local"])
@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
def test_lines_end_at_line_feeds_and_the_mark_of_a_file_is_dropped(end: bytes, runner: str, tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_bytes(BOM + end.join([*ODD_LINES, ODD_LINES[0], b"{"]))
    cleaned = clean(tmp_path / "out", path, "-r", runner)
    assert cleaned.kept == ODD_LINES
    assert [record["line"].encode() for record in cleaned.removed] == ODD_LINES[:1]


def test_the_mark_of_every_file_is_dropped(tmp_path: Path) -> None:
    paths = [tmp_path / f"{number}.jsonl" for number in range(3)]
    for path, line in zip(paths, (ODD_LINES[0], ODD_LINES[5], ODD_LINES[0])):
        path.write_bytes(BOM + line)
    cleaned = clean(tmp_path / "out", *paths)
    assert cleaned.kept == [ODD_LINES[0], ODD_LINES[5]]
    assert [(record["place"], record["line"]) for record in cleaned.removed] == [
        (f"{paths[2]}:1", ODD_LINES[0].decode())]


@given(st.lists(texts, max_size=6), st.integers(0, 5))
@settings(max_examples=15)
def test_any_text_survives(tmp_path_factory: pytest.TempPathFactory, found: list[str], num_copies: int) -> None:
    records = [{"id": str(number), "text": text, text: text} for number, text in enumerate(found)]
    lines = [json.dumps(record, ensure_ascii=False).encode() for record in records]
    cleaned = clean_lines(tmp_path_factory.mktemp("texts"), [*lines, *lines[:num_copies]])
    rejected = [record["line"].encode() for record in cleaned.rejected]
    removed = [record["line"].encode() for record in cleaned.removed]
    assert sorted([*cleaned.kept, *removed, *rejected]) == sorted([*lines, *lines[:num_copies]])
    assert cleaned.kept == [line for line in lines if line in set(cleaned.kept)]


def test_tables_become_lines_of_json_and_their_numbers_count(tmp_path: Path) -> None:
    rows = [("a", "one text", "9.5"), ("b", "one text", "10"), ("c", "another", ""), ("d", "one text", "many")]
    with open(tmp_path / "in.csv", "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("id", "text", "score"), *rows])
    cleaned = clean(tmp_path / "out", tmp_path / "in.csv", "--keep", "max:score")
    assert [json.loads(line) for line in cleaned.kept] == [
        {"id": doc_id, "text": text, "score": score} for doc_id, text, score in rows[1:3]]
    assert [record["place"].rpartition(", ")[2] for record in cleaned.removed] == ["row 1", "row 4"]
    assert (tmp_path / "out" / "kept.jsonl").exists()


def test_numbers_of_parquet_count(tmp_path: Path) -> None:
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    large = 2**62
    parquet.write_table(pyarrow.table({"id": ["a", "b", "c"], "text": ["one"] * 3, "time": [large, large + 1, None]}),
                        tmp_path / "in.parquet")
    cleaned = clean(tmp_path / "out", tmp_path / "in.parquet", "--keep", "max:time")
    assert [json.loads(line) for line in cleaned.kept] == [{"id": "b", "text": "one", "time": large + 1}]


def test_folders_of_texts_become_lines_of_json(tmp_path: Path) -> None:
    (tmp_path / "texts").mkdir()
    for name, text in (("a.txt", "one text"), ("b.txt", "another\n"), ("c.txt", "one\ntext")):
        (tmp_path / "texts" / name).write_text(text)
    cleaned = clean(tmp_path / "out", tmp_path / "texts")
    assert [json.loads(line) for line in cleaned.kept] == [{"id": "a.txt", "text": "one text"},
                                                            {"id": "b.txt", "text": "another\n"}]
    assert [record["place"] for record in cleaned.removed] == [f"{tmp_path}/texts/c.txt"]


def test_several_kinds_of_input_at_once(tmp_path: Path) -> None:
    line = b'{"id": "x", "text": "one text", "more": 1}'
    (tmp_path / "in.csv").write_text("id,text\nx,one text\ny,one text\n")
    cleaned = clean(tmp_path / "out", written(tmp_path / "in.jsonl", [line]), tmp_path / "in.csv")
    assert cleaned.kept == [b'{"id": "x", "text": "one text", "more": 1}']
    assert [(record["id"], record["reason"]) for record in cleaned.removed] == [("x", "same line"), ("y", "same text")]
