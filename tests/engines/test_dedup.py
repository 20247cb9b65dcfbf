"""A corpus is cleaned alike on every engine, but for the order of what is kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cleaning import clean, contents
from tests.engines.engine import Engine
from tests.engines.nasty import nasty_file
from tests.helpers import COMMAND, DATA

pytestmark = pytest.mark.engines


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Articles, lines of every kind, and some of both again, in files of one name."""
    articles = (DATA / "articles.jsonl").read_bytes()
    again = b"".join(articles.splitlines(True)[:50])
    paths = []
    for name, content in (("z", nasty_file() + b"\n" + articles + again), ("a", again), ("m", again)):
        paths.append(tmp_path_factory.mktemp(name) / "corpus.jsonl")
        paths[-1].write_bytes(content)
    return paths


def test_the_same_lines_are_kept_and_removed(engine: Engine, corpus: list[Path], tmp_path: Path) -> None:
    if engine.runner == "emr":
        pytest.skip("the emulation takes long, and runs what Hadoop runs")
    clean(tmp_path / "here", *corpus, "--keep", "longest", "-r", "inline")
    done = engine.run(*COMMAND, "dedup", *corpus, "--keep", "longest", "--out", tmp_path / "there", "-r",
                      engine.runner, "--conf", engine.conf)
    assert done.exit_code == 0, f"{done.stderr}\n{engine.log_tails()}"
    here, there = contents(tmp_path / "here"), contents(tmp_path / "there")
    for files in (here, there):
        files["kept.jsonl"] = b"".join(sorted(files["kept.jsonl"].splitlines(True)))
    assert there.keys() == here.keys()
    assert [name for name in here if here[name] != there[name]] == []
