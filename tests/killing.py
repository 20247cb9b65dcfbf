"""Runs of cleaning that are killed, and what they leave."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

from tests.helpers import REPOSITORY, json_lines, made_up_documents

STAGES = ("gate", "pairs", "ranks", "keep", "rest")
OPTIONS = ("-r", "local", "--cores", "2", "--keep", "longest", "-q")
LOUD_OPTIONS = OPTIONS[:-1]
KEPT = "what was done is kept in"
AFTER_THE_GATE = ("os.rename", "pairs.unfinished")

KILLED_AT = """
import os, runpy, signal, sys
event, ending = sys.argv[1:3]
del sys.argv[1:3]

def watch(seen, args):
    if seen == event and str(args[0]).endswith(ending):
        os.kill(os.getpid(), signal.SIGKILL)

sys.addaudithook(watch)
runpy.run_module("jobs.cli", run_name="__main__", alter_sys=True)
"""
"""The command line, killed at the first event of this kind on a path of this ending, before it comes about."""


def write_corpus(folder: Path) -> Path:
    """Documents, some of them twice, and lines that are none."""
    path = folder / "in.jsonl"
    lines = json_lines(made_up_documents(800))
    path.write_bytes(b"\n".join([*lines, b"{", *lines[:50]]))
    return path


def kill_at(moment: tuple[str, str], corpus: Path, out: Path, *options: object) -> None:
    """Run until a moment, at which the run kills itself."""
    command = [sys.executable, "-c", KILLED_AT, *moment, "dedup", corpus, "--out", out, "--tmp", out.parent, *OPTIONS,
               *options]
    assert subprocess.run([*map(str, command)], cwd=REPOSITORY).returncode == -signal.SIGKILL


def partial_of(out: Path) -> Path:
    return out.with_name("out.partial")


def stages_of(out: Path) -> list[str]:
    """The stages that are complete, found to be the first ones."""
    done = [name for name in STAGES if (partial_of(out) / f"{name}.json").exists()]
    assert done == list(STAGES[: len(done)])
    return done
