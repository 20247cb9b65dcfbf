"""Bad input, one table: what is wrong is told with its place, counted, kept, and nothing else suffers from it."""

from __future__ import annotations

import base64
import bz2
import gzip
import io
from collections import Counter
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Callable, Optional, Union

import pytest

from tests.helpers import json_lines, lookalike, read_json_lines, read_pairs, read_run, tree

GOOD, ALIKE = json_lines({"good": "a text of some words", "alike": "a text of some words"})
Content = Union[bytes, Callable[[], bytes]]


@dataclass(frozen=True)
class Case:
    """Files, the options of a run over one of them, and what is to be seen.

    ``rejected``: line number and reason of each. With an ``exit_code`` the run is refused:
    it says ``message``, and no file is made.
    """

    name: str
    files: dict[str, Content]
    options: tuple[str, ...] = ()
    rejected: tuple[tuple[int, str], ...] = ()
    message: str = ""
    exit_code: int = 0
    given: str = "in.jsonl"
    is_paired: bool = True


def bad_line(name: str, line: bytes, reason: str, detail: str, *options: str) -> Case:
    """A line that is rejected between two that are not."""
    content = b"\n".join([GOOD, line, ALIKE])
    return Case(name, {"in.jsonl": content}, options, ((2, reason),), f"in.jsonl:2: {reason}: {detail}")


def lines(name: str, content: Content, *rejected: tuple[int, str], message: str = "") -> Case:
    """Lines of which some are rejected."""
    return Case(name, {"in.jsonl": content}, (), rejected, message)


def refused(name: str, message: str, *options: str, files: Optional[dict[str, Content]] = None) -> Case:
    """Options that are refused before anything runs."""
    return Case(name, {"in.jsonl": GOOD, **(files or {})}, options, message=message, exit_code=2)


def no_input(name: str, message: str, given: str, files: dict[str, Content]) -> Case:
    """An input that cannot be read at all."""
    return Case(name, files, message=message, exit_code=2, given=given)


def huge_line() -> bytes:
    return b"\n".join([GOOD, b'{"id": "x", "text": "%b"}' % (b"word " * 10_000_000), ALIKE])


def parquet_without_text() -> bytes:
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    sink = io.BytesIO()
    parquet.write_table(pyarrow.table({"id": ["x"], "body": ["y"]}), sink)
    return sink.getvalue()


# Without boto3 EMR's runner reaches nothing at all.
EMR_CANNOT_READ_HDFS = "-r emr cannot reach hdfs:///x" if find_spec("boto3") else "-r emr needs boto3"

