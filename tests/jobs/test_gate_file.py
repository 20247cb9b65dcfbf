"""A gate comes back from its file as it was, or is refused with the reason."""

from __future__ import annotations

import dataclasses
import json
import random
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import jobs.gate_file
from jobs.gate_file import BadGate, decode_lines, encode_gate, encode_repeated_ids, fingerprint, read_gate, write_gate
from lsh_core.gate import BloomGate, Gate, GateIndex, Selection
from lsh_core.hashing import Hashes, splitmix64
from lsh_core.settings import Settings
from tests.strategies import uint64s

OTHER_VALUES: dict[str, Any] = {
    "threshold": 0.7, "recall": 0.9, "max_functions": 99, "num_buckets": 5, "shingle": "word:2", "shingle_bits": 32,
    "minhash": "linear", "seed": 2, "format": "tsv", "id_field": None, "text_field": "body", "unicode_form": "NFKC",
    "case": "fold", "punctuation": "drop", "white_space": "keep", "stop_words": ("the",), "max_document_bytes": 100,
    "max_bucket_docs": 7,
}

NO_IDS = np.empty(0, np.uint64)


def gate_of(numbers: dict[int, tuple[int, int]]) -> Gate:
    """A gate of key -> (bundle, number of groups)."""
    keys = sorted(numbers)
    return Gate(np.array(keys, np.uint64), np.array([numbers[key][0] for key in keys], np.uint64),
                np.array([numbers[key][1] for key in keys], np.int64))


gates = st.dictionaries(uint64s, st.tuples(uint64s, st.integers(1, 5)), max_size=20).map(gate_of)
id_lists = st.sets(uint64s, max_size=5).map(lambda ids: np.array(sorted(ids), np.uint64))


