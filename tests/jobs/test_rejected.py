"""Every rejected line keeps its place, in whichever task it was found."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Optional

import pytest

from jobs.mr_rejects import MRRejects
from jobs.readers import Source
from jobs.records import encode_counts, json_bytes
from jobs.rejected import placed, sortable, write_rejected
from tests.helpers import json_lines, run_job

GOOD = json_lines({"x": "some text"})[0]


def record(file: str, start: int, line_in_split: int, **fields: Any) -> bytes:
    return json_bytes({"file": file, "start": start, "line_in_split": line_in_split, **fields}) + b"\n"


def places(
    lines: list[bytes], sources: list[Source], folder: Path, uris: Optional[dict[str, str]] = None
) -> list[str]:
    """The places of the output of ``mr_rejects``, in the order of rejected.jsonl."""
    (folder / "keyed").write_bytes(b"".join(sortable(lines, sources, uris or {})))
    return [found["place"] for found in placed(folder / "keyed", sources, folder)]


def test_empty(tmp_path: Path) -> None:
    assert places([], [], tmp_path) == []
    assert write_rejected([], tmp_path / "rejected.jsonl", 5) == ([], 0)
    assert (tmp_path / "rejected.jsonl").read_bytes() == b""


def test_places_are_in_the_order_of_inputs_and_lines(tmp_path: Path) -> None:
    first, second = tmp_path / "z.jsonl", tmp_path / "a.jsonl"
    first.write_bytes(b"1\r\n2\n3\r4\n" + b"x\n" * 100)
    second.write_bytes(b"x\n" * 9)
    sources = [Source("z", str(first)), Source("a", str(second))]
    lines = [
        record(second.as_uri(), 0, 1), record(first.as_uri(), 8, 10), record(str(first), 4, 1),
        record(first.as_uri(), 8, 2), record(first.as_uri(), 0, 2), encode_counts({"lines": 3}) + b"\n",
    ]
    assert places(lines, sources, tmp_path) == ["z:2", "z:3", "z:6", "z:14", "a:1"]


def test_lines_of_tables_texts_and_unknown_files_have_their_own_places(tmp_path: Path) -> None:
    for name in ("table", "texts", "-"):
        (tmp_path / name).touch()
    sources = [Source("corpus.csv", str(tmp_path / "table"), is_table=True), Source("-", str(tmp_path / "-")),
               Source("texts", str(tmp_path / "texts"), documents=("texts/a.txt", "texts/b.txt"))]
    lines = [record(f"{tmp_path}/texts", 0, 2), record(f"{tmp_path}/-", 0, 7), record(f"{tmp_path}/table", 0, 3),
             record("hdfs:///corpus/part-1", 500, 3)]
    assert places(lines, sources, tmp_path) == [
        "corpus.csv, row 3", "standard input:7", "texts/b.txt", "hdfs:///corpus/part-1"]


def test_what_was_uploaded_has_the_name_that_the_user_gave(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_bytes(b"x\n" * 9)
    sources = [Source("mine", str(path)), Source("s3://bucket/lines", "s3://bucket/lines"),
               Source("packed.bz2", "/packed.bz2"), Source("hdfs:///lines", "hdfs:///lines")]
    uris = {str(path): "hdfs:///tmp/files/lines", "/packed.bz2": "hdfs:///tmp/files/packed.bz2"}
    lines = [record("hdfs://host:1/tmp/files/lines", 0, 2), record("hdfs://host:1/tmp/files/lines", 4, 1),
             record("s3://bucket/lines", 0, 3), record("s3://bucket/lines", 50, 1), record("s3://other/lines", 0, 4),
             record("hdfs://host:1/tmp/files/packed.bz2", 7, 1), record("hdfs://host:1/lines", 0, 5)]
    assert places(lines, sources, tmp_path, uris) == [
        "mine:2", "mine:4", "s3://bucket/lines:3", "s3://bucket/lines", "packed.bz2", "hdfs:///lines:5",
        "s3://other/lines"]


@pytest.mark.parametrize("num_cores", ["1", "3", "8"])
def test_lines_that_the_job_rejects_are_found_again(num_cores: str, tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    bad = {5: b"{", 7: b"\r", 40: b"", 77: b"[]", 99: b"\xff"}
    content = b"".join(bad.get(number, GOOD) + (b"\r\n" if number % 3 else b"\n") for number in range(1, 101))
    path.write_bytes(content)
    output = run_job(MRRejects, [], "--num-cores", num_cores, str(path))
    found = places([line + b"\n" for line in output.lines], [Source("in", str(path))], tmp_path)
    numbers = [number for number, line in enumerate(content.splitlines(), 1) if line != GOOD]
    assert len(numbers) == 6 and found == [f"in:{number}" for number in numbers]


def test_all_are_written_and_a_few_are_shown(tmp_path: Path) -> None:
    records = [{"place": f"in:{number}", "reason": "empty", "detail": "empty: blank line", "line": "é\u2028"}
               for number in range(9)]
    path = tmp_path / "rejected.jsonl"
    for num_shown in (2, 0, 20):
        shown = [f"in:{number}: empty: blank line" for number in range(min(num_shown, 9))]
        assert write_rejected(records, path, num_shown) == (shown, 9)
        assert [json.loads(line) for line in path.read_bytes().splitlines()] == records