CASES = [
    bad_line("not JSON", b'{"id": "x", ', "not JSON", "Expecting property name"),
    bad_line("not an object", b'["x", "y"]', "not a JSON object", "found list"),
    bad_line("no id", b'{"text": "y"}', "no id", "field 'id' is missing, null or empty"),
    bad_line("id is null", b'{"id": null, "text": "y"}', "no id", "field 'id' is missing"),
    bad_line("id is empty", b'{"id": "", "text": "y"}', "no id", "field 'id' is missing"),
    *[bad_line(f"id is {kind}", b'{"id": %b, "text": "y"}' % doc_id, "id not a string or an integer",
               f"field 'id' is {kind}")
      for doc_id, kind in [(b"1.0", "float"), (b"true", "bool"), (b"[1]", "list"), (b"{}", "dict"), (b"NaN", "float")]],
    bad_line("no text", b'{"id": "x"}', "no text", "field 'text' is missing or null"),
    bad_line("text is null", b'{"id": "x", "text": null}', "no text", "field 'text' is missing or null"),
    bad_line("text not a string", b'{"id": "x", "text": ["y"]}', "text not a string", "field 'text' is list"),
    bad_line("bad UTF-8", b'{"id": "x", "text": "\xe9"}', "bad UTF-8", "at byte 21"),
    bad_line("raw NUL byte", b'{"id": "x", "text": "a\0b"}', "raw NUL byte", "at byte 22"),
    bad_line("empty text", b'{"id": "x", "text": ""}', "empty", "nothing is left after normalization"),
    bad_line("only white space and NUL", b'{"id": "x", "text": " \\t\\u2003\\u0000"}', "empty", "nothing is left"),
    bad_line("only punctuation", b'{"id": "x", "text": "?!"}', "empty", "nothing is left", "--punctuation", "drop"),
    bad_line("longer than is allowed", b'{"id": "x", "text": "%b"}' % (b"-" * 77), "too long",
             "100 bytes, at most 99 are allowed", "--max-document-bytes", "99"),
    bad_line("lone surrogate", b'{"id": "x", "text": "a\\ud83d"}', "lone surrogate", "U+D83D at character 1"),
    bad_line("lone surrogate in the id", b'{"id": "\\ude00", "text": "y"}', "lone surrogate", "U+DE00 at character 0"),
    bad_line("deep JSON", b"[" * 100_000, "not JSON", ""),
    lines("50 MB", huge_line, (2, "too long"),
          message="in.jsonl:2: too long: 50000023 bytes, at most 16777216 are allowed"),
    bad_line("blank line", b"", "empty", "blank line"),
    bad_line("line of spaces", b" \t ", "empty", "blank line"),
    lines("CR inside a text", GOOD + b'\n{"id": "x", "text": "a\rb"}\n' + ALIKE, (2, "not JSON"), (3, "not JSON"),
          message="in.jsonl:2: not JSON: Unterminated string"),
    lines("blank lines at both ends", b"\n" + GOOD + b"\n\n\n" + ALIKE + b"\n\n",
          (1, "empty"), (3, "empty"), (4, "empty"), (6, "empty")),
    lines("CRLF is one line end", GOOD + b"\r\n" + ALIKE + b"\r\n"),
    lines("CR is a line end", GOOD + b"\r{\r" + ALIKE, (2, "not JSON")),
    lines("BOM is dropped", b"\xef\xbb\xbf" + GOOD + b"\n" + ALIKE),
    Case("empty file", {"in.jsonl": b""}, is_paired=False),
    Case("every line is rejected", {"in.jsonl": b"x y\n"}, (), ((1, "not JSON"),),
         "every line was rejected: are they really --format jsonl, with fields 'id' and 'text'?", is_paired=False),
    no_input("missing file", "cannot read 'missing.jsonl': no such file or folder", "missing.jsonl", {}),
    no_input("folder without files", "cannot read folder: the folder has no files", "folder", {"folder/.hidden": b""}),
    no_input("CSV without the column", "in.csv has no column 'text'; its columns are 'id', 'body'",
             "in.csv", {"in.csv": b"id,body\nx,y\n"}),
    no_input("Parquet without the column", "in.parquet has no column 'text'; its columns are 'id', 'body'",
             "in.parquet", {"in.parquet": parquet_without_text}),
    *[no_input(f"{kind} that is {what}", f"cannot read in.{kind}: {reason}", f"in.{kind}", {f"in.{kind}": content})
      for kind, what, reason, content in [
          ("gz", "none", "Not a gzipped file", GOOD),
          ("gz", "cut short", "Compressed file ended", gzip.compress(GOOD * 99)[:-20]),
          ("gz", "damaged", "", gzip.compress(GOOD)[:15] + b"damage"),
          ("bz2", "none", "Invalid data stream", GOOD),
          ("bz2", "cut short", "Compressed file ended", bz2.compress(GOOD * 99)[:-20])]],
    Case("--strict", {"in.jsonl": GOOD + b"\n\xff\n{\n"}, ("--strict",), exit_code=2,
         message="in.jsonl:2: bad UTF-8: at byte 0 (--strict stops at the first of 2 such lines)"),
    *[refused(f"threshold {value}", f"threshold is {float(value)}; it must be above 0 and at most 1",
              "--threshold", value) for value in ("0", "-1", "1.5", "nan")],
    refused("threshold is no number", "Invalid value for '--threshold': 'high' is not a valid float.",
            "--threshold", "high"),
    refused("recall 1", "recall is 1.0; it must be above 0 and below 1", "--recall", "1"),
    refused("bands 0", "bands is 0; it must be 1 or more", "--bands", "0", "--rows", "5"),
    refused("rows -1", "rows is -1; it must be 1 or more", "--bands", "5", "--rows", "-1"),
    refused("bands without rows", "bands and rows go together", "--bands", "5"),
    refused("rows without bands", "bands and rows go together", "--rows", "5"),
    refused("recall with bands", "give either --recall, or --bands and --rows", "--recall", "0.9", "--bands", "5",
            "--rows", "5"),
    refused("k 0", "shingle is 'char:0'; it must be char:K or word:K with K", "--shingle", "char:0"),
    refused("k -3", "shingle is 'word:-3'; it must be char:K or word:K with K", "--shingle", "word:-3"),
    refused("unknown shingle", "shingle is 'line:2'; it must be char:K or word:K with K", "--shingle", "line:2"),
    refused("unknown format", "'xml' is not one of 'jsonl', 'tsv', 'text', 'shingled'", "--format", "xml"),
    refused("full output folder", "out is not empty; name another folder with --out", files={"out/old.txt": b"x"}),
    refused("output is a file", "out is there already and is not a folder", files={"out": b"x"}),
    refused("unknown setting", "unknown setting treshold", "--settings", "s.json",
            files={"s.json": b'{"treshold": 0.5}'}),
    refused("settings are not JSON", "s.json: Expecting", "--settings", "s.json", files={"s.json": b"{"}),
    refused("settings are a list", "must hold a JSON object", "--settings", "s.json", files={"s.json": b"[1]"}),
    refused("setting of a wrong type", "seed is 'x'; it must be int", "--settings", "s.json",
            files={"s.json": b'{"seed": "x"}'}),
    refused("settings are missing", "missing.json: ", "--settings", "missing.json"),
    refused("truth is missing", "missing.jsonl: ", "--truth", "missing.jsonl"),
    refused("truth is no truth", "t.jsonl:1: found 'x'", "--truth", "t.jsonl", files={"t.jsonl": b"x"}),
    refused("stop words are missing", "missing.txt", "--stop-words", "missing.txt"),
    refused("folder for temporary files is missing", "missing", "--tmp", "missing"),
    refused("configuration is missing", "missing.conf", "--conf", "missing.conf"),
    refused("output is an address", "s3://bucket/x is an address", "--out", "s3://bucket/x"),
    refused("output is nearly an address", "s3:/bucket/x looks like an address", "--out", "s3:/bucket/x"),
    refused("output is no folder", "is not the address of a folder", "--out", "hdfs:///", "-r", "hadoop"),
    refused("output is a pattern", "is not the address of a folder", "--out", "hdfs:///x/*", "-r", "hadoop"),
    refused("truth with an address", "--truth compares pairs in a local folder", "--out", "hdfs:///x", "-r", "hadoop",
            "--truth", "in.jsonl"),
    refused("address that the engine cannot read", EMR_CANNOT_READ_HDFS, "--out", "hdfs:///x", "-r", "emr",
            "--conf", "emr.conf", files={"emr.conf": b"runners: {emr: {cloud_tmp_dir: 's3://bucket/tmp/'}}"}),
    refused("no hadoop here", "cannot run /no/hadoop", "--out", "hdfs:///x", "-r", "hadoop", "--conf", "hadoop.conf",
            files={"hadoop.conf": b"runners: {hadoop: {hadoop_bin: /no/hadoop}}"}),
    refused("truth with links", "--truth compares pairs", "--links", "--truth", "in.jsonl"),
    refused("address with -r inline", "hdfs://host/x.jsonl is an address", "hdfs://host/x.jsonl", "-r", "inline"),
]


