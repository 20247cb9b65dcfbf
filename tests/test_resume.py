"""A run that was killed at any moment is taken up after its last stage, and gives what an undisturbed one gives."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from tests.cleaning import contents
from tests.helpers import COMMAND, REPOSITORY, lookalike, read_run, tree
from tests.killing import (
    AFTER_THE_GATE,
    KEPT,
    LOUD_OPTIONS,
    OPTIONS,
    STAGES,
    kill_at,
    partial_of,
    stages_of,
    write_corpus,
)

DEADLINE_SECONDS = 60

MOMENTS = [
    *[("os.rename", f"out.partial/{stage}{told}.unfinished") for stage in STAGES for told in ("", ".json")],
    *[("open", f"out.partial/result/{name}") for name in (
        "kept.jsonl", "removed.jsonl", "clusters.jsonl", "rejected.jsonl", "run.json")],
    ("os.rename", "out.partial/result")]
"""A stage is made and has no name, has its name and is not told of, results are half written, have no name yet."""


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_corpus(tmp_path_factory.mktemp("corpus"))


@pytest.fixture(scope="module")
def undisturbed(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    out = tmp_path_factory.mktemp("undisturbed") / "out"
    assert lookalike("dedup", corpus, "--out", out, *OPTIONS) == (0, "", "")
    return contents(out)


def kill_after(stage: str, corpus: Path, out: Path) -> None:
    """Start a run, and kill it as soon as a stage is complete."""
    command = [*COMMAND, "dedup", corpus, "--out", out, "--tmp", out.parent, *OPTIONS]
    run = subprocess.Popen([*map(str, command)], cwd=REPOSITORY, stderr=subprocess.PIPE)
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not (partial_of(out) / f"{stage}.json").exists():
        assert run.poll() is None and time.monotonic() < deadline
        time.sleep(0.001)
    run.kill()
    run.communicate()


@pytest.mark.parametrize("stage", ["state", *STAGES])
def test_a_killed_run_is_taken_up(stage: str, corpus: Path, undisturbed: dict[str, bytes], tmp_path: Path) -> None:
    out = tmp_path / "out"
    kill_after(stage, corpus, out)
    assert not out.exists()
    done = stages_of(out)
    assert stage == "state" or stage in done
    seconds = [step["seconds"] for name in done for step in
               json.loads((partial_of(out) / f"{name}.json").read_text())["steps"]]
    assert lookalike("dedup", corpus, "--out", out, "--resume", *OPTIONS) == (0, "", "")
    assert contents(out) == undisturbed
    steps = read_run(out)["steps"]
    assert [step["name"] for step in steps] == [*STAGES, "rejects"]
    # What was done is not done again.
    assert [step["seconds"] for step in steps[: len(done)]] == [round(second, 3) for second in seconds]
    assert not partial_of(out).exists()


@pytest.mark.parametrize("moment", MOMENTS, ids=lambda moment: moment[1].partition("/")[2])
def test_a_run_that_is_killed_while_it_writes_is_taken_up(
    moment: tuple[str, str], corpus: Path, undisturbed: dict[str, bytes], tmp_path: Path
) -> None:
    out, stage = tmp_path / "out", Path(moment[1]).name.partition(".")[0]
    kill_at(moment, corpus, out)
    assert not out.exists()
    assert stages_of(out) == list(STAGES[: STAGES.index(stage)] if stage in STAGES else STAGES)
    assert lookalike("dedup", corpus, "--out", out, "--resume", *OPTIONS) == (0, "", "")
    assert contents(out) == undisturbed and not partial_of(out).exists()


def test_a_run_that_is_killed_at_the_very_end_is_complete(
    corpus: Path, undisturbed: dict[str, bytes], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    kill_at(("shutil.rmtree", "out.partial"), corpus, out)
    assert contents(out) == undisturbed
    refused = lookalike("dedup", corpus, "--out", out, "--resume", *OPTIONS)
    assert refused.exit_code == 2 and "out is not empty" in refused.stderr
    assert contents(out) == undisturbed


def test_a_killed_run_against_another_corpus_is_taken_up(corpus: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.jsonl"
    other.write_bytes(b"\n".join(corpus.read_bytes().split(b"\n")[:40]))
    options = ("--against", other, "--cluster", "keeper")
    assert lookalike("dedup", corpus, "--out", tmp_path / "whole", *OPTIONS, *options) == (0, "", "")
    kill_at(("open", "result/clusters.jsonl"), corpus, tmp_path / "out", *options)
    assert lookalike("dedup", corpus, "--out", tmp_path / "out", "--resume", *OPTIONS, *options) == (0, "", "")
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


@pytest.mark.parametrize("given", ["", "*"])
def test_a_killed_run_whose_output_is_among_its_inputs_is_taken_up(
    given: str, corpus: Path, undisturbed: dict[str, bytes], tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    shutil.copy(corpus, tmp_path)
    out, tmp = tmp_path / "out", tmp_path_factory.mktemp("tmp")
    kill_at(AFTER_THE_GATE, tmp_path / given, out, "--tmp", tmp)
    assert stages_of(out) == ["gate"]
    assert lookalike("dedup", tmp_path / given, "--out", out, "--resume", *OPTIONS) == (0, "", "")
    assert (out / "kept.jsonl").read_bytes() == undisturbed["kept.jsonl"]


@pytest.mark.parametrize("name", [".", "link"])
def test_a_failed_run_tells_where_its_stages_are(
    name: str, corpus: Path, undisturbed: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "link").symlink_to("out")
    monkeypatch.chdir(tmp_path / "out" if name == "." else tmp_path)
    # A sort that fails after the jobs before it.
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "sort").write_text("#!/bin/sh\ncase $* in */links*) exit 2; esac\nexec /usr/bin/sort \"$@\"\n")
    (tmp_path / "bin" / "sort").chmod(0o755)
    with monkeypatch.context() as patches:
        patches.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
        failed = lookalike("dedup", corpus, "--out", name, *LOUD_OPTIONS)
    assert failed.exit_code == 1 and "sort ended with code 2" in failed.stderr
    assert KEPT in failed.stderr and (partial_of(tmp_path / "out") / "gate.json").exists()
    assert lookalike("dedup", corpus, "--out", name, "--resume", *OPTIONS) == (0, "", "")
    assert contents(tmp_path / "out") == undisturbed


def test_with_nothing_to_take_up_it_starts(corpus: Path, undisturbed: dict[str, bytes], tmp_path: Path) -> None:
    assert lookalike("dedup", corpus, "--out", tmp_path / "out", "--resume", *OPTIONS).exit_code == 0
    assert contents(tmp_path / "out") == undisturbed


def test_a_failure_before_the_first_stage_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_bytes(b'{"id": "x", "text": "a"}\n' * 2)
    failed = lookalike("dedup", path, "--out", tmp_path / "out", "-r", "local", "--conf", tmp_path / "none")
    assert failed.exit_code == 2 and tree(tmp_path) == ["in.jsonl"]
