"""A bucket of very many texts loses nothing: it is split with a gate, and refused by name without one."""

from __future__ import annotations

from itertools import combinations
from math import comb

import pytest

from jobs.gate_file import decode_gate
from jobs.mr_gate import MRGate
from jobs.mr_pairs import HotBucket, MRPairs, _reducer_keys
from jobs.records import BundlePart
from lsh_core.settings import Settings
from tests.helpers import json_lines, pairs_of_lines, run_job
from tests.oracles import brute_force_pairs
from tests.passes import file_of, options_of, run_passes

TEXT = "the quick brown fox jumps over the lazy dog " * 3
TEMPLATE = "dear {} we are glad to tell you that your order {} of {} has left our house in {} by {} today yours truly"

# Every document of a band in one bucket: all pairs are candidates.
ONE_BUCKET = Settings(bands=1, rows=1, num_buckets=1, shingle="word:1")


def letters(num_letters: int) -> dict[str, str]:
    """Texts of one template, each other than all others in one word or more."""
    kinds = (13, 11, 7, 5, 3)
    return {f"d{number:04}": TEMPLATE.format(*(f"{'abcde'[i]}{number % size}" for i, size in enumerate(kinds)))
            for number in range(num_letters)}


def test_empty() -> None:
    settings = Settings(max_bucket_docs=2)
    assert run_passes([], settings).lines == run_passes([], settings, links=True).lines == []


def test_without_a_gate_a_hot_bucket_stops_the_job() -> None:
    lines = json_lines({str(number): f"{TEXT}{number}" for number in range(3)})
    assert len(run_job(MRPairs, lines, "--max-bucket-docs", "3").pairs()) == 3
    with pytest.raises(HotBucket, match=r"more than 2 distinct texts.*mr_gate.*--max-bucket-docs"):
        run_job(MRPairs, lines, "--max-bucket-docs", "2")
    assert len(pairs_of_lines(run_passes(lines, Settings(max_bucket_docs=2)).lines)) == 3


def test_equal_texts_make_no_bucket_hot() -> None:
    lines = json_lines({**dict.fromkeys("abcdef", TEXT), "g": TEXT + "."})
    assert len(run_job(MRPairs, lines, "--max-bucket-docs", "2").pairs()) == comb(7, 2)
    gate = decode_gate(file_of(run_job(MRGate, lines, "--max-bucket-docs", "2").lines))
    assert gate.num_groups.tolist() == [1]


def test_thousands_of_one_template_give_the_pairs_of_brute_force() -> None:
    documents, settings = letters(2000), ONE_BUCKET.replace(max_bucket_docs=100)
    lines = json_lines(documents)
    gate = decode_gate(file_of(run_job(MRGate, lines, *options_of(settings)).lines))
    assert gate.num_groups.tolist() == [20]
    output = run_passes(lines, settings)
    assert output.report.counter("candidates") == comb(2000, 2)
    assert pairs_of_lines(output.lines) == brute_force_pairs(documents, 0.8, "word", 1)
    assert 10_000 < len(output.lines) < 300_000


@pytest.mark.parametrize("threshold", [0.5, 0.9])
def test_a_hot_template_under_common_settings_is_whole(threshold: float) -> None:
    lines, settings = json_lines(letters(150)), Settings(threshold=threshold)
    plain = run_job(MRPairs, lines, *options_of(settings))
    output = run_passes(lines, settings.replace(max_bucket_docs=20))
    assert output.lines == plain.lines and output.report.counter("candidates") == plain.counts["candidates"] > 0


@pytest.mark.parametrize("max_bucket_docs", [2, 4000])
def test_hundreds_of_equal_documents_are_all_paired(max_bucket_docs: int) -> None:
    doc_ids = [f"d{number}" for number in range(500)]
    lines, settings = json_lines(dict.fromkeys(doc_ids, TEXT)), Settings(max_bucket_docs=max_bucket_docs)
    output = run_passes(lines, settings)
    assert pairs_of_lines(output.lines) == dict.fromkeys(combinations(sorted(doc_ids), 2), 1.0)
    assert output.report.counter("candidates") == comb(500, 2)
    linked = run_passes(lines, settings, links=True)
    assert pairs_of_lines(linked.lines) == {("d0", other): 1.0 for other in doc_ids[1:]}


def test_equal_documents_of_a_hot_bundle_are_paired_once() -> None:
    # Each of 30 texts is that of three documents.
    documents = {f"{doc_id}{copy}": text for doc_id, text in letters(30).items() for copy in "abc"}
    settings = ONE_BUCKET.replace(max_bucket_docs=4)
    output = run_passes(json_lines(documents), settings)
    assert pairs_of_lines(output.lines) == brute_force_pairs(documents, 0.8, "word", 1)
    assert output.report.counter("candidates") == comb(90, 2)


def test_a_chain_of_small_buckets_is_taken_apart() -> None:
    # Documents with their neighbor's text at the end: many small buckets hold on to each other.
    words = [f"a{number} b{number} c{number} d{number}" for number in range(120)]
    documents = {f"d{number:03}": f"{words[number]} {words[number + 1]}" for number in range(119)}
    settings = Settings(threshold=0.3, bands=20, rows=1, shingle="word:1", max_bucket_docs=10)
    gate = decode_gate(file_of(run_job(MRGate, json_lines(documents), *options_of(settings)).lines))
    assert gate.num_groups.tolist() == [1] * len(gate.keys) and len(set(gate.bundles.tolist())) == len(gate.keys)
    plain = run_job(MRPairs, json_lines(documents), *options_of(settings.replace(max_bucket_docs=4000)))
    assert run_passes(json_lines(documents), settings).lines == plain.lines != []


@pytest.mark.parametrize("num_groups", [1, 2, 3, 7])
def test_each_two_texts_of_a_hot_bundle_meet_once(num_groups: int) -> None:
    texts = [str(number).encode() for number in range(40)]
    keys_of = {text: [BundlePart.decode(key) for key in _reducer_keys((5, num_groups), text)] for text in texts}
    group_of = {}
    for text, parts in keys_of.items():
        # A text goes to every group's part with its own, and once to its own alone.
        assert len(parts) == len(set(parts)) == num_groups
        (group_of[text],) = (part.i for part in parts if part.i == part.j)
    for a, b in combinations(texts, 2):
        shared = set(keys_of[a]) & set(keys_of[b])
        i, j = sorted((group_of[a], group_of[b]))
        checked = [part for part in shared if (part.i, part.j) == (i, j)]
        assert len(checked) == 1
    assert len(set(group_of.values())) == num_groups
