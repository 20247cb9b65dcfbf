"""A gate comes back from its file as it was, or is refused with the reason."""

from __future__ import annotations

import dataclasses
import io
import json
import random
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs import gate_file
from jobs.gate_file import BadGate, decode_gate, decode_ids, encode_gate, read_gate, write_gate
from lsh_core.banding import keys_of_texts
from lsh_core.gate import Census, Gate
from lsh_core.hashing import Hashes, digest64, digests64, splitmix64
from lsh_core.selection import Selection
from lsh_core.settings import Settings
from tests.passes import file_of
from tests.strategies import uint64s

OTHER_VALUES: dict[str, Any] = {
    "threshold": 0.7, "recall": 0.9, "max_functions": 99, "num_buckets": 5, "shingle": "word:2", "shingle_bits": 32,
    "minhash": "linear", "seed": 2, "format": "tsv", "id_field": None, "text_field": "body", "unicode_form": "NFKC",
    "case": "fold", "punctuation": "drop", "white_space": "keep", "stop_words": ("the",), "max_document_bytes": 100,
    "max_bucket_docs": 7,
}

NO_IDS = np.empty(0, np.uint64)
DEFAULTS = Settings()
TEXTS = [b"%d" % number for number in range(15)]


def gate_of(numbers: dict[int, tuple[int, int]], members: set[tuple[int, int]]) -> Gate:
    """A gate of key -> (bundle, number of groups) and of (digest of text, key)."""
    keys, bundles, num_groups = np.array([(key, *numbers[key]) for key in sorted(numbers)], np.uint64).reshape(-1, 3).T
    return Gate(keys, bundles, num_groups.astype(np.int64), *np.array(sorted(members), np.uint64).reshape(-1, 2).T)


@st.composite
def gates(draw: Any) -> Gate:
    """Any keys; those that have groups are had by some of the texts "0" to "9"."""
    numbers = draw(st.dictionaries(uint64s, st.tuples(uint64s, st.integers(0, 5)), max_size=20))
    kept = [key for key, (_, num_groups) in numbers.items() if num_groups]
    members = st.tuples(st.sampled_from(TEXTS[:10]).map(digest64), st.sampled_from(kept or [0]))
    return gate_of(numbers, draw(st.sets(members, max_size=30 if kept else 0)))


id_lists = st.sets(uint64s, max_size=5).map(lambda ids: np.array(sorted(ids), np.uint64))


