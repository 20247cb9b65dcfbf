"""The first pass against Python sets: documents, copies, repeated ids, and keys that bring documents together."""

from __future__ import annotations

import io
import json
import tempfile
from collections import defaultdict
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import jobs.gate_file
from jobs.gate_file import decode_lines
from jobs.mr_gate import MRGate
from jobs.records import decode_counts, unpack_numbers
from lsh_core.banding import document_keys
from lsh_core.hashing import digest64
from lsh_core.settings import Settings
from tests.helpers import DATA, LOCAL, JobOutput, json_lines, made_up_documents, run_job
from tests.oracles import buckets, normalize
from tests.passes import options_of, written
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


@given(documents, st.lists(st.integers(0, 20), max_size=3), st.integers(1, 4), st.integers(1, 8))
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
    _, digests = decode_lines(output.lines)
    assert digests.tolist() == sorted(digest64(doc_id.encode()) for doc_id in repeated)


@given(corpora, st.lists(st.integers(0, 20), max_size=3), st.integers(1, 4), st.integers(1, 8))
@settings(max_examples=20)
def test_documents_that_share_a_key_share_one_that_is_kept(
    texts: list[str], cuts: list[int], num_cores: int, num_shards: int
) -> None:
    documents = {f"i{number}": text for number, text in enumerate(texts) if normalize(text)}
    keys_of = {doc_id: set(document_keys(text, FEW_BANDS).tolist()) for doc_id, text in documents.items()}
    options = ("--num-shards", str(num_shards))
    output = run_split(json_lines(documents), cuts, num_cores, *options)
    kept = set(decode_lines(output.lines)[0].keys.tolist())
    shared = {key for key, members in buckets(keys_of).items() if len(members) > 1}
    assert kept <= shared
    for a, b in combinations(keys_of, 2):
        assert bool(keys_of[a] & keys_of[b]) == bool(keys_of[a] & keys_of[b] & kept)
    # The gate does not tell how its input was cut.
    assert told_by(output) == told_by(run_split(json_lines(documents), [], 1, *options))


def test_one_key_is_kept_for_equal_texts() -> None:
    output = run_job(MRGate, json_lines(dict.fromkeys("abcdefg", "some text")))
    gate, _ = decode_lines(output.lines)
    assert len(gate.keys) == 1 and gate.keys.tolist() == gate.bundles.tolist() and gate.num_groups.tolist() == [1]


def test_without_ids_equal_texts_are_copies_and_never_repeated() -> None:
    output = run_job(MRGate, lines_of([("a", "x"), ("a", "y"), ("b", " x"), ("c", "x")]), "--no-id")
    assert (output.counts["documents"], output.counts["copies"], output.counts["repeated_ids"]) == (2, 2, 0)


def test_lines_are_cut_and_are_ascii() -> None:
    num_texts = jobs.gate_file.KEYS_OF_LINE + 2000
    # Each text twice keeps a key of its own; each id stands for two texts.
    lines = [b"%d\t%d" % (number, (number + shift) % num_texts) for number in range(num_texts) for shift in (0, 1)]
    output = run_job(MRGate, lines, "--format", "tsv", "--shingle", "word:1", "--bands", "1", "--rows", "3")
    gate, repeated = decode_lines(output.lines)
    assert len(gate.keys) == len(repeated) == output.counts["repeated_ids"] == num_texts
    assert len(output.lines) == 4 and all(line.isascii() for line in output.lines)
    assert 900_000 < max(map(len, output.lines)) < 1 << 20


def test_the_number_of_lines_does_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = lines_of([*made_up_documents(200).items(), ("d00001", "x"), ("d00002", "x"), ("d00003", "x")])
    whole = run_job(MRGate, lines)
    monkeypatch.setattr(jobs.gate_file, "KEYS_OF_LINE", 2)
    cut = run_job(MRGate, lines)
    assert len(whole.lines) == 2 < len(cut.lines) and cut.counts == whole.counts
    for found, expected in zip((*decode_lines(cut.lines)[0], decode_lines(cut.lines)[1]),
                               (*decode_lines(whole.lines)[0], decode_lines(whole.lines)[1])):
        assert np.array_equal(found, expected) and len(found)


@pytest.mark.parametrize(("num_bands", "num_shards"), [(5, 1), (5, 3), (5, 9), (400, 1), (400, 7)])
def test_records_are_packed_tables_below_a_megabyte(num_bands: int, num_shards: int) -> None:
    options = ("--bands", str(num_bands), "--rows", "1", "--num-shards", str(num_shards))
    documents = {f"d{number}": f"text {number}" for number in range(1000)}
    records, counts = map_lines(json_lines(documents), *options)
    assert max(map(len, records)) < 1 << 20
    assert counts["shuffle_bytes"] == sum(len(record) + 1 for record in records)
    tables = defaultdict(list)
    for record in records:
        shard, _, packed = record.partition(b"\t")
        tables[int(shard)].append(unpack_numbers(packed))
    assert sorted(tables) == list(range(min(num_bands, num_shards)))
    keys = np.stack([document_keys(text, Settings(bands=num_bands, rows=1)) for text in documents.values()])
    digests = np.array([[digest64(text.encode()), digest64(doc_id.encode())] for doc_id, text in documents.items()],
                       np.uint64)
    for shard, pieces in tables.items():
        expected = np.hstack([digests[:, : 1 if shard else 2], keys[:, shard::num_shards]])
        assert np.array_equal(np.concatenate(pieces), expected.reshape(-1))


def test_many_bands_are_cut_into_several_records() -> None:
    lines = json_lines({str(number): f"text {number}" for number in range(1000)})
    assert len(map_lines(lines, "--bands", "400", "--rows", "1")[0]) > 1


def test_local_gives_what_inline_gives() -> None:
    options = ("--num-shards", "4", str(DATA / "articles.jsonl"))
    inline = run_job(MRGate, [], *options)
    assert inline.counts["documents"] == 300 and inline.lines
    assert told_by(run_job(MRGate, [], *LOCAL, "--num-cores", "2", *options)) == told_by(inline)
