"""Tables, ratios and reports of the benchmark add up."""

from __future__ import annotations

import json

import pytest

from benchmarks import bench, growth, plot
from benchmarks.corpora import Corpus
from benchmarks.results import Outcome, Row, finished, ratios, read_outcome, wrong_pairs
from benchmarks.texts import jaccard, read_pairs, write_pairs
from tests.helpers import json_lines
from tests.test_benchmarks import DOCUMENTS, contender


@pytest.fixture(scope="module")
def corpus(tmp_path_factory) -> Corpus:
    path = tmp_path_factory.mktemp("bench") / "tiny.jsonl"
    path.write_bytes(b"\n".join(json_lines(DOCUMENTS)) + b"\n")
    return Corpus("tiny", path)


def row(name: str, *seconds: float, recall: float = 1.0, shuffle_bytes=None) -> Row:
    found = Row.of(contender(name))
    found.runs = [{"seconds": run, "cpu_seconds": run, "peak_mb": 10 * run} for run in seconds]
    found.outcome = Outcome(5, recall, shuffle_bytes)
    return found


ROWS = [row("lookalike", 5, 2, 1, shuffle_bytes=50), row("prototype", 4), row("gaoya", 3, recall=0.9),
        row("rensa", 8), row("datasketch", 20), row("rensa-by-hand", 6), row("floor-lean", 1)]


def test_a_row_has_the_median_of_its_seconds_and_its_largest_peak():
    assert (ROWS[0].seconds, ROWS[0].peak_mb) == (2, 50)
    assert [found.name for found in finished(ROWS)][:2] == ["floor-lean", "lookalike"]


def test_ratios():
    assert list(ratios(ROWS, corpus_bytes=100).values()) == [2 / 1, 2 / 4, 6 / 2, 8 / 2, 50 / 100]
    assert list(ratios(ROWS, 100))[3] == "best peer as documented with recall of 0.98 or more (rensa) / Lookalike"
    assert ratios(ROWS[1:], 100) == {}


def test_the_table_and_the_lines(corpus, capsys):
    bench.show([(corpus, ROWS, 5)])
    said = capsys.readouterr().out
    assert "tiny: 158 documents" in said
    lines = [line.replace("│", "").split() for line in said.splitlines()]
    assert ["gaoya", "(1", "of", "3", "runs)", "3.00", "1.50", "30", "5", "0.9000"] in lines
    assert "tiny: Lookalike / prototype = 0.50" in said


def test_what_is_not_true_is_an_error(tmp_path):
    truth = {("a", "b"): 0.9, ("a", "c"): 0.8}
    (tmp_path / "pairs.jsonl").write_text(
        '{"a": "b", "b": "a", "similarity": 0.9}\n{"a": "b", "b": "c", "similarity": 0.95}\n')
    outcome = read_outcome(tmp_path, truth, is_checked=True)
    assert (outcome.num_pairs, outcome.recall) == (2, 0.5)
    assert len(outcome.wrong_pairs) == 1 and "('b', 'c')" in outcome.wrong_pairs[0]
    assert read_outcome(tmp_path, truth, is_checked=False).wrong_pairs == []
    assert len(wrong_pairs({("a", "b"): 0.91}, truth)) == 1
    found = row("gaoya", 1)
    found.outcome = outcome
    assert bench.problems_of([found]) == ["gaoya: 1 of its pairs are WRONG"]


def test_pairs_are_written_as_they_are_read(tmp_path):
    write_pairs(tmp_path / "pairs", ["b", 'a"é'], [(0, 1, 1 / 3)])
    assert read_pairs(tmp_path / "pairs") == {('a"é', "b"): 1 / 3}
    assert jaccard({"1", "2"}, {"2", "3"}) == 1 / 3


# Reports


def test_a_report_is_what_the_plot_reads(corpus, tmp_path):
    (tmp_path / "tiny.json").write_text(json.dumps(bench.report(corpus, ROWS, 5)))
    (tmp_path / "growth.json").write_text(json.dumps({"cases": []}))
    reports = plot.read_results(tmp_path)
    assert [label for label, _, _ in plot.bars_of(reports[0])][-1] == "datasketch (recall 1.000)"
    assert [ratio for _, ratio, _ in plot.bars_of(reports[0])] == [0.5, 1, 1.5, 2, 3, 4, 10]
    pytest.importorskip("matplotlib")
    plot.draw(reports, tmp_path / "ratios.png")
    assert (tmp_path / "ratios.png").read_bytes().startswith(b"\x89PNG")


def test_the_cases_of_growth():
    cases = growth.cases_of([10, 100], 100_000)
    assert [case.sample_options for case in cases] == [
        ("--docs", 10), ("--docs", 100), ("--docs", 100_000, "--template", 3000),
        ("--docs", 100_000, "--template", 30_000, "--equal", 20_000)]
    assert [(case.is_links, case.has_truth) for case in cases] == [(False, False), (False, False), (False, True),
                                                                   (True, False)]
    assert len(growth.cases_of([10], 0)) == 1
