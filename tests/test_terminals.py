"""What a terminal has no characters for is shown in another way, and stops no run."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.helpers import ASCII_LOCALE, COMMAND, run_command

TEXT = "the same words in two documents whose names are not of this alphabet"


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_names_of_other_alphabets_are_shown_by_numbers(encoding: str, tmp_path: Path) -> None:
    corpus, truth = tmp_path / "corpus.jsonl", tmp_path / "truth.jsonl"
    corpus.write_text("".join(json.dumps({"id": doc_id, "text": TEXT}) + "\n" for doc_id in ("猫", "éa")) + "bad\n")
    truth.write_text(json.dumps({"a": "éa", "b": "猫", "similarity": 1.0}) + "\n")
    # No text in any encoding.
    out = os.fsencode(tmp_path) + b"/\xff"
    done = run_command(*COMMAND, "pairs", corpus, "--truth", truth, "--out", os.fsdecode(out),
                       env={**os.environ, **ASCII_LOCALE, "PYTHONIOENCODING": encoding}, encoding=encoding)
    assert done.exit_code == 0, done.stderr
    assert "\\u732b" in done.stdout and "\\udcff" in done.stdout
    assert ("\\xe9a" in done.stdout) == (encoding == "ascii") and ("éa" in done.stdout) == (encoding == "latin-1")
    assert sorted(os.listdir(out)) == [b"pairs.jsonl", b"rejected.jsonl", b"run.json"]
