"""On every engine a task knows which of two corpora it reads, from local files and from addresses."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tests.engines.engine import Engine
from tests.helpers import COMMAND, json_lines, lookalike, made_up_documents, read_run
from tests.passes import written

pytestmark = pytest.mark.engines

CHOICES = ("--threshold", "0.5", "--bands", "60", "--rows", "1", "--against")


def test_documents_against_an_index(engine: Engine, tmp_path: Path) -> None:
    texts = list(made_up_documents(60, seed=5, num_words=12).values())
    old, new = ({str(number): text for number, text in enumerate(part)} for part in (texts[:30], texts[25:]))
    old_file = written(tmp_path / "old.jsonl", json_lines(old))
    new_file = written(tmp_path / "new.jsonl", json_lines(new))
    index = tmp_path / "index"
    assert lookalike("index", old_file, *CHOICES[:-1], "--out", index, "-r", "inline").exit_code == 0
    options = (new_file, *CHOICES, index, "--out")
    assert lookalike("pairs", *options, tmp_path / "expected", "-r", "inline").exit_code == 0
    done = engine.lookalike(*options, tmp_path / "found")
    assert done.exit_code == 0, f"{done.stderr}\n{engine.log_tails()}"
    found, expected = ((tmp_path / folder / "pairs.jsonl").read_bytes() for folder in ("found", "expected"))
    assert found == expected != b""


def test_a_corpus_against_another_that_numbers_alike(engine: Engine, tmp_path: Path) -> None:
    texts = list(made_up_documents(60, seed=5, num_words=12).values())
    own, against = ({str(number): text for number, text in enumerate(part)} for part in (texts[:30], texts[25:]))
    corpus = written(tmp_path / "corpus.jsonl", [*json_lines(own), b"bad"])
    other = tmp_path / "other" / "corpus.jsonl.gz"
    other.parent.mkdir()
    other.write_bytes(gzip.compress(b"\n".join([*json_lines(against), b"bad", b"worse"])))
    options = (corpus, *CHOICES, str(other), "--out")
    assert lookalike("dedup", *options, tmp_path / "expected", "-r", "inline").exit_code == 0
    done = engine.run(*COMMAND, "dedup", *options, tmp_path / "found", "-r", engine.runner, "--conf", engine.conf, "-q")
    assert done.exit_code == 0, f"{done.stderr}\n{engine.log_tails()}"
    for name in ("links.jsonl", "clusters.jsonl"):
        assert (tmp_path / "found" / name).read_bytes() == (tmp_path / "expected" / name).read_bytes()
    for name in ("kept.jsonl", "removed.jsonl"):
        found, expected = ((tmp_path / folder / name).read_bytes().splitlines() for folder in ("found", "expected"))
        assert sorted(found) == sorted(expected)
    found, expected = (read_run(tmp_path / folder) for folder in ("found", "expected"))
    assert (found["input"], found["against"]) == (expected["input"], expected["against"])
