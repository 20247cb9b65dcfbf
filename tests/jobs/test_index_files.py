"""Nothing but a whole index of the same settings is used."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Callable, Optional
from unicodedata import unidata_version

import pytest

import jobs.cleaning
import jobs.index_files
from jobs.cleaning import Cleaning, clean_corpus
from jobs.errors import InputError
from jobs.index_names import MANIFEST
from jobs.indexing import extend_index
from jobs.job_runner import Run
from jobs.pipeline import find_pairs
from tests.helpers import json_lines, lookalike, read_json_lines, read_run, tree
from tests.jobs.test_against import SURE
from tests.jobs.test_indexing import grown
from tests.passes import QUIET, written


def test_what_is_not_whole_or_of_other_settings_is_refused(tmp_path: Path) -> None:
    index = grown(tmp_path, [{"1": "abcdef"}])
    corpus = written(tmp_path / "corpus.jsonl", json_lines({"1": "abcdeg"}))

    def message(**choices: Any) -> str:
        with pytest.raises(InputError) as error:
            find_pairs(Run([corpus], tmp_path / "out", against=[str(index)]), SURE.replace(**choices), QUIET)
        assert not (tmp_path / "out").exists()
        return str(error.value)

    assert "other settings: threshold, seed; --settings" in message(threshold=0.6, seed=2)
    manifest, keys = index / MANIFEST, index / "keys-00000"
    whole, whole_keys = manifest.read_bytes(), keys.read_bytes()
    keys.write_bytes(whole_keys[:-1])
    assert f"keys-00000 has {len(whole_keys) - 1} bytes, not {len(whole_keys)}" in message()
    keys.write_bytes(b"A" + whole_keys[1:])
    assert "the checksum of keys-00000 is another" in message()
    keys.unlink()
    assert "keys-00000 is missing" in message()
    keys.write_bytes(whole_keys)
    manifest.write_bytes(whole[:-9])
    assert "is not an index: its manifest.json is not as it was written" in message()
    manifest.write_bytes(whole.replace(b'"lookalike_index": 1', b'"lookalike_index": 2'))
    assert "is an index of lookalike_index 2, and this program has 1" in message()
    manifest.write_bytes(whole.replace(unidata_version.encode(), b"1.1"))
    assert f"{index} is an index of unicode 1.1, and this program has {unidata_version}" in message()


@pytest.mark.parametrize("name", ["documents-00000.jsonl", "keys-00000", "links-00000.jsonl"])
@pytest.mark.parametrize(("spoil", "message"), [
    (lambda content: None, "index is not whole: {} is missing; make it again with lookalike index"),
    (lambda content: content[:-1], "index is not whole: {} has "),
    (lambda content: content.replace(b"1", b"7"), "the checksum of {} is another; make it again"),
], ids=["missing", "cut short", "of other documents"])
def test_cleaning_against_a_spoiled_index_writes_nothing(
    spoil: Callable[[bytes], Optional[bytes]], message: str, name: str, tmp_path: Path
) -> None:
    index = grown(tmp_path, [{"1": "abcdef", "2": "abcdeg"}])
    corpus = written(tmp_path / "corpus.jsonl", json_lines({"3": "abcdeh"}))
    content = spoil((index / name).read_bytes())
    (index / name).unlink()
    if content is not None:
        (index / name).write_bytes(content)
    before = tree(tmp_path)
    refused = lookalike("dedup", corpus, "--against", index, "--settings", index / MANIFEST, "--out", tmp_path / "out")
    assert refused.exit_code == 2 and message.format(name) in refused.stderr and refused.stderr.count("\n") == 1
    assert tree(tmp_path) == before


def test_an_index_is_known_however_it_is_named(tmp_path: Path) -> None:
    index = grown(tmp_path, [{"1": "abcdef"}])
    corpus = written(tmp_path / "corpus.jsonl", json_lines({"2": "abcdeg"}))
    for number, name in enumerate((f"{tmp_path}/ind*", index.as_uri(), f"{index}/**")):
        find_pairs(Run([corpus], tmp_path / f"out{number}", "inline", against=[name]), SURE, QUIET)
        assert read_run(tmp_path / f"out{number}")["against"]["files"] == [str(index / "documents-00000.jsonl")]
        with pytest.raises(InputError, match="is an index, which is no input"):
            find_pairs(Run([name], tmp_path / "none"), SURE, QUIET)
    with pytest.raises(InputError, match="index in it is an index"):
        find_pairs(Run([str(tmp_path)], tmp_path / "none"), SURE, QUIET)


def test_documents_are_added_while_an_index_is_in_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = grown(tmp_path, [{"a": "abcdefgh", "b": "abcdefgi"}])
    more = Run([written(tmp_path / "more.jsonl", json_lines({"d": "0123456"}))], Path("unused"))
    corpus = written(tmp_path / "corpus.jsonl", json_lines({"c": "abcdefgj"}))
    make_gate = jobs.cleaning.make_gate

    def meanwhile(work: Any) -> Path:
        extend_index(index, more, SURE, QUIET)
        return make_gate(work)

    monkeypatch.setattr(jobs.cleaning, "make_gate", meanwhile)
    clean_corpus(Run([corpus], tmp_path / "out", against=[str(index)]), SURE, Cleaning(), QUIET)
    assert [cluster["against"] for cluster in read_json_lines(tmp_path / "out" / "clusters.jsonl")] == [["a", "b"]]


def test_what_a_manifest_names_is_on_disk_before_it_and_what_it_named_stays_until_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[tuple[set[str], str, bool]] = []

    def sync(path: Path) -> None:
        folder = path if path.is_dir() else path.parent
        manifest = folder / MANIFEST
        named = {file["name"] for file in read_json_lines(manifest)[0]["files"]} if manifest.exists() else set()
        synced.append((named, path.name, all((folder / name).exists() for name in named)))

    monkeypatch.setattr(jobs.index_files, "sync", sync)
    grown(tmp_path, [{"a": "abcdefgh"}])
    former = {"documents-00000.jsonl", "keys-00000", "links-00000.jsonl"}
    assert {name for named, name, _ in synced if not named} >= former and synced[-1][0] == former
    synced.clear()
    extend_index(tmp_path / "index", Run([written(tmp_path / "more.jsonl", json_lines({"b": "abcdefgi"}))],
                                         Path("unused")), SURE, QUIET)
    *before, last = synced
    new = {"documents-00000.jsonl", "keys-00000", "documents-00001.jsonl", "keys-00001", "links-00001.jsonl"}
    assert {name for _, name, _ in before} == {*new, f".{MANIFEST}.unfinished", "index"}
    assert all(named == former and is_whole for named, _, is_whole in before)
    assert before[-1][1] == "index" and last == (new, "index", True)
