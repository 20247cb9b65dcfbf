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
