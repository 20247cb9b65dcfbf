"""The main job against brute force: every pair is right, is there once, and as many as promised are there."""

from __future__ import annotations

import io
import json
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from jobs.lean_mrjob import BytesProtocol, BytesValueProtocol
from jobs.mr_pairs import MRPairs
from lsh_core.document import read_documents
from lsh_core.settings import Settings
from lsh_core.stop_words import ENGLISH_STOP_WORDS
from tests.helpers import DATA, Pairs, assert_as_promised, json_lines, made_up_documents, run_job
from tests.oracles import brute_force_pairs, similar_pairs
from tests.passes import options_of, write_gate_of

TEXT = "the quick brown fox jumps over the lazy dog"


def oracle_pairs(documents: dict[str, str], settings: Settings) -> Pairs:
    return brute_force_pairs(
        documents, settings.threshold, settings.shingle_kind, settings.shingle_size, form=settings.unicode_form,
        case=settings.case, punctuation=settings.punctuation, white_space=settings.white_space,
        stop_words=settings.stop_words)


def articles() -> dict[str, str]:
    lines = map(json.loads, (DATA / "articles.jsonl").read_bytes().splitlines())
    return {line["id"]: line["text"] for line in lines}


def test_empty() -> None:
    assert run_job(MRPairs, []) == run_job(MRPairs, [], "--links") == ([], {})


def test_empty_with_a_gate(tmp_path: Path) -> None:
    gate = write_gate_of([], tmp_path / "gate", Settings())
    assert run_job(MRPairs, [], "--gate", gate) == ([], {})
    # Documents that no key brings together are not sent anywhere.
    lines = json_lines({"x": TEXT, "y": "another text"})
    gate = write_gate_of(lines, tmp_path / "gate", Settings())
    output = run_job(MRPairs, lines, "--gate", gate)
    assert (output.lines, output.counts["lines"], output.counts["shuffle_bytes"]) == ([], 2, 0)


@pytest.mark.parametrize("values", [
    {},
    {"threshold": 0.5, "recall": 0.99},
    {"threshold": 1.0},
    {"threshold": 0.6, "shingle": "word:2", "recall": 0.9},
    {"threshold": 0.7, "shingle": "char:3", "minhash": "linear", "shingle_bits": 32},
    {"threshold": 0.6, "case": "fold", "punctuation": "drop", "stop_words": ENGLISH_STOP_WORDS},
    {"threshold": 0.6, "white_space": "keep", "unicode_form": "NFKC"},
    {"threshold": 0.8, "bands": 4, "rows": 6, "seed": 99},
    {"threshold": 0.8, "num_buckets": 50},
], ids=lambda values: ",".join(values) or "default")
def test_pairs_of_articles_are_those_of_brute_force(values: dict[str, Any]) -> None:
    settings, documents = Settings(**values), articles()
    output = run_job(MRPairs, json_lines(documents), *options_of(settings))
    truth = oracle_pairs(documents, settings)
    assert len(truth) >= 5
    assert_as_promised(output.pairs(), truth, settings)
    assert output.counts["lines"] == len(documents)
    assert output.counts["candidates"] >= len(output.lines)


@pytest.mark.parametrize(("num_documents", "num_words", "threshold"), [
    (200, 100, 0.5), (700, 30, 0.9), pytest.param(2000, 15, 0.8, marks=pytest.mark.slow)])
def test_pairs_of_made_up_texts_are_those_of_brute_force(
    num_documents: int, num_words: int, threshold: float
) -> None:
    settings, documents = Settings(threshold=threshold), made_up_documents(num_documents, 1, num_words)
    truth = oracle_pairs(documents, settings)
    assert len(truth) > num_documents / 4
    assert_as_promised(run_job(MRPairs, json_lines(documents), *options_of(settings)).pairs(), truth, settings)


def test_more_recall_finds_every_pair() -> None:
    settings, documents = Settings(recall=0.9999, max_functions=400), made_up_documents(500, seed=5)
    output = run_job(MRPairs, json_lines(documents), *options_of(settings))
    assert set(output.pairs()) == set(oracle_pairs(documents, settings))


ODD_IDS = (
    "plain", "tab\tid", "line\nid", "return\rid", 'quo"te', "back\\slash", "\0", " spaces ", "é", "e\u0301",
    "\u2028", "\x85", "\ufeff", "\uffff", "\U0001f600", "\U0010ffff", "true", '{"counts": {}}', "10", "9", "-1",
)


def test_ids_of_any_characters_are_kept_and_ordered_by_code_point() -> None:
    output = run_job(MRPairs, json_lines(dict.fromkeys(ODD_IDS, TEXT)))
    assert output.pairs() == dict.fromkeys(combinations(sorted(ODD_IDS), 2), 1.0)
    # In UTF-16 the first of these two would be the greater.
    assert ("\uffff", "\U0001f600") in output.pairs()


