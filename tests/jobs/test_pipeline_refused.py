"""A run that fails, and an input that is another one in each pass: what is said, and that nothing stays behind."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Callable

import pytest

import jobs.base
from jobs.errors import JobFailed
from jobs.gate_file import BadGate
from jobs.job_runner import Run
from jobs.pipeline import find_pairs
from jobs.silence import Listener, Silence
from lsh_core.settings import Settings
from tests.helpers import json_lines, read_pairs, tree
from tests.jobs.test_pipeline import BAD, GOOD, MeddlingDisplay
from tests.passes import written

REPEATED = json_lines({"x": "some other text"})


@pytest.mark.parametrize(("runner", "error"), [("inline", BadGate), ("local", JobFailed)])
def test_a_failed_job_leaves_nothing_and_says_why(runner: str, error: type[Exception], tmp_path: Path) -> None:
    path = written(tmp_path / "in", json_lines({str(number): "word " * 50 + str(number) for number in range(9)}))
    (tmp_path / "tmp").mkdir()
    run = Run([path], tmp_path / "out", runner, tmp=tmp_path / "tmp")

    def cut_gate() -> None:
        (gate,) = tmp_path.glob(".out.partial-*/.stages/gate")
        gate.write_bytes(gate.read_bytes()[:-1])

    with pytest.raises(error, match="gate is cut short"):
        find_pairs(run, Settings(), MeddlingDisplay("pairs", cut_gate))
    assert tree(tmp_path) == ["in", "tmp"]


@pytest.mark.parametrize(("before", "after", "name"), [
    (GOOD, GOOD[:2], "pairs"),
    (GOOD, [*GOOD, GOOD[0]], "pairs"),
    (GOOD, [*GOOD[:2], GOOD[2].replace(b"another", b"anothes")], "pairs"),
    (GOOD, [GOOD[0].replace(b"x", b"w"), *GOOD[1:]], "pairs"),
    (GOOD, [], "pairs"),
    ([], GOOD, "pairs"),
    (GOOD + BAD, GOOD, "pairs"),
    (GOOD + BAD, GOOD, "rejects"),
], ids=["less", "more", "text", "id", "nothing", "something", "repaired", "repaired at last"])
def test_an_input_that_changes_between_the_passes_is_refused(
    before: list[bytes], after: list[bytes], name: str, tmp_path: Path
) -> None:
    path = written(tmp_path / "in", before)
    display = MeddlingDisplay(name, lambda: written(tmp_path / "in", after))
    with pytest.raises(JobFailed, match="the input changed while it was read; nothing was written"):
        find_pairs(Run([path], tmp_path / "out"), Settings(), display)
    assert name in display.steps and tree(tmp_path) == ["in"]


class MeddlingListener(Silence):
    """Does something when the tasks of a job are about to run."""

    def __init__(self, name: str, meddle: Callable[[], object]) -> None:
        self.name, self.meddle = name, meddle

    @contextmanager
    def step(self, name: str) -> Iterator[Listener]:
        def listen(stage: str, done: int, total: int, unit: str = "tasks") -> None:
            if (name, stage, done) == (self.name, "map", 0):
                self.meddle()

        yield listen


@pytest.mark.parametrize("name", ["gate", "pairs"])
@pytest.mark.parametrize("meddle", [Path.unlink, lambda path: path.write_bytes(path.read_bytes()[:-20])],
                         ids=["gone", "cut"])
def test_an_input_that_changes_while_tasks_read_it_is_refused(
    meddle: Callable[[Path], object], name: str, tmp_path: Path
) -> None:
    path = Path(written(tmp_path / "in", GOOD))
    (tmp_path / "tmp").mkdir()
    run = Run([str(path)], tmp_path / "out", "inline", tmp=tmp_path / "tmp")
    with pytest.raises(JobFailed, match="the input changed while it was read; nothing was written"):
        find_pairs(run, Settings(), MeddlingListener(name, lambda: meddle(path)))
    assert tree(tmp_path) == ([] if meddle is Path.unlink else ["in"]) + ["tmp"]


@pytest.mark.parametrize(("before", "after"), [
    (GOOD + BAD, GOOD), (GOOD + BAD, []), (GOOD + REPEATED, GOOD[1:]), (GOOD + REPEATED, [])])
def test_what_is_no_longer_wrong_when_it_is_looked_for_is_a_change(
    before: list[bytes], after: list[bytes], tmp_path: Path
) -> None:
    run = Run([written(tmp_path / "in", before)], tmp_path / "out", strict=True)
    with pytest.raises(JobFailed, match="the input changed while it was read"):
        find_pairs(run, Settings(), MeddlingDisplay("rejects", lambda: written(tmp_path / "in", after)))
    assert tree(tmp_path) == ["in"]


@pytest.mark.parametrize("name", ["pairs", "rejects"])
def test_tasks_with_other_tables_of_unicode_are_refused(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Run([written(tmp_path / "in", GOOD + BAD)], tmp_path / "out")
    display = MeddlingDisplay(name, lambda: monkeypatch.setattr(jobs.base, "UNICODE_VERSION", "unicode 5.2.0"))
    with pytest.raises(JobFailed, match=r"different tables of Unicode \(unicode \d.*, unicode 5\.2\.0\)"):
        find_pairs(run, Settings(), display)
    assert name in display.steps and tree(tmp_path) == ["in"]


def test_the_order_of_lines_may_change_between_the_passes(tmp_path: Path) -> None:
    run = Run([written(tmp_path / "in", GOOD)], tmp_path / "out")
    find_pairs(run, Settings(), MeddlingDisplay("pairs", lambda: written(tmp_path / "in", GOOD[::-1])))
    assert list(read_pairs(run.out)) == [("x", "y")]