def big_gate(num_keys: int) -> Gate:
    """Some numbers of 64 bits as keys, the last tenth of them hot, each that of one text."""
    keys = np.sort(splitmix64(5, num_keys))
    num_groups = np.where(np.arange(num_keys) < num_keys * 9 // 10, 1, 4)
    return Gate(keys, keys[::-1].copy(), num_groups, np.sort(splitmix64(6, num_keys)), keys)


def lines_of(gate: Gate, ids: Hashes = NO_IDS) -> list[bytes]:
    """The output of the job that makes this gate."""
    return [*encode_gate(gate), *gate_file.encode_census(Census(0, 0, ids, ids[::2]))]


def write(path: Path, gate: Gate, ids: Hashes = NO_IDS, settings: Settings = DEFAULTS) -> None:
    write_gate(path, file_of(lines_of(gate, ids)), settings)


def header_of(path: Path) -> dict[str, Any]:
    header: dict[str, Any] = json.loads(path.read_bytes().partition(b"\n")[0])
    return header


def assert_same(found: Gate, expected: Gate) -> None:
    for found_column, expected_column in zip(found, expected):
        assert found_column.dtype == expected_column.dtype
        assert np.array_equal(found_column, expected_column)


def entries(selection: Selection) -> list[tuple[int, int, int, int]]:
    """(row, key, bundle, number of groups), found to be by row."""
    found = list(zip(*(column.tolist() for column in selection)))
    assert np.array_equal(selection.rows, np.sort(selection.rows)) and len(set(found)) == len(found)
    return found


# Lines


def test_empty(tmp_path: Path) -> None:
    empty = gate_of({}, set())
    assert lines_of(empty) == []
    assert_same(decode_gate(io.BytesIO()), empty)
    assert [(ids.dtype, len(ids)) for ids in decode_ids(io.BytesIO())] == [(np.uint64, 0)] * 2
    write(tmp_path / "gate", empty)
    found, *ids = read_gate(str(tmp_path / "gate"), DEFAULTS)
    assert entries(found.select(digests64(TEXTS))) == entries(found.select(digests64([]))) == []
    assert [digests.tolist() for digests in ids] == [[], []]


@given(gates(), id_lists, st.integers(3, 20), st.randoms(use_true_random=False))
def test_lines_in_any_order_give_the_gate_back(
    gate: Gate, ids: Hashes, numbers_of_line: int, choose: random.Random
) -> None:
    with pytest.MonkeyPatch.context() as patches:
        patches.setattr(gate_file, "NUMBERS_OF_LINE", numbers_of_line)
        lines = lines_of(gate, ids)
    sizes = [(len(gate.keys), numbers_of_line // 3), (len(gate.members), numbers_of_line // 2),
             (len(ids), numbers_of_line), (len(ids[::2]), numbers_of_line)]
    assert len(lines) == sum(-(-num_rows // rows_of_line) for num_rows, rows_of_line in sizes)
    assert all(line.isascii() and not set(line) & set(b"\r\n\t") for line in lines)
    choose.shuffle(lines)
    assert_same(decode_gate(file_of(lines)), gate)
    assert [digests.tolist() for digests in decode_ids(file_of(lines))] == [ids.tolist(), ids[::2].tolist()]


def test_no_line_is_above_a_mebibyte() -> None:
    gate = big_gate(100_000)
    lines = lines_of(gate, gate.keys)
    assert len(lines) == 4 + 3 + 2 + 1 and max(map(len, lines)) < 1 << 20
    assert_same(decode_gate(file_of(lines)), gate)


@pytest.mark.parametrize("max_members", [50, 49, 0])
def test_of_too_many_members_only_the_number_is_written(max_members: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate_file, "MAX_MEMBERS", max_members)
    keys, members = encode_gate(big_gate(50))
    assert (members == b"members 50 withheld") == (max_members < 50)
    assert_same(decode_gate(file_of([keys])), big_gate(50)._replace(members=NO_IDS, member_keys=NO_IDS))


# Files


@given(gates(), id_lists, st.lists(st.sampled_from(TEXTS), max_size=15))
def test_a_file_gives_the_gate_back(gate: Gate, ids: Hashes, texts: list[bytes]) -> None:
    settings = Settings(threshold=0.7, stop_words=("the", "é"), num_buckets=2**64 - 1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "gate"
        write(path, gate, ids, settings)
        found, *found_ids = read_gate(str(path), settings)
    assert [digests.tolist() for digests in found_ids] == [ids.tolist(), ids[::2].tolist()]
    where = dict(zip(gate.keys.tolist(), zip(gate.bundles.tolist(), gate.num_groups.tolist())))
    members = list(zip(gate.members.tolist(), gate.member_keys.tolist()))
    assert sorted(entries(found.select(digests64(texts)))) == sorted(
        (row, key, *where[key]) for row, text in enumerate(texts) for member, key in members
        if member == digest64(text))


@pytest.mark.parametrize("max_members", [10**6, 0], ids=["table", "Bloom filter"])
def test_a_file_that_is_cut_short_is_refused(
    max_members: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gate_file, "MAX_MEMBERS", max_members)
    path = tmp_path / "gate"
    write(path, big_gate(20), np.array([1, 2], np.uint64))
    content = path.read_bytes()
    assert len(read_gate(str(path), DEFAULTS).repeated_ids) == 2
    assert (header_of(path)["filter_bytes"] > 0) == (max_members == 0)
    start = content.index(b"\n") + 1
    for end in [0, 1, start - 2, *range(start, len(content) - 1, 7), len(content) - 1]:
        path.write_bytes(content[:end])
        with pytest.raises(BadGate, match=r"gate is not a gate file" if end < start else r"gate is cut short"):
            read_gate(str(path), DEFAULTS)


@pytest.mark.parametrize(
    "content", [b"", b"\n", b"{}\n", b"[]\n", b"5\n", b'"gate"\n', b"null\n", b"\xff\xfe\n", b"a b\n"])
def test_other_files_are_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "other").write_bytes(content)
    with pytest.raises(BadGate, match="other is not a gate file"):
        read_gate(str(tmp_path / "other"), Settings())


@pytest.mark.parametrize("name", OTHER_VALUES)
def test_another_setting_is_refused_by_name(name: str, tmp_path: Path) -> None:
    path = str(tmp_path / "gate")
    write(Path(path), big_gate(3))
    with pytest.raises(BadGate, match=f"gate was made with other settings: {name}$"):
        read_gate(path, dataclasses.replace(Settings(), **{name: OTHER_VALUES[name]}))


def test_all_settings_that_differ_are_named(tmp_path: Path) -> None:
    assert {*OTHER_VALUES, "bands", "rows"} == {field.name for field in dataclasses.fields(Settings)}
    path = str(tmp_path / "gate")
    write(Path(path), big_gate(3), NO_IDS, Settings(bands=3, rows=4, seed=9))
    with pytest.raises(BadGate, match=r"other settings: bands, rows, seed$"):
        read_gate(path, Settings())


@pytest.mark.parametrize(("name", "value"), [("scheme", 0), ("version", 1), ("version", 99), ("scheme", None)])
def test_a_gate_of_other_code_is_refused(name: str, value: Any, tmp_path: Path) -> None:
    path = tmp_path / "gate"
    write(path, big_gate(3))
    header, _, content = path.read_bytes().partition(b"\n")
    path.write_bytes(json.dumps({**json.loads(header), name: value}).encode() + b"\n" + content)
    own_value = gate_file.fingerprint(Settings())[name]
    with pytest.raises(BadGate, match=f"gate was made with {name} {value}, this run has {own_value}"):
        read_gate(str(path), Settings())


# Bloom filters


def test_very_many_members_become_a_filter_that_loses_no_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings(bands=4, rows=3, shingle="word:1")
    texts, others = ([b"%s%d" % (letter, number) for number in range(5000)] for letter in (b"a", b"b"))
    keys = keys_of_texts(texts, settings)
    order, num_keys = np.argsort(keys.reshape(-1)), keys.size
    # Of twenty keys one is hot and kept, and one is hot and not.
    num_groups = np.where(np.arange(num_keys) % 20 == 0, 4, np.where(np.arange(num_keys) % 20 == 1, 0, 1))
    ascending = keys.reshape(-1)[order]
    gate = Gate(ascending, ascending[::-1].copy(), num_groups, np.repeat(digests64(texts), 4)[order], ascending)
    monkeypatch.setattr(gate_file, "MAX_MEMBERS", num_keys - 1)
    path = tmp_path / "gate"
    write(path, gate, np.array([7], np.uint64), settings)
    assert 0 < path.stat().st_size < 24 * num_keys / 3
    bloom, *ids = read_gate(str(path), settings)
    assert [digests.tolist() for digests in ids] == [[7], [7]]
    selection = bloom.select(keys_of_texts([*texts, *others], settings))
    found = {(row, key): where for row, key, *where in entries(selection)}
    # Hot keys keep bundle and groups, the others are bundles of their own.
    row_of = dict(zip(keys.reshape(-1).tolist(), np.repeat(np.arange(5000), 4).tolist()))
    for key, bundle, groups in zip(*(column.tolist() for column in gate[:3])):
        if groups:
            assert found.pop((row_of[key], key)) == ([bundle, groups] if groups > 1 else [key, 1])
    assert all(row >= 5000 and where == [key, 1] for (row, key), where in found.items())
    assert 0 < len(found) < 0.02 * num_keys


@pytest.mark.parametrize(("sizes", "has_filter"), [
    ([5], False), ([6], True), ([2, 3], False), ([3, 3], True), ([6, 1], True), ([1, 6, 6], True), ([], False)])
def test_the_form_is_chosen_by_the_number_of_members_of_all_shards(
    sizes: list[int], has_filter: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gate_file, "MAX_MEMBERS", 5)
    lines = [line for size in sizes for line in encode_gate(big_gate(size))]
    write_gate(tmp_path / "gate", file_of(lines), DEFAULTS)
    header = header_of(tmp_path / "gate")
    assert (header["filter_bytes"] > 0) == has_filter
    assert header["num_rows"][3] == (0 if has_filter else sum(sizes))