def test_integers_are_ids_by_their_decimal_text() -> None:
    lines = [json.dumps({"id": doc_id, "text": TEXT}).encode() for doc_id in (10, 9, "9", 0, -7, 10**30)]
    output = run_job(MRPairs, lines)
    assert set(output.pairs()) == set(combinations(sorted(["10", "9", "0", "-7", str(10**30)]), 2))
    assert len(output.lines) == 10


def test_copies_are_one_document() -> None:
    documents = made_up_documents(60)
    once = run_job(MRPairs, json_lines(documents))
    thrice = run_job(MRPairs, json_lines(documents) * 3)
    assert thrice.lines == once.lines
    assert thrice.counts["candidates"] == once.counts["candidates"]
    assert (once.counts["lines"], thrice.counts["lines"]) == (60, 180)


def test_rejected_lines_are_counted_by_reason() -> None:
    lines = json_lines(made_up_documents(20))
    counts = run_job(MRPairs, [*lines, *lines[:7], b"{", b""]).counts
    assert (counts["lines"], counts["rejected"]) == (29, 2)
    assert (counts["rejected: not JSON"], counts["rejected: empty"]) == (1, 1)


def test_one_id_with_several_texts_is_no_pair() -> None:
    lines = [json.dumps({"id": "x", "text": TEXT + end}).encode() for end in ("", ".", "!")]
    output = run_job(MRPairs, lines, "--recall", "0.9999")
    assert (output.lines, output.counts["same_id"]) == ([], 3)


@pytest.mark.parametrize("texts", [(TEXT, TEXT + ".", TEXT + "!"), ("an" * 20, "an" * 30)], ids=["near", "one class"])
def test_one_id_with_several_texts_is_no_link(texts: tuple[str, ...]) -> None:
    lines = [json.dumps({"id": "x", "text": text}).encode() for text in texts]
    assert run_job(MRPairs, lines, "--recall", "0.9999", "--links").lines == []


@pytest.mark.parametrize(("format", "line"), [
    ("jsonl", '{{"other": 1, "id": "{id}", "text": "{text}"}}'), ("tsv", "{id}\t{text}"), ("text", "{id} {text}")])
def test_formats_of_text_give_the_same_pairs(format: str, line: str) -> None:
    documents = made_up_documents(200)
    lines = [line.format(id=doc_id, text=text).encode() for doc_id, text in documents.items()]
    output = run_job(MRPairs, lines, "--format", format)
    assert output.lines == run_job(MRPairs, json_lines(documents)).lines != []


def test_shingled_lines_are_sets_of_integers() -> None:
    sets = {doc_id: {hash_of(word) for word in text.split()} for doc_id, text in made_up_documents(200).items()}
    lines = [" ".join([doc_id, *map(str, members)]).encode() for doc_id, members in sets.items()]
    settings = Settings(format="shingled", threshold=0.7)
    output = run_job(MRPairs, lines, *options_of(settings))
    assert_as_promised(output.pairs(), similar_pairs(sets, 0.7), settings)


def hash_of(word: str) -> int:
    """Some number of 64 bits."""
    return int.from_bytes(word.encode()[-8:], "big")


def test_without_ids_equal_texts_are_copies() -> None:
    texts = [TEXT, TEXT + ".", "  " + TEXT, TEXT]
    output = run_job(MRPairs, [json.dumps({"id": 5.5, "text": text}).encode() for text in texts], "--no-id")
    doc_ids = sorted(set(read_documents(json_lines(dict(enumerate(texts))), Settings(id_field=None)).doc_ids))
    assert [len(doc_id) for doc_id in doc_ids] == [32, 32]
    assert list(output.pairs()) == [tuple(doc_ids)]
    assert output.counts["candidates"] == 1


def test_protocols_are_pinned_to_bytes() -> None:
    job = MRPairs([])
    assert [type(protocol) for protocol in (job.input_protocol(), job.internal_protocol(), job.output_protocol())] == [
        BytesValueProtocol, BytesProtocol, BytesValueProtocol]


def test_the_mapper_sends_each_document_to_each_of_its_buckets() -> None:
    job = MRPairs(["--bands", "5", "--rows", "2"])
    job.sandbox(stdin=io.BytesIO(b'{"id": "a\\tb", "text": "some\\n  text"}\n'))
    job.run_mapper(0)
    records = [line.split(b"\t") for line in job.stdout.getvalue().splitlines()]
    keys = [key for key, *_ in records]
    assert keys == sorted(set(keys)) and [len(key) for key in keys] == [16] * 5
    assert [value for _, *value in records] == [
        [b'"a\\tb"', keys[i], b"".join(keys[:i]), b"some text"] for i in range(5)]
