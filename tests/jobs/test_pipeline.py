"""From inputs to a folder of results: what is in it, what is counted, and that nothing else stays behind."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

import jobs.pipeline
from jobs.display import Display
from jobs.errors import InputError, JobFailed
from jobs.pipeline import INLINE_BYTES, JobRunner, Run, default_conf, find_pairs, private_folder
from jobs.readers import open_inputs
from jobs.run_report import RunReport, StepReport
from lsh_core.settings import Settings
from tests.helpers import (
    DATA,
    assert_as_promised,
    json_lines,
    made_up_documents,
    read_json_lines,
    read_pairs,
    read_run,
    tree,
)
from tests.oracles import brute_force_pairs

QUIET = Display(quiet=True)


def written(path: Path, lines: list[bytes]) -> str:
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return str(path)


def test_empty(tmp_path: Path) -> None:
    report = find_pairs(Run([written(tmp_path / "in", [])], tmp_path / "out"), Settings(), QUIET)
    assert report.num_pairs == 0
    assert tree(tmp_path / "out") == ["pairs.jsonl", "run.json"]
    assert (tmp_path / "out" / "pairs.jsonl").read_bytes() == b""
    run = read_run(tmp_path / "out")
    assert run["input"] == {
        "files": [str(tmp_path / "in")], "bytes": 0, "lines": 0, "documents": 0, "copies": 0, "rejected": 0}


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
    assert [step["name"] for step in told["steps"]] == ["pairs", "rejects"]
    assert told["shuffle_bytes"] == told["steps"][0]["shuffle_bytes"] > told["input"]["bytes"]
    assert told["steps"][0]["counters"]["rejected: not JSON"] == 1


def test_what_is_shuffled_is_counted_to_the_byte(tmp_path: Path) -> None:
    path = written(tmp_path / "in", json_lines({"x": "some text", "yy": "än"}))
    report = find_pairs(Run([path], tmp_path / "out"), Settings(bands=3, rows=2), QUIET)
    # Of each record: key, tab, id in quotes, tab, smaller keys, tab, text, line end.
    per_document = [16 + 1 + len(doc_id) + 2 + 1 + 1 + size + 1 for doc_id, size in (("x", 9), ("yy", 3))]
    smaller_keys = 16 * (0 + 1 + 2)
    assert report.shuffle_bytes == sum(3 * size + smaller_keys for size in per_document)


def test_several_inputs_are_one_corpus(tmp_path: Path) -> None:
    lines = json_lines(made_up_documents(90))
    one = written(tmp_path / "one", lines)
    parts = [written(tmp_path / f"part{start}", lines[start : start + 40]) for start in (80, 0, 40)]
    find_pairs(Run([one], tmp_path / "out1"), Settings(), QUIET)
    report = find_pairs(Run(parts, tmp_path / "out2"), Settings(), QUIET)
    assert (tmp_path / "out1" / "pairs.jsonl").read_bytes() == (tmp_path / "out2" / "pairs.jsonl").read_bytes() != b""
    assert report.files == parts


@pytest.mark.parametrize(("size", "runner", "expected"), [
    (INLINE_BYTES, None, "inline"), (INLINE_BYTES + 1, None, "local"), (INLINE_BYTES + 1, "inline", "inline"),
    (0, "local", "local")])
def test_the_runner_is_chosen_by_the_size_of_the_input(
    size: int, runner: str, expected: str, tmp_path: Path
) -> None:
    (tmp_path / "in").touch()
    with open(tmp_path / "in", "r+b") as file:
        file.truncate(size)
    sources = open_inputs([str(tmp_path / "in")], Settings(), tmp_path)
    run = Run([], tmp_path / "out", runner)
    assert JobRunner(run, Settings(), sources, tmp_path, QUIET).runner == expected


def test_every_runner_here_has_a_configuration() -> None:
    for runner in jobs.pipeline.RUNNERS:
        assert default_conf(runner).is_file()


def test_strict_stops_at_the_first_rejected_line_of_all(tmp_path: Path) -> None:
    good = json_lines({"x": "some text"})
    paths = [written(tmp_path / "b", good * 3), written(tmp_path / "a", [*good, b"[]", b"{"])]
    with pytest.raises(InputError, match=r"/a:2: not a JSON object: found list \(--strict .* first of 2 such lines"):
        find_pairs(Run(paths, tmp_path / "out", strict=True), Settings(), QUIET)
    assert tree(tmp_path) == ["a", "b"]
    find_pairs(Run(paths[:1], tmp_path / "out", strict=True), Settings(), QUIET)
    assert tree(tmp_path / "out") == ["pairs.jsonl", "run.json"]


@pytest.mark.parametrize("runner", ["inline", "local"])
def test_a_failed_job_leaves_nothing_and_says_why(runner: str, tmp_path: Path) -> None:
    path = written(tmp_path / "in", json_lines({str(number): "word " * 50 + str(number) for number in range(9)}))
    (tmp_path / "tmp").mkdir()
    run = Run([path], tmp_path / "out", runner, tmp=tmp_path / "tmp")
    with pytest.raises(Exception, match="a bucket holds more than 2 distinct texts; raise --max-bucket-docs"):
        find_pairs(run, Settings(max_bucket_docs=2), QUIET)
    assert tree(tmp_path) == ["in", "tmp"]


def test_lines_that_are_not_accounted_for_are_an_error() -> None:
    report = RunReport("inline", "", Settings(), [], 0)
    report.steps.append(StepReport("pairs", 0.0, {"lines": 5, "documents": 2, "copies": 1, "rejected": 1}))
    with pytest.raises(JobFailed, match="5 lines were read, but 4 are accounted for"):
        jobs.pipeline._check_nothing_lost(report)


def test_the_temporary_folder_is_private_and_goes_away(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), private_folder(tmp_path) as folder:
        assert folder.parent == tmp_path and folder.stat().st_mode & 0o077 == 0
        (folder / "file").touch()
        raise KeyboardInterrupt
    assert tree(tmp_path) == []


def test_a_large_run_is_told_the_space_that_it_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path / "in", json_lines(made_up_documents(9)))
    sources = open_inputs([path], Settings(), tmp_path)
    monkeypatch.setattr(jobs.pipeline, "LARGE_BYTES", 100)
    for runner, is_told in [("local", True), ("inline", False)]:
        JobRunner(Run([], tmp_path, runner), Settings(), sources, tmp_path, Display()).warn_of_space()
        assert ("of temporary space are needed" in capsys.readouterr().err) == is_told


def test_mrjob_is_silent_unless_asked(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    level = logging.getLogger("mrjob").level
    try:
        for verbose in (False, True):
            find_pairs(Run([str(DATA / "articles.jsonl")], tmp_path / str(verbose), verbose=verbose), Settings(), QUIET)
            assert bool(caplog.messages) == verbose
    finally:
        logging.getLogger("mrjob").setLevel(level)
