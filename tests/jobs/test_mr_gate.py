"""The first pass against Python sets: documents, copies, repeated ids, and keys that bring documents together."""

from __future__ import annotations

import io
import json
import tempfile
from collections import Counter, defaultdict
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import jobs.gate_file
from jobs.gate_file import decode_gate, decode_ids
from jobs.mr_gate import MRGate
from jobs.records import decode_counts, unpack_numbers
from lsh_core.banding import document_keys
from lsh_core.hashing import digest64
from lsh_core.settings import Settings
from tests.helpers import DATA, LOCAL, JobOutput, json_lines, made_up_documents, run_job
from tests.oracles import buckets, normalize
from tests.passes import file_of, options_of, written
from tests.strategies import corpora

FEW_BANDS = Settings(bands=5, rows=2, shingle="char:2")

# Few ids and texts, so that all of them meet; some texts are equal only once they are normalized.
TEXTS = ("some text", " some  text", "some text.", "x", "é", "e\u0301", "another")
Documents = list[tuple[str, str]]
documents = st.lists(st.tuples(st.sampled_from(["a", "b", "é", "10"]), st.sampled_from(TEXTS)), max_size=15)


def lines_of(documents: Documents) -> list[bytes]:
    return [json.dumps({"id": doc_id, "text": text}).encode() for doc_id, text in documents]


def run_split(lines: list[bytes], cuts: list[int], num_cores: int, *options: str) -> JobOutput:
    """Run the job on lines that are cut into files at the given numbers."""
    bounds = [0, *sorted(cut % (len(lines) + 1) for cut in cuts), len(lines)]
    with tempfile.TemporaryDirectory() as folder:
        paths = [written(Path(folder) / f"{number}.jsonl", lines[start:end])
                 for number, (start, end) in enumerate(zip(bounds, bounds[1:]))]
        return run_job(MRGate, [], "--num-cores", str(num_cores), *options_of(FEW_BANDS), *options, *paths)


def told_by(output: JobOutput) -> JobOutput:
    """All but the bytes shuffled: each task packs its own records."""
    return output._replace(counts={name: n for name, n in output.counts.items() if name != "shuffle_bytes"})


def map_lines(lines: list[bytes], *options: str) -> tuple[list[bytes], dict[str, int]]:
    """What one mapper writes, and its counts."""
    job = MRGate([*options, "--counts"])
    job.sandbox(stdin=io.BytesIO(b"".join(line + b"\n" for line in lines)))
    job.run_mapper(0)
    *records, counts = job.stdout.getvalue().split(b"\n")[:-1]
    return records, decode_counts(counts.partition(b"\t")[2]) or {}


@pytest.mark.parametrize("num_shards", ["1", "3", "100"])
def test_empty(num_shards: str) -> None:
    assert run_job(MRGate, [], "--num-shards", num_shards) == ([], {})


@given(documents, st.lists(st.integers(0, 20), max_size=3), st.integers(1, 4), st.integers(1, 16))
@settings(max_examples=25)
def test_documents_copies_and_repeated_ids_are_those_of_sets(
    documents: Documents, cuts: list[int], num_cores: int, num_shards: int
) -> None:
    bad = [b"{", b""][: len(cuts)]
    output = run_split([*bad, *lines_of(documents)], cuts, num_cores, "--num-shards", str(num_shards))
    distinct = {(doc_id, normalize(text)) for doc_id, text in documents}
    doc_ids = [doc_id for doc_id, _ in distinct]
    repeated = {doc_id for doc_id in doc_ids if doc_ids.count(doc_id) > 1}
    counts = {name: output.counts.get(name, 0) for name in ("documents", "copies", "repeated_ids", "rejected", "lines")}
    assert counts == {"documents": len(distinct), "copies": len(documents) - len(distinct),
                      "repeated_ids": len(repeated), "rejected": len(bad), "lines": len(documents) + len(bad)}
    copied = {doc_id for (doc_id, _), num in Counter((i, normalize(text)) for i, text in documents).items() if num > 1}
    assert [digests.tolist() for digests in decode_ids(file_of(output.lines))] == [
        sorted(digest64(doc_id.encode()) for doc_id in doc_ids) for doc_ids in (repeated, copied)]


@given(corpora, st.lists(st.integers(0, 20), max_size=3), st.integers(1, 4), st.integers(1, 16))
@settings(max_examples=20)
def test_documents_that_share_a_key_share_one_that_is_kept(
    texts: list[str], cuts: list[int], num_cores: int, num_shards: int
) -> None:
    documents = {f"i{number}": text for number, text in enumerate(texts) if normalize(text)}
    keys_of = {doc_id: set(document_keys(text, FEW_BANDS).tolist()) for doc_id, text in documents.items()}
    options = ("--num-shards", str(num_shards))
    output = run_split(json_lines(documents), cuts, num_cores, *options)
    gate = decode_gate(file_of(output.lines))
    kept = set(gate.keys.tolist())
    shared = {key for key, members in buckets(keys_of).items() if len(members) > 1}
    assert kept <= shared and gate.num_groups.all()
    # It tells of each line its kept keys.
    assert list(zip(gate.members.tolist(), gate.member_keys.tolist())) == sorted({
        (digest64(json_lines({doc_id: documents[doc_id]})[0]), key)
        for doc_id, keys in keys_of.items() for key in keys & kept})
    for a, b in combinations(keys_of, 2):
        assert bool(keys_of[a] & keys_of[b]) == bool(keys_of[a] & keys_of[b] & kept)
    # The gate does not tell how its input was cut.
    assert told_by(output) == told_by(run_split(json_lines(documents), [], 1, *options))


