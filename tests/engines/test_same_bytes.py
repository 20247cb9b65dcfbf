"""Every engine gives the bytes that one process gives, whatever is in the input, with and without a gate."""

from __future__ import annotations

import sys
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.engines.engine import Engine
from tests.engines.nasty import nasty_file
from tests.helpers import DATA, REPOSITORY, Outcome, lookalike, read_run
from tests.links import joined

pytestmark = pytest.mark.engines

PAPERS = ("--text-field", "abstract", "--shingle", "word:3", "--threshold", "0.4")
SHINGLED = ("--format", "shingled", "--bands", "60", "--rows", "16", "--threshold", "0.9")
NUM_SAMPLE_DOCS = 20_000

CORPORA: dict[str, tuple[str, tuple[str, ...]]] = {
    "articles": ("articles.jsonl", ("--threshold", "0.5")),
    "papers": ("papers.jsonl", PAPERS),
    "shingled": ("shingled.txt", SHINGLED),
    "sample": ("sample.jsonl", ()),
    "nasty": ("nasty.jsonl", ()),
    "empty": ("empty.jsonl", ()),
}
KINDS: dict[str, tuple[str, ...]] = {"pairs": (), "links": ("--links",)}


def cases(*quick: tuple[str, str]) -> Any:
    """Every corpus with every kind of lines; those that are quick and tell most are part of what CI runs."""
    marks = {case: [pytest.mark.ci_engines] if case in quick else [] for case in product(CORPORA, KINDS)}
    return pytest.mark.parametrize("corpus, kind", [pytest.param(*case, marks=marks[case]) for case in marks])


class Results(NamedTuple):
    """What a run has written that must not depend on the engine."""

    lines: bytes
    rejected: list[str]
    told_of_input: dict[str, int]


def read_results(folder: Path, kind: str) -> Results:
    path = folder / "rejected.jsonl"
    rejected = path.read_text().splitlines() if path.exists() else []
    told = read_run(folder)["input"]
    return Results((folder / f"{kind}.jsonl").read_bytes(), rejected,
                   {name: told[name] for name in ("lines", "documents", "copies", "rejected")})


@pytest.fixture(scope="session")
def corpora(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of all corpora."""
    folder = tmp_path_factory.mktemp("corpora")
    for path in DATA.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    assert_done(lookalike("sample", "--docs", NUM_SAMPLE_DOCS, "--out", folder / "sample.jsonl", "-q"))
    (folder / "nasty.jsonl").write_bytes(nasty_file())
    (folder / "empty.jsonl").write_bytes(b"")
    return folder


class Expected(dict[tuple[str, str], Results]):
    """What one process finds in each corpus, once it is asked for."""

    def __init__(self, corpora: Path, folder: Path) -> None:
        self.corpora, self.folder = corpora, folder

    def __missing__(self, case: tuple[str, str]) -> Results:
        corpus, kind = case
        (name, options), out = CORPORA[corpus], self.folder / f"{corpus}-{kind}"
        assert_done(lookalike("pairs", self.corpora / name, *options, *KINDS[kind], "-r", "inline", "--out", out, "-q"))
        self[case] = read_results(out, kind)
        return self[case]


@pytest.fixture(scope="session")
def expected(corpora: Path, tmp_path_factory: pytest.TempPathFactory) -> Expected:
    return Expected(corpora, tmp_path_factory.mktemp("expected"))


def assert_done(outcome: Outcome) -> None:
    assert outcome.exit_code == 0, outcome.stderr


def test_the_expected_results_are_worth_comparing(expected: Expected) -> None:
    num_lines = {case: expected[case].lines.count(b"\n") for case in product(CORPORA, KINDS)}
    assert all(num_lines[corpus, "pairs"] >= num_lines[corpus, "links"] for corpus in CORPORA)
    assert all(num_lines[corpus, "links"] for corpus in CORPORA if corpus != "empty")
    nasty = expected["nasty", "pairs"]
    assert len(nasty.rejected) == nasty.told_of_input["rejected"] > 0


@cases(("nasty", "pairs"))
def test_the_command_writes_the_same_bytes(
    engine: Engine, corpus: str, kind: str, corpora: Path, expected: Expected, tmp_path: Path
) -> None:
    name, options = CORPORA[corpus]
    done = engine.lookalike(corpora / name, *options, *KINDS[kind], "--out", tmp_path / "out")
    assert done.exit_code == 0, f"{done.stderr}\n{engine.log_tails()}"
    assert read_results(tmp_path / "out", kind) == expected[corpus, kind]


@cases(("articles", "links"))
def test_the_job_by_itself_without_a_gate_writes_the_same_lines(
    engine: Engine, corpus: str, kind: str, corpora: Path, expected: Expected
) -> None:
    name, options = CORPORA[corpus]
    done = engine.run(sys.executable, REPOSITORY / "jobs" / "mr_pairs.py", corpora / name, "-q", *options,
                      *KINDS[kind], "-r", engine.runner, "--conf-path", engine.conf)
    assert done.exit_code == 0, f"{done.stderr}\n{engine.log_tails()}"
    lines = done.stdout.encode().split(b"\n")[:-1]
    if kind == "links":
        # Each reducer has written the forest of what it has seen.
        lines = joined(lines)
    assert b"".join(line + b"\n" for line in sorted(lines)) == expected[corpus, kind].lines
