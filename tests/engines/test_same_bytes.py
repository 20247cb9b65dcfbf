"""Every engine gives the bytes that one process gives, whatever is in the input."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.engines.engine import Engine
from tests.engines.nasty import nasty_file
from tests.helpers import DATA, REPOSITORY, Outcome, lookalike, read_run

pytestmark = pytest.mark.engines

PAPERS = ("--text-field", "abstract", "--shingle", "word:3", "--threshold", "0.4")
SHINGLED = ("--format", "shingled", "--bands", "60", "--rows", "16", "--threshold", "0.9")

CORPORA: dict[str, tuple[str, tuple[str, ...]]] = {
    "articles": ("articles.jsonl", ("--threshold", "0.5")),
    "papers": ("papers.jsonl", PAPERS),
    "shingled": ("shingled.txt", SHINGLED),
    "nasty": ("nasty.jsonl", ()),
    "nasty-links": ("nasty.jsonl", ("--links",)),
    "empty": ("empty.jsonl", ()),
}


class Results(NamedTuple):
    """What a run has written that must not depend on the engine."""

    lines: bytes
    rejected: list[str]
    told_of_input: dict[str, int]


def read_results(folder: Path) -> Results:
    lines = b"".join(path.read_bytes() for path in folder.glob("*s.jsonl"))
    path = folder / "rejected.jsonl"
    rejected = path.read_text().splitlines() if path.exists() else []
    told = read_run(folder)["input"]
    return Results(lines, rejected, {name: told[name] for name in ("lines", "documents", "copies", "rejected")})


@pytest.fixture(scope="session")
def corpora(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of all corpora."""
    folder = tmp_path_factory.mktemp("corpora")
    for path in DATA.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    (folder / "nasty.jsonl").write_bytes(nasty_file())
    (folder / "empty.jsonl").write_bytes(b"")
    return folder


@pytest.fixture(scope="session")
def expected(corpora: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Results]:
    """What one process finds in each corpus."""
    results = {}
    for corpus, (name, options) in CORPORA.items():
        out = tmp_path_factory.mktemp("expected") / "out"
        assert_done(lookalike("pairs", corpora / name, *options, "-r", "inline", "--out", out, "-q"))
        results[corpus] = read_results(out)
    return results


def assert_done(outcome: Outcome) -> None:
    assert outcome.exit_code == 0, outcome.stderr


@pytest.mark.parametrize("corpus", CORPORA)
def test_the_command_writes_the_same_bytes(
    engine: Engine, corpus: str, corpora: Path, expected: dict[str, Results], tmp_path: Path
) -> None:
    name, options = CORPORA[corpus]
    done = engine.lookalike(corpora / name, *options, "--out", tmp_path / "out")
    assert done.exit_code == 0, f"{done.stderr}\n{engine.log_tails()}"
    assert read_results(tmp_path / "out") == expected[corpus]


def test_the_expected_results_are_worth_comparing(expected: dict[str, Results]) -> None:
    assert all(results.lines for corpus, results in expected.items() if corpus != "empty")
    assert len(expected["nasty"].rejected) == expected["nasty"].told_of_input["rejected"] > 0


def test_the_job_by_itself_writes_the_same_lines(engine: Engine, expected: dict[str, Results]) -> None:
    done = engine.run(sys.executable, REPOSITORY / "jobs" / "mr_pairs.py", DATA / "articles.jsonl", "-q",
                      *CORPORA["articles"][1], "-r", engine.runner, "--conf-path", engine.conf)
    assert_done(done)
    assert sorted(done.stdout.encode().splitlines(True)) == expected["articles"].lines.splitlines(True)