def test_one_key_is_kept_for_equal_texts() -> None:
    lines = json_lines(dict.fromkeys("abcdefg", "some text"))
    output = run_job(MRGate, lines)
    gate = decode_gate(file_of(output.lines))
    assert len(gate.keys) == 1 and gate.keys.tolist() == gate.bundles.tolist() and gate.num_groups.tolist() == [1]
    assert gate.members.tolist() == sorted(map(digest64, lines)) and set(gate.member_keys) == set(gate.keys)


def test_without_ids_equal_texts_are_copies_and_never_repeated() -> None:
    output = run_job(MRGate, lines_of([("a", "x"), ("a", "y"), ("b", " x"), ("c", "x")]), "--no-id")
    assert (output.counts["documents"], output.counts["copies"], output.counts["repeated_ids"]) == (2, 2, 0)


def test_lines_are_cut_and_are_ascii() -> None:
    num_texts = jobs.gate_file.NUMBERS_OF_LINE // 3 + 2000
    # Each text twice keeps a key of its own; each id stands for two texts.
    lines = [b"%d\t%d" % (number, (number + shift) % num_texts) for number in range(num_texts) for shift in (0, 1)]
    output = run_job(MRGate, lines, "--format", "tsv", "--shingle", "word:1", "--bands", "1", "--rows", "3")
    gate, (repeated, _) = decode_gate(file_of(output.lines)), decode_ids(file_of(output.lines))
    assert len(gate.keys) == len(repeated) == output.counts["repeated_ids"] == num_texts == len(gate.members) / 2
    assert len(output.lines) == 5 and all(line.isascii() for line in output.lines)
    assert 900_000 < max(map(len, output.lines)) < 1 << 20


def test_the_number_of_lines_does_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    others = [("d00001", "x"), ("d00002", "x"), ("d00003", "x"), ("d00003", "x")]
    lines = lines_of([*made_up_documents(200).items(), *others])
    whole = run_job(MRGate, lines)
    monkeypatch.setattr(jobs.gate_file, "NUMBERS_OF_LINE", 3)
    cut = run_job(MRGate, lines)
    assert len(whole.lines) == 4 < len(cut.lines) and cut.counts == whole.counts
    cut_file, whole_file = file_of(cut.lines), file_of(whole.lines)
    for found, expected in zip((*decode_gate(cut_file), *decode_ids(cut_file)),
                               (*decode_gate(whole_file), *decode_ids(whole_file))):
        assert np.array_equal(found, expected) and len(found)


@pytest.mark.parametrize(("num_bands", "num_shards", "num_ranges"), [
    (5, 1, 1), (5, 3, 1), (5, 5, 1), (5, 6, 2), (5, 21, 5), (400, 1, 1), (400, 7, 1)])
def test_records_are_packed_tables_below_a_megabyte(num_bands: int, num_shards: int, num_ranges: int) -> None:
    settings = Settings(bands=num_bands, rows=1)
    documents = {f"d{number}": f"text {number}" for number in range(1000)}
    records, counts = map_lines(json_lines(documents), *options_of(settings), "--num-shards", str(num_shards))
    assert max(map(len, records)) < 1 << 20
    assert counts["shuffle_bytes"] == sum(len(record) + 1 for record in records)
    found = defaultdict(list)
    for record in records:
        shard, _, packed = record.partition(b"\t")
        found[shard].append(unpack_numbers(packed))
    keys = np.stack([document_keys(text, settings) for text in documents.values()])
    words = (map(str.encode, documents.values()), map(str.encode, documents), json_lines(documents))
    texts, doc_ids, lines = (np.array([[digest64(word)] for word in column], np.uint64) for column in words)
    tables = {b"ids": np.hstack([doc_ids, texts])}
    for first_band in range(min(num_shards, num_bands)):
        tables[b"bands%04d" % first_band] = np.hstack([keys[:, first_band::num_shards], lines, texts])
    # Rows go to ranges of equal size by their first number.
    expected = {b"%b/%04d" % (name, number): table[(table[:, 0] >> np.uint64(32)) * np.uint64(num_ranges)
                                                   >> np.uint64(32) == number]
                for name, table in tables.items() for number in range(num_ranges)}
    assert sorted(found) == sorted(expected)
    assert all(np.array_equal(np.concatenate(pieces), expected[shard].reshape(-1)) for shard, pieces in found.items())


def test_many_bands_are_cut_into_several_records() -> None:
    lines = json_lines({str(number): f"text {number}" for number in range(1000)})
    records, _ = map_lines(lines, "--bands", "400", "--rows", "1")
    assert sum(record.startswith(b"bands0000/0000\t") for record in records) > 1


def test_local_gives_what_inline_gives() -> None:
    options = ("--num-shards", "4", str(DATA / "articles.jsonl"))
    inline = run_job(MRGate, [], *options)
    assert inline.counts["documents"] == 300 and inline.lines
    assert told_by(run_job(MRGate, [], *LOCAL, "--num-cores", "2", *options)) == told_by(inline)
