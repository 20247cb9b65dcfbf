"""From inputs to a folder of results: what is in it, what is counted, and that nothing else stays behind."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Callable

import pytest

from jobs.against import with_names_of_their_own
from jobs.errors import InputError, JobFailed
from jobs.input_checks import NUM_SHOWN, check_input
from jobs.job_runner import JobRunner, Run
from jobs.pipeline import GATE_REDUCER_BYTES, find_pairs, num_gate_shards, private_folder
from jobs.readers import Source, plain_path
from jobs.run_report import RunReport, StepReport
from jobs.silence import Listener, Silence
from lsh_core.settings import Settings
from tests.helpers import (
    assert_as_promised,
    json_lines,
    lookalike,
    made_up_documents,
    read_json_lines,
    read_pairs,
    read_run,
    tree,
)
from tests.oracles import brute_force_pairs
from tests.passes import QUIET, written

GOOD, BAD = json_lines({"x": "some text", "y": "some text", "z": "another"}), [b"{"]


class MeddlingDisplay(Silence):
    """Does something just before a job of some name runs, and remembers the jobs and what was said."""

    def __init__(self, name: str = "", meddle: Callable[[], object] = bool) -> None:
        self.name, self.meddle = name, meddle
        self.steps: list[str] = []
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        self.notes.append(text)

    @contextmanager
    def step(self, name: str) -> Iterator[Listener]:
        self.steps.append(name)
        if name == self.name:
            self.meddle()
        with super().step(name) as listener:
            yield listener


def test_empty(tmp_path: Path) -> None:
    report = find_pairs(Run([written(tmp_path / "in", [])], tmp_path / "out"), Settings(), QUIET)
    assert report.num_pairs == 0
    assert tree(tmp_path / "out") == ["pairs.jsonl", "run.json"]
    assert (tmp_path / "out" / "pairs.jsonl").read_bytes() == b""
    run = read_run(tmp_path / "out")
    assert run["input"] == {
        "files": [str(tmp_path / "in")], "bytes": 0, "lines": 0, "documents": 0, "copies": 0, "rejected": 0}


def test_empty_with_links(tmp_path: Path) -> None:
    report = find_pairs(Run([written(tmp_path / "in", [])], tmp_path / "out", links=True), Settings(), QUIET)
    assert (report.num_links, report.num_pairs) == (0, None)
    assert tree(tmp_path / "out") == ["links.jsonl", "run.json"]
    assert read_run(tmp_path / "out")["links"] == 0 and "pairs" not in read_run(tmp_path / "out")


def test_results_are_pairs_rejected_lines_and_a_report(tmp_path: Path) -> None:
    documents = made_up_documents(150)
    lines = json_lines(documents)
    path = written(tmp_path / "in.jsonl", [*lines, b"{", *lines[:4], b""])
    settings = Settings(threshold=0.7)
    (tmp_path / "tmp").mkdir()
    run = Run([path], tmp_path / "deep" / "out", tmp=tmp_path / "tmp", command="lookalike ...")
    report = find_pairs(run, settings, QUIET)
    assert tree(tmp_path) == ["deep", "deep/out", "deep/out/pairs.jsonl", "deep/out/rejected.jsonl",
                              "deep/out/run.json", "in.jsonl", "tmp"]
    assert_as_promised(read_pairs(run.out), brute_force_pairs(documents, 0.7), settings)
    rejected = read_json_lines(run.out / "rejected.jsonl")
    assert [(line["place"], line["reason"]) for line in rejected] == [
        (f"{path}:151", "not JSON"), (f"{path}:156", "empty")]
    told = read_run(run.out)
    assert told == report.to_json()
    assert told["input"] == {"files": [path], "bytes": Path(path).stat().st_size, "lines": 156, "documents": 150,
                             "copies": 4, "rejected": 2}
    assert (told["engine"], told["command"], told["pairs"]) == ("inline", "lookalike ...", len(read_pairs(run.out)))
    assert (told["bands"], told["rows"], told["recall_promised"]) == (*settings.banding, settings.recall_promised)
    assert Settings.from_json(told["settings"]) == settings
    assert told["pairs"] <= told["candidates"]
    assert [step["name"] for step in told["steps"]] == ["gate", "pairs", "rejects"]
    assert told["shuffle_bytes"] == sum(step["shuffle_bytes"] for step in told["steps"]) > 0
    assert [step["counters"]["lines"] for step in told["steps"]] == [156] * 3
    # The second pass reads only lines of documents that have company.
    assert [step["counters"].get("rejected: not JSON", 0) for step in told["steps"]] == [1, 0, 1]


def test_what_is_shuffled_is_counted_to_the_byte(tmp_path: Path) -> None:
    # Nothing of the lone document is sent: no other one has any of its keys.
    path = written(tmp_path / "in", json_lines({"x": "some text", "yy": "some text", "lone": "änother"}))
    report = find_pairs(Run([path], tmp_path / "out", cores=1), Settings(bands=3, rows=2), QUIET)
    gate, pairs = report.steps
    # Of each record: key, tab, id in quotes, tab, own key, tab, no earlier keys, tab, text, line end.
    assert pairs.shuffle_bytes == sum(16 + 1 + len(doc_id) + 2 + 1 + 16 + 1 + 0 + 1 + 9 + 1 for doc_id in ("x", "yy"))
    # Of each document digests of id and text, then three keys and those of line and text; of each of two records a
    # name, tab and line end; some bytes are escaped.
    least = 3 * (2 + 5) * 8 + len("ids/0000") + len("bands0000/0000") + 2 * 2
    assert least <= gate.shuffle_bytes < least + 9
    assert report.shuffle_bytes == gate.shuffle_bytes + pairs.shuffle_bytes


@pytest.mark.parametrize("num_bands", [1, 5, 17, 400])
def test_a_reducer_of_the_gate_gets_a_bounded_share(num_bands: int) -> None:
    sizes = [0, 1, *(10**power * digit for power in range(3, 10) for digit in (1, 2, 5))]
    numbers = [num_gate_shards(size, num_bands) for size in sizes]
    assert numbers[0] == 1 and numbers == sorted(numbers)
    for size, number in zip(sizes, numbers):
        keys_of_row = -(-num_bands // min(number, num_bands))
        num_rows = size / max(1, number / num_bands)
        assert num_rows * 8 * (keys_of_row + 1) * 2 < GATE_REDUCER_BYTES
        assert number <= num_bands or number % num_bands == 0


def test_a_million_documents_are_one_shard() -> None:
    assert num_gate_shards(1_000_000, 17) == 1 < num_gate_shards(1_200_000, 17)


def test_several_inputs_are_one_corpus(tmp_path: Path) -> None:
    lines = json_lines(made_up_documents(90))
    one = written(tmp_path / "one", lines)
    parts = [written(tmp_path / f"part{start}", lines[start : start + 40]) for start in (80, 0, 40)]
    find_pairs(Run([one], tmp_path / "out1"), Settings(), QUIET)
    report = find_pairs(Run(parts, tmp_path / "out2"), Settings(), QUIET)
    assert (tmp_path / "out1" / "pairs.jsonl").read_bytes() == (tmp_path / "out2" / "pairs.jsonl").read_bytes() != b""
    assert report.files == parts


def test_strict_stops_at_the_first_rejected_line_of_all(tmp_path: Path) -> None:
    good = json_lines({"x": "some text"})
    paths = [written(tmp_path / "b", good * 3), written(tmp_path / "a", [*good, b"[]", b"{"])]
    display = MeddlingDisplay()
    with pytest.raises(InputError, match=r"/a:2: not a JSON object: found list \(--strict .* first of 2 such lines"):
        find_pairs(Run(paths, tmp_path / "out", strict=True), Settings(), display)
    assert display.steps == ["gate", "rejects"]
    assert tree(tmp_path) == ["a", "b"]
    find_pairs(Run(paths[:1], tmp_path / "out", strict=True), Settings(), QUIET)
    assert tree(tmp_path / "out") == ["pairs.jsonl", "run.json"]


def test_a_few_rejected_lines_are_shown_and_the_rest_counted(tmp_path: Path) -> None:
    display = MeddlingDisplay()
    path = written(tmp_path / "in", [*GOOD, *BAD * 1008])
    find_pairs(Run([path], tmp_path / "out"), Settings(), display)
    assert [note.partition(":")[0] for note in display.notes[:-1]] == [path] * NUM_SHOWN
    assert display.notes[0].startswith(f"{path}:4: not JSON: ") and display.notes[-1] == "... and 1,003 more"


def test_lines_that_are_not_accounted_for_are_an_error(tmp_path: Path) -> None:
    run = Run([], tmp_path / "out")
    runner = JobRunner(run, Settings(), [], tmp_path, QUIET)
    report = RunReport("inline", "", Settings(), [], 0)
    report.steps.append(StepReport("gate", 0.0, {"lines": 5, "documents": 2, "copies": 1, "rejected": 1}))
    with pytest.raises(JobFailed, match="5 lines were read, but 4 are accounted for"):
        check_input(runner, report, run, tmp_path / "gate")


def test_the_temporary_folder_is_private_and_goes_away(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), private_folder(tmp_path) as folder:
        assert folder.parent == tmp_path and folder.stat().st_mode & 0o077 == 0
        (folder / "file").touch()
        raise KeyboardInterrupt
    assert tree(tmp_path) == []


@pytest.mark.parametrize(("options", "is_warned"), [((), True), (("--links",), False)])
def test_more_pairs_than_anyone_wants_are_announced(
    options: tuple[str, ...], is_warned: bool, tmp_path: Path
) -> None:
    corpus = tmp_path / "in.jsonl"
    corpus.write_bytes(b"\n".join(json_lines({f"d{i}": "one and the same text" for i in range(250)})))
    outcome = lookalike("pairs", corpus, "--out", tmp_path / "out", *options)
    assert outcome.exit_code == 0
    assert ("up to 31,125 pairs of 250 documents may be written; --links" in outcome.stderr) == is_warned


def test_what_is_in_a_temporary_folder_is_found_wherever_it_was_named_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t").mkdir()
    with private_folder(Path("t")) as folder:
        (folder / "results").mkdir()
        (folder / "results" / "a gate").write_text("gate")
        for path in (folder / "results" / "a gate", Path("t") / folder.name / "results" / "a gate"):
            link = Path(plain_path(str(path), "", folder, "gate"))
            assert (link.read_text(), link.name) == ("gate", "gate")
        assert folder.is_absolute()


def test_no_input_is_called_as_the_folder_of_files_for_tasks(tmp_path: Path) -> None:
    for name in ("wd", "other"):
        (tmp_path / name).touch()
    sources = [Source(name, str(tmp_path / name)) for name in ("wd", "other")]
    linked, same = with_names_of_their_own(sources, tmp_path)
    assert Path(linked.path).name not in ("wd", "other") and linked.name == "wd" and same == sources[1]
    assert os.path.realpath(linked.path) == str(tmp_path / "wd")
