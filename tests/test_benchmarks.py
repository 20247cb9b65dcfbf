"""The benchmark measures what it says: the truth is all of it, and finders report nothing else."""

from __future__ import annotations

import doctest
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest

from benchmarks import bench
from benchmarks.contenders import CONTENDERS, FLOOR, REPOSITORY
from benchmarks.corpora import Corpus
from benchmarks.finders import FINDERS
from benchmarks.measure import measured
from benchmarks.results import Outcome, finished, wrong_pairs
from benchmarks.texts import THRESHOLD, prepared, read_documents, read_pairs, shingle_set
from benchmarks.truth import exact_pairs
from tests.helpers import json_lines, made_up_documents
from tests.oracles import brute_force_pairs, normalize, shingles

ODD_TEXTS = {"empty": " \t ", "x1": "ab", "x2": "ab ", "x3": "abc", "x4": "e\u0301t\u00e9 \0 la plage",
             "x5": "\u00e9t\u00e9 la plage", "x6": "Ŧa to be or not to be", "x7": "fb to be or not to be"}
DOCUMENTS = {**made_up_documents(150), **ODD_TEXTS}
TRUE_PAIRS = brute_force_pairs(DOCUMENTS, THRESHOLD)
NEEDS = {"rensa": "rensa", "gaoya": "gaoya", "datasketch": "datasketch", "set": "SetSimilaritySearch"}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory) -> Corpus:
    path = tmp_path_factory.mktemp("bench") / "tiny.jsonl"
    path.write_bytes(b"\n".join(json_lines(DOCUMENTS)) + b"\n")
    return Corpus("tiny", path)


def contender(name: str):
    return next(found for found in CONTENDERS if found.name == name)


@pytest.mark.parametrize("name", ["texts", "arrays", "results"])
def test_doctests(name):
    outcome = doctest.testmod(import_module(f"benchmarks.{name}"))
    assert outcome.attempted and not outcome.failed


@pytest.mark.parametrize("doc_id", ["d00000", *ODD_TEXTS])
def test_texts_are_prepared_by_the_rule_of_the_program(doc_id):
    assert prepared(DOCUMENTS[doc_id]) == normalize(DOCUMENTS[doc_id])
    assert shingle_set(prepared(DOCUMENTS[doc_id])) - {""} == shingles(normalize(DOCUMENTS[doc_id]))


# Truth


@pytest.mark.parametrize("threshold", [0.5, THRESHOLD, 1.0])
def test_the_truth_is_every_pair_and_nothing_else(corpus, threshold):
    assert len(TRUE_PAIRS) > 20
    ids, texts = read_documents(corpus.path)
    found = {tuple(sorted((ids[a], ids[b]))): similarity for a, b, similarity in exact_pairs(texts, threshold)}
    assert found == brute_force_pairs(DOCUMENTS, threshold)


def test_a_corpus_without_pairs_has_an_empty_truth():
    assert list(exact_pairs([])) == []
    assert list(exact_pairs(["one text alone"])) == []


# Finders


@pytest.mark.parametrize("name", FINDERS)
def test_a_peer_reports_only_true_pairs(corpus, tmp_path, name):
    pytest.importorskip(NEEDS[name.partition("-")[0]])
    FINDERS[name](corpus.path, tmp_path / "pairs.jsonl")
    found = read_pairs(tmp_path / "pairs.jsonl")
    if name == "rensa-candidates":
        assert len(found.keys() & TRUE_PAIRS.keys()) >= 0.8 * len(TRUE_PAIRS)
        return
    assert wrong_pairs(found, TRUE_PAIRS) == []
    assert len(found) >= (1 if name == "set-similarity-search" else 0.7) * len(TRUE_PAIRS)


@pytest.mark.parametrize("name", FINDERS)
def test_a_peer_finds_nothing_in_nothing(tmp_path, name):
    pytest.importorskip(NEEDS[name.partition("-")[0]])
    (tmp_path / "empty.jsonl").touch()
    FINDERS[name](tmp_path / "empty.jsonl", tmp_path / "pairs.jsonl")
    assert read_pairs(tmp_path / "pairs.jsonl") == {}


