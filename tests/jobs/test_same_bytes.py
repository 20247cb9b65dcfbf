"""The answer of the main job depends on neither order, splits, tasks, runner nor the way it is started."""

from __future__ import annotations

import random
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.mr_pairs import MRPairs
from tests.helpers import (
    DATA,
    LOCAL,
    JobOutput,
    json_lines,
    lookalike,
    made_up_documents,
    read_pairs,
    run_command,
    run_job,
)
from tests.oracles import brute_force_pairs
from tests.strategies import corpora

LOOSE = ("--threshold", "0.3", "--shingle", "char:2", "--recall", "0.9")

documents = corpora.map(lambda texts: {f"i{number}": text for number, text in enumerate(texts)})


def run_split(lines: list[bytes], cuts: list[int], num_cores: int, *options: str) -> JobOutput:
    """Run the job on lines that are cut into files at the given numbers."""
    bounds = [0, *sorted(cut % (len(lines) + 1) for cut in cuts), len(lines)]
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{number}.jsonl" for number in range(len(bounds) - 1)]
        for path, start, end in zip(paths, bounds, bounds[1:]):
            path.write_bytes(b"".join(line + b"\n" for line in lines[start:end]))
        return run_job(MRPairs, [], "--num-cores", str(num_cores), *options, *map(str, paths))


@given(documents, st.lists(st.integers(0, 40), max_size=3), st.integers(1, 5), st.randoms(use_true_random=False))
@settings(max_examples=30)
def test_order_files_and_tasks_do_not_matter(
    documents: dict[str, str], cuts: list[int], num_cores: int, choose: random.Random
) -> None:
    lines = json_lines(documents)
    whole = run_job(MRPairs, lines, *LOOSE, "--num-cores", "1")
    choose.shuffle(lines)
    assert run_split(lines, cuts, num_cores, *LOOSE) == whole
    truth = brute_force_pairs(documents, 0.3, k=2)
    assert whole.pairs().items() <= truth.items()


@given(st.lists(st.sampled_from([b"{", b"", b"[]", b"\xff", *json_lines({"x": "some text", "y": "some text."})]),
                max_size=12), st.integers(1, 5))
@settings(max_examples=20)
def test_copies_and_rejected_lines_do_not_depend_on_tasks(lines: list[bytes], num_cores: int) -> None:
    whole = run_job(MRPairs, lines, *LOOSE, "--num-cores", "1")
    assert run_split(lines, [], num_cores, *LOOSE) == whole
    assert whole.counts.get("lines", 0) == len(lines)


@pytest.mark.parametrize(("num_documents", "options"), [
    (300, ()), (40, ("--shingle", "word:2", "--minhash", "linear", "--num-cores", "3"))])
def test_local_gives_what_inline_gives(num_documents: int, options: tuple[str, ...]) -> None:
    lines = [*json_lines(made_up_documents(num_documents)), b"no JSON", b"\xff"]
    inline = run_job(MRPairs, lines + lines[:3], *options)
    assert inline.lines
    assert run_job(MRPairs, lines + lines[:3], *options, *LOCAL) == inline


def test_local_gives_nothing_for_nothing() -> None:
    assert run_job(MRPairs, [], *LOCAL) == ([], {})


@pytest.mark.parametrize("start", [("jobs/mr_pairs.py", "-r", "local"), ("-m", "jobs.mr_pairs")], ids=str)
def test_the_plain_script_prints_the_pairs_of_the_pipeline(start: tuple[str, ...], tmp_path: Path) -> None:
    outcome = run_command(sys.executable, *start, DATA / "articles.jsonl", "--no-conf", "-q")
    assert outcome.exit_code == 0, outcome.stderr
    assert lookalike("pairs", DATA / "articles.jsonl", "--out", tmp_path / "out").exit_code == 0
    printed = sorted(outcome.stdout.encode().splitlines())
    assert printed == (tmp_path / "out" / "pairs.jsonl").read_bytes().splitlines()
    assert len(read_pairs(tmp_path / "out")) == len(printed) > 0
