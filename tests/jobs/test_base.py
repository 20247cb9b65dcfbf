"""What jobs share: settings from options and files, batches that do not show, counts in the output."""

from __future__ import annotations

import dataclasses
import io
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import jobs.base
from jobs.base import BatchMapJob, LookalikeJob, line_batches, option_type, settings_from
from jobs.mr_pairs import MRPairs
from jobs.mr_rejects import MRRejects
from lsh_core.errors import SettingsError
from lsh_core.settings import CHOICES, Settings
from lsh_core.stop_words import ENGLISH_STOP_WORDS
from tests.helpers import json_lines, made_up_documents, run_command, run_job

OTHER_VALUES: dict[str, Any] = {
    "threshold": 0.7, "recall": 0.9, "bands": 3, "rows": 4, "max_functions": 99, "num_buckets": 5, "shingle": "word:2",
    "shingle_bits": 32, "minhash": "linear", "seed": 2**64 - 1, "format": "tsv", "id_field": "key",
    "text_field": "body", "unicode_form": "NFKC", "case": "fold", "punctuation": "drop", "white_space": "keep",
    "stop_words": ("the", "a"), "max_document_bytes": 100, "max_bucket_docs": 7,
}


def test_empty() -> None:
    class MRNothing(BatchMapJob):
        def map_batch(self, lines: list[bytes]) -> Any:
            raise AssertionError("there are no lines")

    assert run_job(MRNothing, []) == ([], {})
    assert settings_from({}) == Settings()


def test_every_setting_is_an_option_of_every_job() -> None:
    assert set(OTHER_VALUES) == {field.name for field in dataclasses.fields(Settings)}
    options = [f"--{name.replace('_', '-')}={value}" for name, value in OTHER_VALUES.items() if name != "stop_words"]
    expected = Settings(**{**OTHER_VALUES, "stop_words": ENGLISH_STOP_WORDS})
    for job_class in (LookalikeJob, MRPairs, MRRejects):
        assert job_class([]).settings == Settings()
        assert job_class([*options, "--stop-words", "english"]).settings == expected


def test_options_win_over_a_file_of_settings(tmp_path: Path) -> None:
    saved = Settings(threshold=0.5, recall=0.9, seed=7, stop_words=("x",), case="fold")
    for content in (saved.to_json(), {"version": "1", "settings": saved.to_json()}):
        path = tmp_path / "settings.json"
        path.write_text(json.dumps(content))
        assert LookalikeJob(["--settings", str(path)]).settings == saved
        job = LookalikeJob(["--settings", str(path), "--seed", "8", "--stop-words", "none", "--no-id"])
        assert job.settings == dataclasses.replace(saved, seed=8, stop_words=(), id_field=None)


def test_a_new_recall_undoes_bands_of_a_file_and_the_reverse() -> None:
    banded = Settings(bands=3, rows=4)
    assert settings_from({"recall": 0.99}, banded.to_json()) == Settings(recall=0.99)
    assert settings_from({"bands": 5, "rows": 6}, Settings(recall=0.99).to_json()).banding == (5, 6)
    assert settings_from({"recall": None, "seed": 3}, banded.to_json()).banding == (3, 4)


@pytest.mark.parametrize(("content", "found"), [
    ("[1]", "found list"), ('{"settings": 5}', "found int"),
    ('{"treshold": 0.5}', "unknown setting treshold"), ('{"seed": "x"}', "seed is 'x'"), ("{", "settings.json: "),
])
def test_a_bad_file_of_settings_is_refused(content: str, found: str, tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text(content)
    # mrjob's parser raises this for arguments that are given from Python.
    with pytest.raises(ValueError, match=found):
        LookalikeJob(["--settings", str(path)])


def test_bad_settings_are_refused_with_their_value() -> None:
    with pytest.raises(SettingsError, match="bands and rows go together"):
        settings_from({"bands": 3})
    outcome = run_command(sys.executable, "-m", "jobs.mr_pairs", "--threshold", "1.5")
    assert outcome.exit_code == 2
    assert outcome.stderr.endswith("error: threshold is 1.5; it must be above 0 and at most 1\n")


def test_options_have_the_type_of_their_setting() -> None:
    for field in dataclasses.fields(Settings):
        value = OTHER_VALUES[field.name]
        if field.name != "stop_words":
            assert option_type(str(field.type))(str(value)) == value
    assert set(CHOICES) <= set(OTHER_VALUES)


line_contents = st.lists(st.sampled_from([b"a", b"bc", b"\r", b"\n", b"\r\n", b"\x0b", b"\x85"])).map(b"".join)


@given(line_contents, st.integers(1, 9), st.integers(1, 4))
def test_batches_are_all_lines_by_a_plain_pattern(content: bytes, batch_bytes: int, batch_lines: int) -> None:
    with pytest.MonkeyPatch.context() as patches:
        patches.setattr(jobs.base, "BATCH_BYTES", batch_bytes)
        patches.setattr(jobs.base, "BATCH_LINES", batch_lines)
        batches = list(line_batches(io.BytesIO(content)))
    *lines, rest = re.split(rb"\r\n|\r|\n", content)
    assert [line for batch in batches for line in batch] == ([*lines, rest] if rest else lines)
    assert all(1 <= len(batch) <= batch_lines for batch in batches)


def test_a_batch_is_bounded_in_bytes() -> None:
    line = b"x" * 999
    batches = list(line_batches(io.BytesIO((line + b"\n") * 5000)))
    assert max(sum(map(len, batch)) for batch in batches) <= jobs.base.BATCH_BYTES + len(line) and len(batches) > 4


@pytest.mark.parametrize(("batch_bytes", "batch_lines"), [(1, 99), (1000, 99), (1 << 30, 99), (1 << 30, 1), (200, 2)])
@pytest.mark.parametrize("job_class", [MRPairs, MRRejects])
def test_the_size_of_batches_does_not_show(
    job_class: Any, batch_bytes: int, batch_lines: int, tmp_path: Path, monkeypatch: Any
) -> None:
    lines = json_lines(made_up_documents(50))
    lines[7:7] = [b"{", b"", b"[]"]
    path = tmp_path / "lines.jsonl"
    path.write_bytes(b"\n".join(lines))
    expected = run_job(job_class, [], "--threshold", "0.5", str(path))
    assert expected.lines and expected.counts["rejected"] == 3
    monkeypatch.setattr(jobs.base, "BATCH_BYTES", batch_bytes)
    monkeypatch.setattr(jobs.base, "BATCH_LINES", batch_lines)
    assert run_job(job_class, [], "--threshold", "0.5", str(path)) == expected


def test_counts_are_told_to_the_engine_too() -> None:
    lines = [b"{", b"[]", *json_lines({"x": "some text", "y": "some text"})]
    job = MRPairs(["--no-conf"])
    job.sandbox(stdin=io.BytesIO(b"\n".join(lines)))
    with job.make_runner() as runner:
        runner.run()
        told = runner.counters()[0]["lookalike"]
    assert told == {name: number for name, number in run_job(MRPairs, lines).counts.items() if number}


def test_without_the_option_no_counts_are_in_the_output() -> None:
    job = MRPairs(["--no-conf"])
    job.sandbox(stdin=io.BytesIO(b"\n".join([b"{", *json_lines({"x": "some text", "y": "some text"})])))
    with job.make_runner() as runner:
        runner.run()
        assert b"".join(runner.cat_output()) == b'{"a": "x", "b": "y", "similarity": 1.0}\n'
