"""A rejected line is named by the place where the user finds it: file and line, row, or text file."""

from __future__ import annotations

import bz2
import gzip
from pathlib import Path
from typing import Callable

import pytest

from tests.helpers import json_lines, lookalike, made_up_documents, read_json_lines, read_pairs, read_run

GOOD = json_lines(made_up_documents(200))


def places(*arguments: object) -> list[str]:
    """The places of the rejected lines of a run, all of which are told if they are few."""
    outcome = lookalike("pairs", *arguments, "--out", "out")
    assert outcome.exit_code == 0, outcome.stderr
    records = read_json_lines(Path("out/rejected.jsonl"))
    assert read_run(Path("out"))["input"]["rejected"] == len(records)
    for record in records[:5]:
        assert f"{record['place']}: {record['detail']}\n" in outcome.stderr
    return [record["place"] for record in records]


def with_bad_lines(*numbers: int, end: bytes = b"\n") -> bytes:
    """Good lines with others at the given numbers."""
    lines = list(GOOD)
    for number in sorted(numbers):
        lines.insert(number - 1, b"bad")
    return end.join(lines) + end


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_in_the_second_of_two_files() -> None:
    Path("z.jsonl").write_bytes(GOOD[0])
    Path("a.jsonl").write_bytes(with_bad_lines(1, 7, 203))
    assert places("z.jsonl", "a.jsonl") == ["a.jsonl:1", "a.jsonl:7", "a.jsonl:203"]


@pytest.mark.parametrize("end", [b"\n", b"\r\n"], ids=["LF", "CRLF"])
def test_deep_in_a_file_that_several_tasks_share(end: bytes) -> None:
    numbers = (1, 2, 51, 77, 101, 102, 150, 207, 208)
    Path("in.jsonl").write_bytes(with_bad_lines(*numbers, end=end))
    Path("other.jsonl").write_bytes(with_bad_lines(3, end=end))
    expected = ["other.jsonl:3", *(f"in.jsonl:{number}" for number in numbers)]
    assert places("other.jsonl", "in.jsonl", "-r", "local", "--cores", "2") == expected


@pytest.mark.parametrize(("ending", "pack"), [(".gz", gzip.compress), (".bz2", bz2.compress)])
def test_in_a_compressed_file_of_two_parts(ending: str, pack: Callable[[bytes], bytes]) -> None:
    content = with_bad_lines(5, 190)
    Path("in.jsonl" + ending).write_bytes(pack(content[:9000]) + pack(content[9000:]))
    Path("first.jsonl").write_bytes(GOOD[0])
    assert places("first.jsonl", "in.jsonl" + ending) == [f"in.jsonl{ending}:5", f"in.jsonl{ending}:190"]
    assert read_run(Path("out"))["input"]["lines"] == 203


def test_in_a_zst_file() -> None:
    zstandard = pytest.importorskip("zstandard")
    Path("in.jsonl.zst").write_bytes(zstandard.ZstdCompressor().compress(with_bad_lines(5, 190)))
    assert places("in.jsonl.zst") == ["in.jsonl.zst:5", "in.jsonl.zst:190"]


def test_in_rows_of_a_table() -> None:
    Path("in.csv").write_bytes(b'id,text\nx,"two\nlines"\n,no id\ny,"two\nlines"\nz,\nw,\xff\n')
    assert places("in.csv") == ["in.csv, row 2", "in.csv, row 4", "in.csv, row 5"]
    assert read_pairs(Path("out")) == {("x", "y"): 1.0}


def test_in_files_of_a_folder() -> None:
    texts = {"a.txt": b"some text", "b.txt": b" \n", "deep/c.txt": b"\xff", "deep/d.txt": b"\xef\xbb\xbfsome\ntext",
             "e.jsonl": b'{"id": 1, "text": "e"}\n{}\n'}
    for name, content in texts.items():
        path = Path("folder", name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    assert places("folder") == ["folder/b.txt", "folder/deep/c.txt", "folder/e.jsonl:2"]
    assert read_pairs(Path("out")) == {("a.txt", "deep/d.txt"): 1.0}


def test_a_few_are_told_and_the_rest_counted() -> None:
    Path("in.jsonl").write_bytes(b"bad\n" * 1234)
    outcome = lookalike("pairs", "in.jsonl", "--out", "out")
    assert outcome.stderr.count("not JSON") == 5 and "... and 1,229 more\n" in outcome.stderr


def test_in_a_file_with_a_name_that_engines_would_misread() -> None:
    Path("a,b *[1].jsonl").write_bytes(GOOD[0] + b"\nbad\n")
    assert places("a,b *[1].jsonl", "-r", "local") == ["a,b *[1].jsonl:2"]
