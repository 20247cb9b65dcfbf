"""One id of several texts: refused by name before the second pass, or numbered; a copy is neither."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.errors import InputError
from jobs.job_runner import Run
from jobs.pipeline import find_pairs
from lsh_core.settings import Settings
from tests.helpers import Pairs, lookalike, made_up_documents, pairs_of_lines, read_pairs, read_run, tree
from tests.oracles import brute_force_pairs, normalize
from tests.passes import QUIET, run_passes, written

TEXT = "the quick brown fox jumps over the lazy dog"
# Nothing is left to chance: all documents share their one bucket.
ONE_BUCKET = Settings(bands=1, rows=1, num_buckets=1)

Documents = list[tuple[str, str]]


def lines_of(documents: Documents) -> list[bytes]:
    return [json.dumps({"id": doc_id, "text": text}).encode() for doc_id, text in documents]


def numbered(documents: Documents) -> dict[str, str]:
    """Each document once, and the ids of several texts with the hash of theirs."""
    distinct = {(doc_id, normalize(text)) for doc_id, text in documents}
    doc_ids = [doc_id for doc_id, _ in distinct]
    return {doc_id if doc_ids.count(doc_id) == 1 else f"{doc_id}~{hashlib.blake2b(text.encode()).hexdigest()[:8]}": text
            for doc_id, text in distinct}


def pairs_of(documents: Documents, settings: Settings = ONE_BUCKET) -> Pairs:
    """The pairs that a run with numbers finds."""
    return pairs_of_lines(run_passes(lines_of(documents), settings, duplicate_ids="number").lines)


def test_empty() -> None:
    assert pairs_of([]) == {}


REPEATED = [("a", TEXT), ("b", TEXT + "."), ("c", "else"), ("b", TEXT), ("a", TEXT), ("d", "x"), ("d", "y"), ("b", "z")]


def test_repeated_ids_are_refused_before_the_second_pass(tmp_path: Path) -> None:
    first, second = written(tmp_path / "one", lines_of(REPEATED[:3])), written(tmp_path / "two", lines_of(REPEATED[3:]))
    run = Run([first, second], tmp_path / "out")
    with pytest.raises(InputError) as refusal:
        find_pairs(run, Settings(), QUIET)
    assert str(refusal.value) == (
        f"{first}:2: repeated id: 'b' stands for more than one text (2 ids stand for more than one text; "
        "--duplicate-ids number would make them id~<hash of the text>)")
    assert tree(tmp_path) == ["one", "two"]


def test_the_command_line_names_the_places_and_the_way_out(tmp_path: Path) -> None:
    path = written(tmp_path / "in.jsonl", lines_of(REPEATED))
    outcome = lookalike("pairs", path, "--out", tmp_path / "out")
    assert outcome.exit_code == 2 and outcome.stdout == ""
    for number in (2, 4, 6, 7, 8):
        doc_id = REPEATED[number - 1][0]
        assert f"{path}:{number}: repeated id: {doc_id!r} stands for more than one text\n" in outcome.stderr
    assert "--duplicate-ids number" in outcome.stderr.splitlines()[-1]
    assert tree(tmp_path) == ["in.jsonl"]
    assert lookalike("pairs", path, "--out", tmp_path / "out", "--duplicate-ids", "number", "-q").exit_code == 0
    assert set(read_pairs(tmp_path / "out")) <= set(brute_force_pairs(numbered(REPEATED), 0.8))
    told = read_run(tmp_path / "out")
    assert (told["input"]["documents"], told["input"]["copies"]) == (7, 1)
    assert told["steps"][0]["counters"]["repeated_ids"] == 2


def test_numbered_ids_have_the_hash_of_their_text() -> None:
    found = pairs_of([("x", TEXT), ("x", TEXT + "!"), ("y", TEXT + "?")])
    ends = ["x~" + hashlib.blake2b(text.encode()).hexdigest()[:8] for text in (TEXT, TEXT + "!")]
    assert set(found) == {(min(ends), max(ends)), (ends[0], "y"), (ends[1], "y")}


TEXTS = (TEXT, TEXT + ".", f" {TEXT}  ", TEXT + "!!", TEXT[9:], "else")


@given(st.lists(st.tuples(st.sampled_from(["a", "b", "é", "a~00000000"]), st.sampled_from(TEXTS)), max_size=10))
@settings(max_examples=15)
def test_pairs_of_numbered_ids_are_those_of_brute_force(documents: Documents) -> None:
    assert pairs_of(documents) == brute_force_pairs(numbered(documents), 0.8)


@pytest.mark.parametrize("runner", ["inline", "local"])
def test_near_duplicates_under_few_ids_are_told_apart(runner: str) -> None:
    texts = list(made_up_documents(120, num_words=20).values())
    documents = [(f"d{number % 40}", text) for number, text in enumerate(texts)]
    settings = Settings(threshold=0.6, recall=0.9999, max_functions=400, max_bucket_docs=3)
    truth = brute_force_pairs(numbered(documents), 0.6)
    output = run_passes(lines_of(documents), settings, runner, duplicate_ids="number")
    assert set(pairs_of_lines(output.lines)) == set(truth) and len(truth) > 30
    assert output.report.counter("repeated_ids") > 30


def test_links_have_numbered_ids_too() -> None:
    output = run_passes(lines_of([("x", TEXT), ("x", TEXT + "!"), ("x", TEXT)]), ONE_BUCKET, links=True,
                        duplicate_ids="number")
    assert set(pairs_of_lines(output.lines)) == set(pairs_of([("x", TEXT), ("x", TEXT + "!")]))
    assert len(output.lines) == 1


@pytest.mark.parametrize("duplicate_ids", ["refuse", "number"])
def test_equal_id_and_text_are_copies(duplicate_ids: str) -> None:
    documents = [("a", TEXT), ("b", TEXT), ("a", TEXT), ("a", f"  {TEXT} "), ("b", TEXT)]
    output = run_passes(lines_of(documents), Settings(), duplicate_ids=duplicate_ids)
    assert pairs_of_lines(output.lines) == {("a", "b"): 1.0}
    counts = {name: output.report.counter(name) for name in ("documents", "copies", "repeated_ids")}
    assert counts == {"documents": 2, "copies": 3, "repeated_ids": 0}


@pytest.mark.parametrize("duplicate_ids", ["refuse", "number"])
def test_without_ids_equal_texts_are_copies(duplicate_ids: str) -> None:
    lines = [json.dumps({"text": text}).encode() for text in (TEXT, TEXT, TEXT + "!", " " + TEXT)]
    settings = Settings(bands=1, rows=1, num_buckets=1, id_field=None)
    output = run_passes(lines, settings, duplicate_ids=duplicate_ids)
    doc_ids = [hashlib.blake2b(text.encode()).hexdigest()[:32] for text in (TEXT, TEXT + "!")]
    assert list(pairs_of_lines(output.lines)) == [tuple(sorted(doc_ids))]
    counts = {name: output.report.counter(name) for name in ("documents", "copies", "repeated_ids")}
    assert counts == {"documents": 2, "copies": 2, "repeated_ids": 0}