def test_a_check_by_hash_table_counts_as_sets_do():
    from benchmarks.arrays import SharedCounter, distinct, window_batches

    texts = [prepared(text) for text in DOCUMENTS.values() if prepared(text)]
    sets = {row: distinct(hashes) for windows in window_batches(texts) for row, hashes in windows.by_text()}
    # So small a table that many places are wanted more than once.
    counter = SharedCounter(1)
    for row in range(0, len(texts), 10):
        told = counter.shared(sets[row], [sets[other] for other in range(len(texts))])
        assert told.tolist() == [len(shingle_set(texts[row]) & shingle_set(text)) for text in texts]


# Measurements


def test_a_process_is_measured_without_the_one_that_starts_it():
    ballast = bytearray(100 << 20)
    nothing = measured([sys.executable, "-S", "-c", "pass"], str(REPOSITORY), "/dev/null")
    assert len(ballast) > nothing["peak_mb"] * 2**20
    assert nothing["exit_code"] == 0


def test_processes_below_are_measured_too(tmp_path):
    child = "import sys; data = bytearray(90 << 20); sys.exit(3)"
    parent = f"import subprocess, sys; sys.exit(subprocess.call([sys.executable, '-c', {child!r}]))"
    told = measured([sys.executable, "-c", parent], str(REPOSITORY), str(tmp_path / "log"))
    assert told["peak_mb"] > 90
    assert told["exit_code"] == 3
    assert told["seconds"] > 0 and told["cpu_seconds"] > 0


@pytest.mark.slow
def test_rows_of_lookalike_and_of_the_floor(corpus):
    contenders = [contender("lookalike-inline"), contender("floor-lean")]
    lookalike, floor = bench.run_all(corpus, contenders, TRUE_PAIRS, num_runs=2, slow_seconds=60)
    assert [len(row.runs) for row in (lookalike, floor)] == [2, 2]
    assert lookalike.outcome.num_pairs == round(lookalike.outcome.recall * len(TRUE_PAIRS))
    assert lookalike.outcome.recall > 0.9
    assert lookalike.outcome.shuffle_bytes > 0
    assert floor.kind == FLOOR and floor.outcome == Outcome()
    assert bench.problems_of([lookalike, floor]) == []


def test_a_finder_that_fails_is_a_problem_with_its_last_words(corpus):
    failing = replace(contender("gaoya"), needs=None, command=lambda corpus, out: [
        sys.executable, "-c", "import sys; sys.exit('no luck')"])
    rows = bench.run_all(corpus, [failing], TRUE_PAIRS, num_runs=2, slow_seconds=60)
    assert bench.problems_of(rows) == ["gaoya: FAILED with code 1, saying no luck"]
    assert finished(rows) == []


def test_a_finder_that_is_slow_or_needs_one_run_has_one(corpus):
    idle = [replace(contender(name), needs=None, command=lambda corpus, out: [sys.executable, "-S", "-c", "pass"])
            for name in ("gaoya", "set-similarity-search")]
    slow, once = bench.run_all(corpus, idle, TRUE_PAIRS, num_runs=2, slow_seconds=0)
    assert len(slow.runs) == len(once.runs) == 1
    fast, once = bench.run_all(corpus, idle, TRUE_PAIRS, num_runs=2, slow_seconds=60)
    assert (len(fast.runs), len(once.runs)) == (2, 1)


def test_what_cannot_run_is_skipped_with_a_word(corpus, capsys):
    absent = replace(contender("rensa"), needs="no_such_module")
    large = replace(contender("set-similarity-search"), needs=None, max_corpus_bytes=10)
    assert bench.run_all(corpus, [absent, large], TRUE_PAIRS, num_runs=1, slow_seconds=60) == []
    said = capsys.readouterr().err
    assert "rensa is skipped: no_such_module is not installed" in said
    assert "SetSimilaritySearch, exact is skipped: too much memory" in said


def test_the_program_imports_no_peer():
    peers = {"rensa", "gaoya", "datasketch", "SetSimilaritySearch", "text_dedup", "datatrove", "matplotlib",
             "benchmarks"}
    for path in [*(REPOSITORY / "jobs").glob("*.py"), *(REPOSITORY / "lsh_core").glob("*.py")]:
        words = [line.split()[1].partition(".")[0] for line in path.read_text().splitlines()
                 if line.strip().startswith(("import ", "from "))]
        assert not peers & set(words), path


def test_every_finder_is_in_the_table():
    commands = [" ".join(found.command(Path("in"), Path("out"))) for found in CONTENDERS]
    assert all(any(f"benchmarks.finders {name} " in command for command in commands) for name in FINDERS)
