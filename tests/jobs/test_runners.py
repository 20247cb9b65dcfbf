"""Runners tell how far they are, and end every task when one fails."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

import jobs.runners
from jobs.lean_mrjob import StepFailedException
from jobs.mr_pairs import HotBucket, MRPairs
from jobs.mr_rejects import MRRejects
from tests.helpers import DATA, LOCAL, json_lines, made_up_documents

Told = list[tuple[str, int, int]]

# Inline sorts in this process.
RUNNERS = [(("-r", "inline", "--no-conf"), ("map", "reduce")), (LOCAL, ("map", "sort", "reduce"))]


def run_and_listen(job: Any) -> tuple[Told, Any]:
    """Run a job; what its listener was told, and the runner."""
    told: Told = []
    with job.make_runner() as runner:
        runner.task_listener = lambda *progress: told.append(progress)
        runner.run()
    return told, runner


def steps_of(stage: str, total: int) -> Told:
    return [(stage, done, total) for done in range(total + 1)]


def test_empty(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    for options, stages in RUNNERS:
        told, _ = run_and_listen(MRPairs([*options, str(tmp_path / "empty")]))
        assert told == [step for stage in stages for step in steps_of(stage, 1)]


@pytest.mark.parametrize(("options", "stages"), RUNNERS, ids=["inline", "local"])
def test_each_task_is_told_once_it_is_done(options: tuple[str, ...], stages: tuple[str, ...]) -> None:
    told, _ = run_and_listen(MRPairs([*options, "--num-cores", "2", str(DATA / "articles.jsonl")]))
    totals = {stage: total for stage, _, total in told}
    assert tuple(totals) == stages and totals["map"] > 1 and totals["reduce"] > 1
    assert told == [step for stage in stages for step in steps_of(stage, totals[stage])]


@pytest.mark.parametrize("num_cores", [1, 2, 5])
def test_there_is_a_task_a_core_and_more_where_each_has_much_to_do(
    num_cores: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, options = DATA / "articles.jsonl", ["--no-conf", "--num-cores", str(num_cores)]
    told, _ = run_and_listen(MRRejects([*options, str(path)]))
    assert told == steps_of("map", num_cores)
    monkeypatch.setattr(jobs.runners, "TASK_BYTES", path.stat().st_size // 9)
    told, _ = run_and_listen(MRRejects([*options, str(path)]))
    # A line that is begun is a task's to the end.
    assert 7 <= told[0][2] <= 9


def test_a_compressed_file_is_one_task(tmp_path: Path) -> None:
    (tmp_path / "in.jsonl.gz").write_bytes(gzip.compress((DATA / "articles.jsonl").read_bytes()))
    told, _ = run_and_listen(MRRejects(["--no-conf", "--num-cores", "3", str(tmp_path / "in.jsonl.gz")]))
    assert told == steps_of("map", 1)


@pytest.mark.parametrize("options", [("-r", "inline", "--no-conf"), LOCAL], ids=["inline", "local"])
def test_output_comes_in_the_order_of_tasks(options: tuple[str, ...], tmp_path: Path) -> None:
    paths = [tmp_path / f"{number}.jsonl" for number in range(15, 0, -1)]
    for path in paths:
        path.write_text(f"{path.stem}\n")
    with MRRejects([*options, *map(str, paths)]).make_runner() as runner:
        runner.run()
        found = [json.loads(line)["line"] for line in b"".join(runner.cat_output()).splitlines()]
    assert found == [path.stem for path in paths]


def test_a_job_without_reducer_tells_of_maps_only() -> None:
    told, _ = run_and_listen(MRRejects(["--no-conf", "--num-cores", "1", str(DATA / "articles.jsonl")]))
    assert told == steps_of("map", told[0][2])


@pytest.fixture
def hot_file(tmp_path: Path) -> str:
    """Documents that stop a job which allows two in a bucket."""
    path = tmp_path / "hot.jsonl"
    documents = {f"hot{number}": "word " * 50 + str(number) for number in range(9)}
    path.write_bytes(b"\n".join(json_lines({**documents, **made_up_documents(50)})))
    return str(path)


def test_inline_raises_what_the_task_raised(hot_file: str) -> None:
    with pytest.raises(HotBucket):
        run_and_listen(MRPairs(["--no-conf", "--cleanup-on-failure", "ALL", "--max-bucket-docs", "2", hot_file]))


def test_local_keeps_what_the_failed_task_said_and_no_process(hot_file: str) -> None:
    job = MRPairs([*LOCAL, "--cleanup-on-failure", "ALL", "--max-bucket-docs", "2", hot_file])
    with job.make_runner() as runner:
        with pytest.raises(StepFailedException, match="Step 1 of 1 failed: task ended with code 1"):
            runner.run()
        assert "HotBucket: a bucket holds more than 2 distinct texts" in runner.failed_task_stderr
        assert runner._is_stopped and not runner._live_tasks


def test_local_does_not_go_on_when_the_sort_fails(tmp_path: Path) -> None:
    conf = tmp_path / "conf"
    conf.write_text("runners: {local: {bootstrap_mrjob: false, sort_bin: [sh, -c, exit 3]}}")
    options = ("-r", "local", "--conf-path", str(conf), "--cleanup-on-failure", "ALL")
    job = MRPairs([*options, str(DATA / "articles.jsonl")])
    with job.make_runner() as runner, pytest.raises(StepFailedException, match="sort ended with code 3; is there"):
        runner.run()
