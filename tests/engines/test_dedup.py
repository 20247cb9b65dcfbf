"""A corpus is cleaned alike on every engine, but for the order of what is kept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cleaning import clean, contents
from tests.engines.engine import Engine
from tests.engines.memory import PeakMemory
from tests.engines.nasty import nasty_file
from tests.helpers import COMMAND, DATA, lookalike

pytestmark = pytest.mark.engines

NUM_DOCS = 100_000
FIELD = "l'âge \"$1\""
"""A name that is more to what splits command lines; shells, Java and Hadoop's streaming do so, each in its own way."""

MAX_TASK_MB = 512
"""For the Python of a task, also where the values of a key are many."""


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Articles with one more field, lines of every kind, and some of both again, in files of one name."""
    lines = (DATA / "articles.jsonl").read_bytes().splitlines()
    articles = b"".join(json.dumps({**json.loads(line), FIELD: number}).encode() + b"\n"
                        for number, line in enumerate(lines))
    again = b"".join(articles.splitlines(True)[:50])
    paths = []
    for name, content in (("z", nasty_file() + b"\n" + articles + again), ("a", again), ("m", again)):
        paths.append(tmp_path_factory.mktemp(name) / "corpus.jsonl")
        paths[-1].write_bytes(content)
    return paths


@pytest.fixture(scope="module")
def large_corpus(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Documents of which a fifth are one cluster, and a part of their lines again."""
    path = tmp_path_factory.mktemp("large") / "sample.jsonl"
    done = lookalike("sample", "--docs", NUM_DOCS, "--template", NUM_DOCS // 5, "--seed", 5, "--out", path, "-q")
    assert done.exit_code == 0, done.stderr
    lines = path.read_bytes().splitlines(True)
    path.write_bytes(b"".join([*lines, *lines[::100], b"{\n"]))
    return [path]


def test_the_same_lines_are_kept_and_removed(engine: Engine, corpus: list[Path], tmp_path: Path) -> None:
    if engine.runner == "emr":
        pytest.skip("the emulation takes long, and runs what Hadoop runs")
    assert_cleaned_alike(engine, corpus, tmp_path, f"max:{FIELD}")


def test_a_large_cluster_is_cleaned_alike(engine: Engine, large_corpus: list[Path], tmp_path: Path) -> None:
    if engine.runner not in ("hadoop", "spark"):
        pytest.skip("tests/jobs/test_dedup_sample.py compares inline and local, and the emulation takes long")
    with PeakMemory(engine) as peak:
        assert_cleaned_alike(engine, large_corpus, tmp_path, "longest")
    assert 0 < peak.mb < MAX_TASK_MB, peak.mb_of


def assert_cleaned_alike(engine: Engine, corpus: list[Path], tmp_path: Path, keep: str) -> None:
    """The files of the engine are those of one process, but for the order of lines that are kept."""
    clean(tmp_path / "here", *corpus, "--keep", keep, "-r", "inline")
    done = engine.run(*COMMAND, "dedup", *corpus, "--keep", keep, "--out", tmp_path / "there", "-r",
                      engine.runner, "--conf", engine.conf)
    assert done.exit_code == 0, f"{done.stderr}\n{engine.log_tails()}"
    here, there = contents(tmp_path / "here"), contents(tmp_path / "there")
    for files in (here, there):
        files["kept.jsonl"] = b"".join(sorted(files["kept.jsonl"].splitlines(True)))
    assert there.keys() == here.keys()
    assert [name for name in here if here[name] != there[name]] == []
