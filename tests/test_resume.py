"""A run that was killed at any stage is taken up after it, and gives what an undisturbed one gives."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from tests.helpers import COMMAND, REPOSITORY, json_lines, lookalike, made_up_documents, read_run, tree

STAGES = ("gate", "pairs", "ranks", "keep", "rest")
DEADLINE_SECONDS = 60
KEPT = "what was done is kept in"
OPTIONS = ("-r", "local", "--cores", "2", "--keep", "longest", "-q")
LOUD_OPTIONS = OPTIONS[:-1]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Documents, some of them twice, and lines that are none."""
    path = tmp_path_factory.mktemp("corpus") / "in.jsonl"
    lines = json_lines(made_up_documents(800))
    path.write_bytes(b"\n".join([*lines, b"{", *lines[:50]]))
    return path


@pytest.fixture(scope="module")
def undisturbed(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    out = tmp_path_factory.mktemp("undisturbed") / "out"
    assert lookalike("dedup", corpus, "--out", out, *OPTIONS) == (0, "", "")
    return results(out)


def results(out: Path) -> dict[str, bytes]:
    """All files but run.json, which tells the time."""
    return {path.name: path.read_bytes() for path in out.iterdir() if path.name != "run.json"}


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


def partial_of(out: Path) -> Path:
    return out.with_name("out.partial")


@pytest.fixture
def killed(corpus: Path, tmp_path: Path) -> Path:
    """The output folder of a run that was killed after its first stage."""
    kill_after("gate", corpus, tmp_path / "out")
    return tmp_path / "out"


@pytest.mark.parametrize("stage", ["state", *STAGES])
def test_a_killed_run_is_taken_up(stage: str, corpus: Path, undisturbed: dict[str, bytes], tmp_path: Path) -> None:
    out = tmp_path / "out"
    kill_after(stage, corpus, out)
    assert not out.exists()
    done = [name for name in STAGES if (partial_of(out) / f"{name}.json").exists()]
    seconds = [step["seconds"] for name in done for step in
               json.loads((partial_of(out) / f"{name}.json").read_text())["steps"]]
    assert lookalike("dedup", corpus, "--out", out, "--resume", *OPTIONS) == (0, "", "")
    assert results(out) == undisturbed
    steps = read_run(out)["steps"]
    assert [step["name"] for step in steps] == [*STAGES, "rejects"]
    # What was done is not done again.
    assert [step["seconds"] for step in steps[: len(done)]] == [round(second, 3) for second in seconds]
    assert not partial_of(out).exists()


def test_a_killed_run_is_not_mistaken_for_nothing(killed: Path, corpus: Path) -> None:
    before = tree(killed.parent)
    refused = lookalike("dedup", corpus, "--out", killed, *OPTIONS)
    assert refused.exit_code == 2
    assert "out.partial is left of an interrupted run: --resume takes it up" in refused.stderr
    assert tree(killed.parent) == before


@pytest.mark.parametrize(("options", "changed"), [
    (("--threshold", "0.7"), "settings"), (("--keep", "shortest"), "keep"), (("--cluster", "keeper"), "cluster")])
def test_another_run_is_not_taken_up(options: tuple[str, ...], changed: str, killed: Path, corpus: Path) -> None:
    refused = lookalike("dedup", corpus, "--out", killed, "--resume", *LOUD_OPTIONS, *options)
    assert refused.exit_code == 2 and f"({changed} changed)" in refused.stderr and KEPT not in refused.stderr


def test_another_input_is_not_taken_up(killed: Path, corpus: Path, tmp_path: Path) -> None:
    changed = tmp_path / "in.jsonl"
    shutil.copy2(corpus, changed)
    state = partial_of(killed) / "state.json"
    state.write_text(state.read_text().replace(str(corpus), str(changed)))
    os.utime(changed, (1, 1))
    refused = lookalike("dedup", changed, "--out", killed, "--resume", *OPTIONS)
    assert refused.exit_code == 2 and "(input changed)" in refused.stderr


@pytest.mark.parametrize("options", [(), ("--resume",)])
def test_another_folder_is_not_taken_up(options: tuple[str, ...], corpus: Path, tmp_path: Path) -> None:
    partial_of(tmp_path / "out").mkdir()
    refused = lookalike("dedup", corpus, "--out", tmp_path / "out", *options, *OPTIONS)
    assert refused.exit_code == 2 and "out.partial is not the folder of an interrupted run" in refused.stderr
    assert tree(tmp_path) == ["out.partial"]


@pytest.mark.parametrize("to", ["folder", "nothing"])
def test_a_link_is_not_taken_up(to: str, killed: Path, corpus: Path) -> None:
    partial_of(killed).rename(killed.with_name("folder"))
    partial_of(killed).symlink_to(killed.with_name(to))
    before = tree(killed.parent)
    refused = lookalike("dedup", corpus, "--out", killed, "--resume", *OPTIONS)
    assert refused.exit_code == 2 and "out.partial is a link, a file or another user's" in refused.stderr
    assert tree(killed.parent) == before


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_folder_of_another_user_is_not_taken_up(killed: Path, corpus: Path) -> None:
    os.chown(partial_of(killed), 12345, -1)
    refused = lookalike("dedup", corpus, "--out", killed, "--resume", *OPTIONS)
    assert refused.exit_code == 2 and "another user's" in refused.stderr


@pytest.mark.parametrize("options", [(), ("--resume",)])
def test_two_runs_do_not_work_in_one_folder(options: tuple[str, ...], killed: Path, corpus: Path) -> None:
    with open(partial_of(killed) / "state.json", "rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        refused = lookalike("dedup", corpus, "--out", killed, *options, *LOUD_OPTIONS)
    assert refused.exit_code == 2 and "another run is at work in" in refused.stderr and KEPT not in refused.stderr


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
    assert results(tmp_path / "out") == undisturbed


def test_with_nothing_to_take_up_it_starts(corpus: Path, undisturbed: dict[str, bytes], tmp_path: Path) -> None:
    assert lookalike("dedup", corpus, "--out", tmp_path / "out", "--resume", *OPTIONS).exit_code == 0
    assert results(tmp_path / "out") == undisturbed


def test_a_failure_before_the_first_stage_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_bytes(b'{"id": "x", "text": "a"}\n' * 2)
    failed = lookalike("dedup", path, "--out", tmp_path / "out", "-r", "local", "--conf", tmp_path / "none")
    assert failed.exit_code == 2 and tree(tmp_path) == ["in.jsonl"]
