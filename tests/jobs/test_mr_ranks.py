"""Ranks of documents of clusters, and of no others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from jobs.mr_ranks import MRRanks
from lsh_core.hashing import text_digest
from lsh_core.settings import Settings
from tests.cleaning import kept_cluster, side_files
from tests.helpers import run_job
from tests.passes import written

RECORDS: list[dict[str, Any]] = [
    {"id": "a", "text": "one", "score": 2}, {"id": "b", "text": "three", "score": "-7"},
    {"id": "alone", "text": "four", "score": 1}, {"id": "d", "text": "猫 é"},
    {"id": "a", "text": " one ", "score": 0.5}, {"id": "b", "text": "three", "score": None}]
LINES = [b"no JSON", *(json.dumps(record).encode() for record in RECORDS)]


def test_empty(tmp_path: Path) -> None:
    assert run_job(MRRanks, [], *side_files(tmp_path, [], []), "--keep", "longest") == ([], {})


@pytest.mark.parametrize(("policy", "expected"), [
    ("longest", [["a", -3], ["a", -5], ["b", -5], ["b", -5], ["d", -3]]),
    ("shortest", [["a", 3], ["a", 5], ["b", 5], ["b", 5], ["d", 3]]),
    ("max:score", [["a", -0.5], ["a", -2], ["b", 7], ["b", None], ["d", None]]),
    ("min:score", [["a", 0.5], ["a", 2], ["b", -7], ["b", None], ["d", None]]),
    ("min:%73core", [["a", 0.5], ["a", 2], ["b", -7], ["b", None], ["d", None]]),
])
def test_each_line_of_a_cluster_has_a_rank(policy: str, expected: list[Any], tmp_path: Path) -> None:
    options = [*side_files(tmp_path, LINES, [kept_cluster("abcd", "a")]), "--keep", policy]
    for num_cores in ("1", "4"):
        path = written(tmp_path / "lines.jsonl", LINES)
        told = run_job(MRRanks, [], *options, "--num-cores", num_cores, path)
        assert sorted(map(json.loads, told.lines), key=repr) == sorted(expected, key=repr)
        assert told.counts["without_rank"] == sum(rank is None for _, rank in expected)


def test_numbered_ids_have_ranks_of_their_own(tmp_path: Path) -> None:
    lines = [b'{"id": "c", "text": "one"}', b'{"id": "c", "text": "other"}']
    numbered = f"c~{text_digest(b'other', 4)}"
    options = [*side_files(tmp_path, lines, [kept_cluster([numbered], numbered)]), "--keep", "longest"]
    assert run_job(MRRanks, lines, *options).lines == []
    (line,) = run_job(MRRanks, lines, *options, "--duplicate-ids", "number").lines
    assert json.loads(line) == [numbered, -5]


def test_ids_that_are_made_of_texts_have_ranks(tmp_path: Path) -> None:
    lines, doc_id = [b'{"text": "one"}', b'{"text": " other"}'], text_digest(b"other")
    options = side_files(tmp_path, lines, [kept_cluster([doc_id], doc_id)], settings=Settings(id_field=None))
    (line,) = run_job(MRRanks, lines, *options, "--no-id", "--keep", "longest").lines
    assert json.loads(line) == [doc_id, -6]


@pytest.mark.parametrize("policy", ["", "largest", "max:"])
def test_a_policy_that_is_none_is_refused(policy: str) -> None:
    with pytest.raises(ValueError, match="it must be id, longest, shortest, max:FIELD or min:FIELD"):
        MRRanks(["--keep", policy])
