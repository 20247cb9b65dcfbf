"""What an interrupted run left is taken up only by the same run, over the same input, from a folder of one's own."""

from __future__ import annotations

import fcntl
import os
import shutil
from pathlib import Path
from typing import Callable

import pytest

from tests.helpers import DATA, lookalike, tree
from tests.killing import AFTER_THE_GATE, KEPT, LOUD_OPTIONS, OPTIONS, kill_at, partial_of, stages_of, write_corpus


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_corpus(tmp_path_factory.mktemp("corpus"))


@pytest.fixture
def killed(corpus: Path, tmp_path: Path) -> Path:
    """The output folder of a run that was killed after its first stage."""
    kill_at(AFTER_THE_GATE, corpus, tmp_path / "out")
    assert stages_of(tmp_path / "out") == ["gate"]
    return tmp_path / "out"


def test_a_killed_run_is_not_mistaken_for_nothing(killed: Path, corpus: Path) -> None:
    before = tree(killed.parent)
    refused = lookalike("dedup", corpus, "--out", killed, *OPTIONS)
    assert refused.exit_code == 2
    assert "out.partial is left of an interrupted run: --resume takes it up" in refused.stderr
    assert tree(killed.parent) == before


@pytest.mark.parametrize(("command", "given", "option", "named"), [
    ("pairs", "out.partial", "--out", "out2"), ("dedup", "out.partial", "--out", "out2"),
    ("index", "out.partial", "--out", "out2"), ("pairs", "in.jsonl", "--against", "out.partial"),
    ("dedup", "in.jsonl", "--against", "out.partial"), ("dedup", "in.jsonl", "--out", "out.partial"),
    ("index", "in.jsonl", "--add", "out.partial")])
def test_what_was_left_is_no_corpus_no_index_and_no_output(
    command: str, given: str, option: str, named: str, killed: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(killed.parent)
    shutil.copy(corpus, "in.jsonl")
    before = tree(killed.parent)
    refused = lookalike(command, given, option, named)
    assert refused.exit_code == 2 and refused.stderr.startswith("lookalike: out.partial is ")
    assert refused.stderr.count("\n") == 1 and tree(killed.parent) == before


@pytest.mark.parametrize(("options", "changed"), [
    (("--threshold", "0.7"), "settings"), (("--keep", "shortest"), "keep"), (("--cluster", "keeper"), "cluster"),
    (("--strict",), "strict"), (("--duplicate-ids", "number"), "duplicate_ids"), (("-r", "inline"), "engine"),
    (("--against", DATA / "articles.jsonl"), "against, input")], ids=str)
def test_another_run_is_not_taken_up(
    options: tuple[object, ...], changed: str, killed: Path, corpus: Path
) -> None:
    before = tree(killed.parent)
    refused = lookalike("dedup", corpus, "--out", killed, "--resume", *LOUD_OPTIONS, *options)
    assert refused.exit_code == 2 and f"({changed} changed)" in refused.stderr and KEPT not in refused.stderr
    assert tree(killed.parent) == before


def touch(path: Path) -> Path:
    os.utime(path, (1, 1))
    return path


def grow(path: Path) -> Path:
    status = path.stat()
    path.write_bytes(path.read_bytes() + b"\n")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    return path


def move(path: Path) -> Path:
    return path.rename(path.with_name("moved.jsonl"))


@pytest.mark.parametrize("change", [touch, grow, move])
def test_another_input_is_not_taken_up(change: Callable[[Path], Path], corpus: Path, tmp_path: Path) -> None:
    out, path = tmp_path / "out", Path(shutil.copy2(corpus, tmp_path / "in.jsonl"))
    kill_at(AFTER_THE_GATE, path, out)
    changed = change(path)
    before = tree(tmp_path)
    refused = lookalike("dedup", changed, "--out", out, "--resume", *OPTIONS)
    assert refused.exit_code == 2 and "(input changed)" in refused.stderr
    assert tree(tmp_path) == before


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