def write(folder: Path, files: dict[str, Content]) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content() if callable(content) else content)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_bad_input(case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, case.files)
    monkeypatch.chdir(tmp_path)
    before = tree(tmp_path)
    outcome = lookalike("pairs", case.given, "--out", "out", *case.options)
    assert outcome.exit_code == case.exit_code, outcome.stderr
    assert case.message in outcome.stderr
    if case.exit_code:
        assert tree(tmp_path) == before
    else:
        check_results(case, Path(case.given).read_bytes().splitlines())


def check_results(case: Case, content: list[bytes]) -> None:
    """Good lines are a pair; bad ones are counted and kept as they are."""
    out = Path("out")
    assert read_pairs(out) == ({("alike", "good"): 1.0} if case.is_paired else {})
    assert (out / "rejected.jsonl").exists() == bool(case.rejected)
    kept = read_json_lines(out / "rejected.jsonl") if case.rejected else []
    assert [(record["place"], record["reason"]) for record in kept] == [
        (f"in.jsonl:{number}", reason) for number, reason in case.rejected]
    assert [kept_line(record) for record in kept] == [content[number - 1] for number, _ in case.rejected]
    run = read_run(out)
    assert run["input"]["rejected"] == len(case.rejected)
    for reason, number in Counter(reason for _, reason in case.rejected).items():
        assert run["steps"][0]["counters"][f"rejected: {reason}"] == number


def kept_line(record: dict[str, Any]) -> bytes:
    return base64.b64decode(record["line_base64"]) if "line_base64" in record else record["line"].encode()
