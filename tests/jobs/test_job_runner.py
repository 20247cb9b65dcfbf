"""One job on an engine: its lines in a file, its counts added up, its failure in one line."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import jobs.job_runner
from jobs.display import Display
from jobs.errors import JobFailed
from jobs.job_runner import INLINE_BYTES, RUNNERS, JobRunner, Run, default_conf
from jobs.mr_pairs import HotBucket, MRPairs
from jobs.mr_rejects import MRRejects
from jobs.pipeline import find_pairs
from jobs.records import COUNTS_PREFIX, decode_counts, encode_counts
from lsh_core.settings import Settings
from tests.helpers import DATA, json_lines, made_up_documents, run_job
from tests.passes import QUIET, open_inputs, written

HERE = ("inline", "local")
DEFAULTS = Settings()


@contextmanager
def runner_of(
    lines: list[bytes], tmp_path: Path, settings: Settings = DEFAULTS, **choices: Any
) -> Iterator[JobRunner]:
    sources = open_inputs([written(tmp_path / "in.jsonl", lines)], settings, tmp_path)
    with JobRunner(Run([], tmp_path / "out", **choices), settings, sources, tmp_path, QUIET) as jobs_here:
        yield jobs_here


@pytest.mark.parametrize("runner", HERE)
def test_empty(runner: str, tmp_path: Path) -> None:
    with runner_of([], tmp_path, runner=runner) as jobs_here:
        step = jobs_here.run(MRPairs, "pairs", tmp_path / "pairs")
    assert (step.name, step.counters, step.shuffle_bytes) == ("pairs", {}, 0)
    assert (tmp_path / "pairs").read_bytes() == b""


@pytest.mark.parametrize("runner", HERE)
def test_lines_go_to_a_file_and_counts_to_the_report(runner: str, tmp_path: Path) -> None:
    lines = [*json_lines(made_up_documents(80)), b"{"]
    with runner_of(lines, tmp_path, Settings(threshold=0.7), runner=runner, cores=2) as jobs_here:
        step = jobs_here.run(MRPairs, "pairs", tmp_path / "pairs")
        # The same runner runs other jobs, with options of their own.
        assert jobs_here.run(MRPairs, "links", tmp_path / "links", "--links").counters["lines"] == 81
        assert jobs_here.run(MRRejects, "rejects", tmp_path / "rejects").counters["rejected"] == 1
    expected = run_job(MRPairs, lines, "--threshold", "0.7")
    content = (tmp_path / "pairs").read_bytes()
    assert sorted(content.splitlines()) == expected.lines and content.endswith(b"\n")
    assert step.counters == expected.counts and step.shuffle_bytes == expected.counts["shuffle_bytes"]
    assert set((tmp_path / "links").read_bytes().splitlines()) < set(expected.lines)
    assert len((tmp_path / "rejects").read_bytes().splitlines()) == 1


@pytest.mark.parametrize(("runner", "error"), [("inline", HotBucket), ("local", JobFailed)])
def test_a_failure_is_what_the_task_said_last(runner: str, error: type[Exception], tmp_path: Path) -> None:
    lines = json_lines({str(number): "word " * 50 + str(number) for number in range(9)})
    message = "^(pairs: )?a bucket holds more than 2 distinct texts: use lookalike pairs"
    with runner_of(lines, tmp_path, Settings(max_bucket_docs=2), runner=runner) as jobs_here, pytest.raises(
        error, match=message
    ) as found:
        jobs_here.run(MRPairs, "pairs", tmp_path / "pairs")
    assert str(found.value).startswith("pairs: ") == (runner == "local") and "\n" not in str(found.value)
    assert not (tmp_path / "pairs").exists()


def test_a_failed_sort_is_named(tmp_path: Path) -> None:
    conf = tmp_path / "conf"
    conf.write_text("runners: {local: {bootstrap_mrjob: false, sort_bin: [sh, -c, exit 3]}}")
    message = r"^pairs: .*sort ended with code 3; is there space in"
    with runner_of(json_lines({"x": "text"}), tmp_path, runner="local", conf=conf) as jobs_here, pytest.raises(
        JobFailed, match=message
    ):
        jobs_here.run(MRPairs, "pairs", tmp_path / "pairs")


# Pieces of lines, and whole lines of counts, as chunks that end anywhere.
COUNT_LINES = [b"\n" + encode_counts(counts) + b"\n" for counts in ({"lines": 3, "rejected": 1}, {"lines": 5}, {})]
contents = st.lists(st.sampled_from([b"a", b"bc", b"\n", b"\r", *COUNT_LINES]), max_size=20).map(b"".join)


@given(contents, st.integers(1, 60), st.integers(0, 60))
def test_lines_and_counts_do_not_depend_on_chunks(content: bytes, chunk_bytes: int, block_bytes: int) -> None:
    chunks = [content[start : start + chunk_bytes] for start in range(0, len(content), chunk_bytes)]
    with pytest.MonkeyPatch.context() as patches:
        patches.setattr(jobs.job_runner, "BLOCK_BYTES", block_bytes)
        blocks = list(jobs.job_runner.blocks_of_lines(chunks))
    assert b"".join(blocks) == (content if content.endswith(b"\n") or not content else content + b"\n")
    assert all(block.endswith(b"\n") for block in blocks if block)
    counts: Counter[str] = Counter()
    kept = b"".join(line for block in blocks for line in jobs.job_runner._without_counts(block, counts))
    expected: Counter[str] = Counter()
    lines = [line for line in b"".join(blocks).split(b"\n")[:-1] if not line.startswith(COUNTS_PREFIX)]
    for line in COUNT_LINES:
        for name, number in (decode_counts(line.strip()) or {}).items():
            expected[name] += number * content.count(line.strip())
    assert kept == b"".join(line + b"\n" for line in lines)
    assert counts == expected


@pytest.mark.parametrize(("size", "runner", "expected"), [
    (INLINE_BYTES, None, "inline"), (INLINE_BYTES + 1, None, "local"), (INLINE_BYTES + 1, "inline", "inline"),
    (0, "local", "local")])
def test_the_runner_is_chosen_by_the_size_of_the_input(
    size: int, runner: str, expected: str, tmp_path: Path
) -> None:
    (tmp_path / "in").touch()
    with open(tmp_path / "in", "r+b") as file:
        file.truncate(size)
    sources = open_inputs([str(tmp_path / "in")], Settings(), tmp_path)
    run = Run([], tmp_path / "out", runner)
    with JobRunner(run, Settings(), sources, tmp_path, QUIET) as jobs_here:
        assert jobs_here.runner == expected


def test_every_runner_has_a_configuration() -> None:
    for runner in RUNNERS:
        assert default_conf(runner).is_file()


def test_a_large_run_is_told_the_space_that_it_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path / "in", json_lines(made_up_documents(9)))
    sources = open_inputs([path], Settings(), tmp_path)
    monkeypatch.setattr(jobs.job_runner, "LARGE_BYTES", 100)
    for runner, is_told in [("local", True), ("inline", False)]:
        with JobRunner(Run([], tmp_path, runner), Settings(), sources, tmp_path, Display()) as jobs_here:
            jobs_here.warn_of_space()
        assert ("of temporary space are needed" in capsys.readouterr().err) == is_told


def test_mrjob_is_silent_unless_asked(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    level = logging.getLogger("mrjob").level
    try:
        for verbose in (False, True):
            find_pairs(Run([str(DATA / "articles.jsonl")], tmp_path / str(verbose), verbose=verbose), Settings(), QUIET)
            assert bool(caplog.messages) == verbose
    finally:
        logging.getLogger("mrjob").setLevel(level)