def big_gate(num_keys: int) -> Gate:
    """Some numbers of 64 bits as keys, the last tenth of them hot."""
    keys = np.sort(splitmix64(5, num_keys))
    return Gate(keys, keys[::-1].copy(), np.where(np.arange(num_keys) < num_keys * 9 // 10, 1, 4))


def assert_same(found: Gate, expected: Gate) -> None:
    for found_column, expected_column in zip(found, expected):
        assert found_column.dtype == expected_column.dtype
        assert np.array_equal(found_column, expected_column)


def as_dict(selection: Selection) -> dict[tuple[int, int], tuple[int, int]]:
    """(row, key) -> (bundle, number of groups)"""
    rows, keys, bundles, num_groups = (column.tolist() for column in selection)
    assert len(set(zip(rows, keys))) == len(keys)
    return dict(zip(zip(rows, keys), zip(bundles, num_groups)))


def test_empty(tmp_path: Path) -> None:
    empty = gate_of({})
    assert list(encode_gate(empty)) == list(encode_repeated_ids(NO_IDS)) == []
    gate, ids = decode_lines([])
    assert_same(gate, empty)
    assert ids.dtype == np.uint64 and len(ids) == 0
    write_gate(tmp_path / "gate", empty, NO_IDS, Settings())
    select, ids = read_gate(str(tmp_path / "gate"), Settings())
    assert as_dict(select(np.array([[1, 2], [3, 4]], np.uint64))) == {} and ids.tolist() == []
    assert as_dict(select(np.empty((0, 2), np.uint64))) == {}


@given(gates, id_lists, st.integers(1, 9), st.randoms(use_true_random=False))
def test_lines_in_any_order_give_the_gate_back(
    gate: Gate, ids: Hashes, keys_of_line: int, choose: random.Random
) -> None:
    with pytest.MonkeyPatch.context() as patches:
        patches.setattr(jobs.gate_file, "KEYS_OF_LINE", keys_of_line)
        lines = [*encode_gate(gate), *encode_repeated_ids(ids)]
    assert len(lines) == -(-len(gate.keys) // keys_of_line) - (-len(ids) // keys_of_line)
    assert all(line.isascii() and not set(line) & set(b"\r\n\t") for line in lines)
    choose.shuffle(lines)
    found, found_ids = decode_lines(line + b"\n" for line in lines)
    assert_same(found, gate)
    assert found_ids.tolist() == ids.tolist()


def test_no_line_is_above_a_mebibyte() -> None:
    lines = [*encode_gate(big_gate(100_000)), *encode_repeated_ids(big_gate(100_000).keys)]
    assert len(lines) == 8 and max(map(len, lines)) < 1 << 20
    assert_same(decode_lines(lines)[0], big_gate(100_000))


@given(gates, id_lists, st.lists(st.tuples(uint64s, uint64s), max_size=9))
def test_a_file_gives_the_gate_back(gate: Gate, ids: Hashes, others: list[tuple[int, int]]) -> None:
    settings = Settings(threshold=0.7, stop_words=("the", "é"), num_buckets=2**64 - 1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "gate"
        write_gate(path, gate, ids, settings)
        select, found_ids = read_gate(str(path), settings)
    assert found_ids.dtype == np.uint64 and found_ids.tolist() == ids.tolist()
    band_keys = np.array([*others, *zip(gate.keys.tolist(), gate.keys.tolist()[::-1])], np.uint64).reshape(-1, 2)
    kept = dict(zip(gate.keys.tolist(), zip(gate.bundles.tolist(), gate.num_groups.tolist())))
    found = select(band_keys)
    assert np.array_equal(found.rows, np.sort(found.rows))
    assert sorted(zip(*(column.tolist() for column in found))) == sorted(
        (row, key, *kept[key]) for row, keys in enumerate(band_keys.tolist()) for key in keys if key in kept)


@pytest.mark.parametrize("max_array_keys", [10**6, 0], ids=["array", "Bloom filter"])
def test_a_file_that_is_cut_short_is_refused(
    max_array_keys: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs.gate_file, "MAX_ARRAY_KEYS", max_array_keys)
    path = tmp_path / "gate"
    write_gate(path, big_gate(20), np.array([1, 2], np.uint64), Settings())
    content = path.read_bytes()
    assert len(read_gate(str(path), Settings()).repeated_ids) == 2
    start = content.index(b"\n") + 1
    for end in [0, 1, start - 2, *range(start, len(content) - 1, 7), len(content) - 1]:
        path.write_bytes(content[:end])
        with pytest.raises(BadGate, match=r"gate is not a gate file" if end < start else r"gate is cut short"):
            read_gate(str(path), Settings())


@pytest.mark.parametrize(
    "content", [b"", b"\n", b"{}\n", b"[]\n", b"5\n", b'"gate"\n', b"null\n", b"\xff\xfe\n", b"a b\n"])
def test_other_files_are_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "other").write_bytes(content)
    with pytest.raises(BadGate, match="other is not a gate file"):
        read_gate(str(tmp_path / "other"), Settings())


@pytest.mark.parametrize("name", OTHER_VALUES)
def test_another_setting_is_refused_by_name(name: str, tmp_path: Path) -> None:
    path = str(tmp_path / "gate")
    write_gate(Path(path), big_gate(3), NO_IDS, Settings())
    with pytest.raises(BadGate, match=f"gate was made with other settings: {name}$"):
        read_gate(path, dataclasses.replace(Settings(), **{name: OTHER_VALUES[name]}))


def test_all_settings_that_differ_are_named(tmp_path: Path) -> None:
    assert {*OTHER_VALUES, "bands", "rows"} == {field.name for field in dataclasses.fields(Settings)}
    path = str(tmp_path / "gate")
    write_gate(Path(path), big_gate(3), NO_IDS, Settings(bands=3, rows=4, seed=9))
    with pytest.raises(BadGate, match=r"other settings: bands, rows, seed$"):
        read_gate(path, Settings())


@pytest.mark.parametrize(("name", "value"), [("scheme", 0), ("version", 99), ("unidata", "5.2.0"), ("scheme", None)])
def test_a_gate_of_other_code_is_refused(name: str, value: Any, tmp_path: Path) -> None:
    path = tmp_path / "gate"
    write_gate(path, big_gate(3), NO_IDS, Settings())
    header, _, content = path.read_bytes().partition(b"\n")
    path.write_bytes(json.dumps({**json.loads(header), name: value}).encode() + b"\n" + content)
    own_value = fingerprint(Settings())[name]
    with pytest.raises(BadGate, match=f"gate was made with {name} {value}, this run has {own_value}"):
        read_gate(str(path), Settings())


def test_very_many_keys_become_a_bloom_filter_that_loses_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs.gate_file, "MAX_ARRAY_KEYS", 19_999)
    gate, path = big_gate(20_000), tmp_path / "gate"
    write_gate(path, gate, np.array([7], np.uint64), Settings())
    assert path.stat().st_size < 24 * len(gate.keys) / 3
    select, ids = read_gate(str(path), Settings())
    assert ids.tolist() == [7]
    others = splitmix64(77, 20_000)
    found = as_dict(select(np.stack([gate.keys, others], axis=1)))
    # Hot keys keep bundle and groups, the others are bundles of their own.
    for row, (key, bundle, num_groups) in enumerate(zip(*(column.tolist() for column in gate))):
        assert found.pop((row, key)) == ((bundle, num_groups) if num_groups > 1 else (key, 1))
    assert all(value == (key, 1) for (_, key), value in found.items())
    assert 0 < len(found) < 0.02 * len(others)


@pytest.mark.parametrize(("num_keys", "kind"), [(5, GateIndex), (6, BloomGate)])
def test_the_form_is_chosen_by_the_number_of_keys(
    num_keys: int, kind: type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs.gate_file, "MAX_ARRAY_KEYS", 5)
    write_gate(tmp_path / "gate", big_gate(num_keys), NO_IDS, Settings())
    select: Any = read_gate(str(tmp_path / "gate"), Settings()).select
    assert isinstance(select.__self__, kind)
