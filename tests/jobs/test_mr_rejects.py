"""Rejected lines come with reason and place, whatever the split."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any
from unicodedata import unidata_version

import pytest

from jobs.mr_rejects import MRRejects
from lsh_core.settings import Settings
from tests.helpers import json_lines, run_job
from tests.passes import write_gate_of, written

GOOD = json_lines({"x": "some text"})[0]


def rejects(lines: list[bytes], *options: str) -> list[dict[str, Any]]:
    found = [json.loads(line) for line in run_job(MRRejects, lines, *options).lines]
    return sorted(found, key=lambda record: (record["start"], record["line_in_split"]))


def line_of(record: dict[str, Any], path: Path) -> bytes:
    """The line of a file that a record speaks of."""
    split_at = record["start"] + 1 if record["start"] else 0
    return path.read_bytes()[split_at:].splitlines()[record["line_in_split"] - 1]


def test_empty() -> None:
    assert run_job(MRRejects, []) == ([], {})


def test_documents_are_not_rejected() -> None:
    output = run_job(MRRejects, [GOOD, GOOD])
    assert output.lines == []
    assert (output.counts["lines"], output.counts["rejected"]) == (2, 0)


def test_a_record_has_place_reason_detail_and_line() -> None:
    (record,) = rejects([GOOD, b'{"id": "x"}'], "--num-cores", "2")
    assert record.pop("file")
    assert record == {
        "start": len(GOOD), "line_in_split": 1, "reason": "no text",
        "detail": "no text: field 'text' is missing or null", "line": '{"id": "x"}'}


@pytest.mark.parametrize("num_cores", ["1", "2", "5"])
def test_start_and_line_lead_to_the_line(num_cores: str, tmp_path: Path) -> None:
    bad = {3: b"{", 4: b"", 17: b"[\r]", 30: b"\xff\xfe", 38: b"a\0b"}
    path = tmp_path / "lines.jsonl"
    path.write_bytes(b"".join(bad.get(number, GOOD) + b"\n" for number in range(40)))
    records = rejects([], "--num-cores", num_cores, str(path))
    assert len(records) == len(bad) + 1  # the CR makes two lines of one
    for record in records:
        kept = base64.b64decode(record["line_base64"]) if "line_base64" in record else record["line"].encode()
        assert (record["file"], kept) == (path.as_uri(), line_of(record, path))
    assert (len({record["start"] for record in records}) > 1) == (num_cores != "1")


def test_counts_are_those_of_the_reasons() -> None:
    counts = run_job(MRRejects, [b"{", b"}", b"[]", GOOD, b"\xff"]).counts
    assert counts.pop("input_sum") and counts.pop(f"unicode {unidata_version}") == 5
    assert counts == {"lines": 5, "rejected": 4, "rejected: not JSON": 2, "rejected: not a JSON object": 1,
                      "rejected: bad UTF-8": 1}


@pytest.mark.parametrize("num_cores", ["1", "3"])
def test_lines_of_repeated_ids_are_found_instead(num_cores: str, tmp_path: Path) -> None:
    lines = [*json_lines({"a": "one", "b": "two"}), b"{", *json_lines({"a": "other", "c": "two"}), b"",
             *json_lines({"b": " two", "a": "one"})]
    gate = write_gate_of(lines, tmp_path / "gate", Settings())
    path = written(tmp_path / "lines.jsonl", lines)
    records = rejects([], "--repeated-ids", gate, "--num-cores", num_cores, path)
    assert [record["line"].encode() for record in records] == [lines[0], lines[3], lines[7]]
    assert {(record["reason"], record["detail"]) for record in records} == {
        ("repeated id", "repeated id: 'a' stands for more than one text")}
    for record in records:
        assert line_of(record, Path(path)).decode() == record["line"]


def test_no_line_is_found_where_no_id_is_repeated(tmp_path: Path) -> None:
    lines = [GOOD, GOOD, b"{", *json_lines({"y": "some text"})]
    gate = write_gate_of(lines, tmp_path / "gate", Settings())
    assert rejects(lines, "--repeated-ids", gate) == []
    assert rejects([], "--repeated-ids", gate) == []


@pytest.mark.parametrize("num_cores", ["1", "3"])
def test_the_mark_of_a_file_is_no_part_of_its_first_line(num_cores: str, tmp_path: Path) -> None:
    lines = [b"{", GOOD, b"\xef\xbb\xbf{", b"}"]
    plain, marked = written(tmp_path / "plain", lines), tmp_path / "marked"
    marked.write_bytes(b"\xef\xbb\xbf" + Path(plain).read_bytes())
    with_mark, without = (run_job(MRRejects, [], "--num-cores", num_cores, path) for path in (str(marked), plain))
    assert with_mark.counts == without.counts
    kept = [[json.loads(line)["line"] for line in output.lines] for output in (with_mark, without)]
    assert sorted(kept[0]) == sorted(kept[1]) == ["{", "}", "\ufeff{"]
