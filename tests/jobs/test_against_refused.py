"""What of two corpora is refused, with its place."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import jobs.pipeline
from jobs.errors import InputError, JobFailed
from jobs.job_runner import Run
from jobs.pipeline import find_pairs
from tests.helpers import json_lines, lookalike, read_json_lines
from tests.jobs.test_against import SURE, Corpora, run_of
from tests.passes import QUIET, written


def test_strict_and_repeated_ids_name_the_place_in_the_other_corpus(tmp_path: Path) -> None:
    own = written(tmp_path / "own.jsonl", json_lines({"1": "abcdef"}))
    bad = written(tmp_path / "bad.jsonl", [*json_lines({"1": "uvwxyz"}), b"{"])
    repeated = written(tmp_path / "repeated.jsonl", [*json_lines({"1": "uvwxyz"}), *json_lines({"1": "abcdeg"})])
    with pytest.raises(InputError, match=r"bad.jsonl:2: .*--strict"):
        find_pairs(Run([own], tmp_path / "out", strict=True, against=[bad]), SURE, QUIET)
    with pytest.raises(InputError, match=r"repeated.jsonl:1: repeated id: '1' stands for more than one text"):
        find_pairs(Run([own], tmp_path / "out", against=[repeated]), SURE, QUIET)
    find_pairs(Run([own], tmp_path / "out", against=[repeated], duplicate_ids="number", only_across=True), SURE, QUIET)
    (pair,) = read_json_lines(tmp_path / "out" / "pairs.jsonl")
    assert (pair["a"], pair["b"][:2]) == ("1", "1~")


def test_a_change_of_the_other_corpus_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = run_of(tmp_path, Corpora([("1", "abcdef")], [("1", "abcdeg")]))
    make_gate = jobs.pipeline.make_gate

    def gate_then_change(work: Any) -> Path:
        gate = make_gate(work)
        Path(run.against[0]).write_bytes(b"")
        return gate

    monkeypatch.setattr(jobs.pipeline, "make_gate", gate_then_change)
    with pytest.raises(JobFailed, match="input changed"):
        find_pairs(run, SURE, QUIET)
    assert not Path(run.out).exists()


def test_what_makes_no_sense_is_refused(tmp_path: Path) -> None:
    own = written(tmp_path / "own.jsonl", json_lines({"1": "abcdef"}))
    os.symlink(own, tmp_path / "again.jsonl")
    for command, *options in (("pairs", "--against", tmp_path / "again.jsonl"), ("dedup", "--against", own)):
        done = lookalike(command, own, *options, "--out", tmp_path / "out")
        assert done.exit_code == 2 and "is both an input and --against" in done.stderr
    done = lookalike("pairs", own, "--against", tmp_path / "absent", "--out", tmp_path / "out")
    assert done.exit_code == 2 and "no such file" in done.stderr
    other = written(tmp_path / "other.jsonl", [])
    done = lookalike("pairs", own, "--against", other, "--truth", own, "--out", tmp_path / "out")
    assert done.exit_code == 2 and "--truth" in done.stderr
