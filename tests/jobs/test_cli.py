"""The command line: settings from options and files, inputs of every kind, and what a person sees."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Callable

import click
import pytest

import jobs.display
from jobs.cli import cli
from lsh_core.settings import Settings
from lsh_core.stop_words import ENGLISH_STOP_WORDS
from tests.helpers import (
    COMMAND,
    DATA,
    REPOSITORY,
    json_lines,
    lookalike,
    made_up_documents,
    read_json_lines,
    read_pairs,
    read_run,
    run_command,
    tree,
)

ARTICLES = DATA / "articles.jsonl"
DOCUMENTS = made_up_documents(80, seed=3)
LINES = b"".join(line + b"\n" for line in json_lines(DOCUMENTS))


@pytest.fixture
def expected_pairs(tmp_path: Path) -> bytes:
    """The bytes of pairs.jsonl for DOCUMENTS."""
    (tmp_path / "expected.jsonl").write_bytes(LINES)
    assert lookalike("pairs", tmp_path / "expected.jsonl", "--out", tmp_path / "expected").exit_code == 0
    return (tmp_path / "expected" / "pairs.jsonl").read_bytes()


def test_empty(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").touch()
    outcome = lookalike("pairs", tmp_path / "empty.jsonl", "--out", tmp_path / "out")
    assert (outcome.exit_code, outcome.stderr) == (0, "")
    assert re.search(r"^documents +0", outcome.stdout, re.M)
    assert read_pairs(tmp_path / "out") == {}


def test_the_installed_command_prints_a_summary(tmp_path: Path) -> None:
    command = Path(sys.executable).with_name("lookalike")
    outcome = run_command(command, "pairs", "data/articles.jsonl", "--out", tmp_path / "out dir")
    assert (outcome.exit_code, outcome.stderr) == (0, "")
    run = read_run(tmp_path / "out dir")
    shown = dict(re.split(r"  +", line.strip(), maxsplit=1) for line in outcome.stdout.splitlines()[:-1])
    assert {name: shown[name] for name in ("documents", "copies", "rejected", "candidates", "pairs")} == {
        "documents": "300", "copies": "0", "rejected": "0", "candidates": str(run["candidates"]),
        "pairs": str(run["pairs"])}
    assert shown["bands × rows"] == "17 × 8: finds at least 95.5% of the pairs at similarity 0.8"
    assert shown["shuffled"].startswith(f"{run['shuffle_bytes']:,} bytes")
    assert shown["in all"].endswith("s with -r inline")
    assert outcome.stdout.splitlines()[-1] == f"The results are in {tmp_path / 'out dir'}"
    assert run["command"] == f"lookalike pairs data/articles.jsonl --out '{tmp_path / 'out dir'}'"


def test_local_and_inline_write_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("in.jsonl").write_bytes(LINES + b"{\n" + LINES[:500] + b"\n\xff\n")
    Path("tmp").mkdir()
    for runner in ("inline", "local"):
        outcome = lookalike("pairs", "in.jsonl", "--out", runner, "-r", runner, "--tmp", "tmp", "--cores", "3")
        assert outcome.exit_code == 0, outcome.stderr
        assert tree(tmp_path / "tmp") == []
    for name in ("pairs.jsonl", "rejected.jsonl"):
        assert (tmp_path / "inline" / name).read_bytes() == (tmp_path / "local" / name).read_bytes() != b""
    inline, local = read_run(tmp_path / "inline"), read_run(tmp_path / "local")
    assert (inline["engine"], local["engine"]) == ("inline", "local")
    for name in ("input", "candidates", "pairs", "settings"):
        assert inline[name] == local[name]


def test_settings_come_from_a_file_and_options_win(tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_text(json.dumps({"threshold": 0.6, "seed": 5, "bands": 20, "rows": 4}))
    assert lookalike("pairs", ARTICLES, "--settings", tmp_path / "settings.json", "--seed", 6,
                     "--out", tmp_path / "one").exit_code == 0
    expected = Settings(threshold=0.6, seed=6, bands=20, rows=4)
    assert Settings.from_json(read_run(tmp_path / "one")["settings"]) == expected
    for options, settings in [([], expected), (["--recall", "0.9"], Settings(threshold=0.6, seed=6, recall=0.9))]:
        out = tmp_path / f"again{len(options)}"
        assert lookalike("pairs", ARTICLES, "--settings", tmp_path / "one" / "run.json", *options,
                         "--out", out).exit_code == 0
        assert Settings.from_json(read_run(out)["settings"]) == settings
    assert (tmp_path / "again0" / "pairs.jsonl").read_bytes() == (tmp_path / "one" / "pairs.jsonl").read_bytes()


@pytest.mark.parametrize(("name", "words"), [
    ("none", ()), ("english", ENGLISH_STOP_WORDS), ("words.txt", ("the", "çà"))])
def test_stop_words_are_a_list_or_a_file(name: str, words: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("the\n çà \n", encoding="utf-8")
    given = tmp_path / name if name.endswith(".txt") else name
    lines = [b'{"id": 1, "text": "over the hills"}', b'{"id": 2, "text": "over hills"}']
    outcome = lookalike("pairs", "-", "--stop-words", given, "--out", tmp_path / "out", stdin=b"\n".join(lines))
    assert outcome.exit_code == 0
    assert read_run(tmp_path / "out")["settings"]["stop_words"] == list(words)
    assert read_pairs(tmp_path / "out") == ({("1", "2"): 1.0} if words else {})


def table(delimiter: str = ",") -> bytes:
    rows = io.StringIO()
    csv.writer(rows, delimiter=delimiter).writerows([("text", "other", "id"), *((text, "x", doc_id) for doc_id, text in
                                                                               DOCUMENTS.items())])
    return rows.getvalue().encode()


def parquet() -> bytes:
    pyarrow, tables = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    sink = io.BytesIO()
    columns = {"id": list(DOCUMENTS), "text": list(DOCUMENTS.values()), "number": list(range(len(DOCUMENTS)))}
    tables.write_table(pyarrow.table(columns), sink)
    return sink.getvalue()


@pytest.mark.parametrize(("name", "content"), [
    ("in.jsonl.gz", lambda: gzip.compress(LINES)),
    ("in.jsonl.bz2", lambda: bz2.compress(LINES)),
    ("in.jsonl.zst", lambda: pytest.importorskip("zstandard").ZstdCompressor().compress(LINES)),
    ("in.csv", table),
    ("in.parquet", parquet),
    ("a *,[name].jsonl", lambda: LINES),
])
def test_inputs_of_every_kind_give_the_same_pairs(
    name: str, content: Callable[[], bytes], tmp_path: Path, expected_pairs: bytes
) -> None:
    (tmp_path / name).write_bytes(content())
    outcome = lookalike("pairs", tmp_path / name, "--out", tmp_path / "out")
    assert outcome.exit_code == 0, outcome.stderr
    assert (tmp_path / "out" / "pairs.jsonl").read_bytes() == expected_pairs != b""
    assert read_run(tmp_path / "out")["input"]["files"] == [str(tmp_path / name)]


def test_standard_input_several_files_and_folders_give_the_same_pairs(tmp_path: Path, expected_pairs: bytes) -> None:
    lines = LINES.splitlines(keepends=True)
    (tmp_path / "one.jsonl").write_bytes(b"".join(lines[:30]))
    (tmp_path / "folder").mkdir()
    for doc_id in list(DOCUMENTS)[60:]:
        (tmp_path / "folder" / doc_id).write_text(DOCUMENTS[doc_id], encoding="utf-8")
    assert lookalike("pairs", tmp_path / "one.jsonl", "-", tmp_path / "folder", "--out", tmp_path / "out",
                     stdin=b"".join(lines[30:60])).exit_code == 0
    assert (tmp_path / "out" / "pairs.jsonl").read_bytes() == expected_pairs
    assert read_run(tmp_path / "out")["input"]["files"] == [str(tmp_path / "one.jsonl"), "-", str(tmp_path / "folder")]


def test_without_ids_they_come_from_the_texts(tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("a line of words\n a  line of words\na line of words.\n")
    assert lookalike("pairs", tmp_path / "in.txt", "--format", "text", "--no-id", "--out", tmp_path / "out",
                     "--threshold", "0.5", "--recall", "0.99").exit_code == 0
    told = read_run(tmp_path / "out")
    assert (told["input"]["documents"], told["input"]["copies"], told["settings"]["id_field"]) == (2, 1, None)
    ((a, b),) = read_pairs(tmp_path / "out")
    assert re.fullmatch("[0-9a-f]{32}", a) and re.fullmatch("[0-9a-f]{32}", b)


def test_known_pairs_are_shown_beside_what_was_found(tmp_path: Path) -> None:
    truth = tmp_path / "truth.jsonl"
    truth.write_text('{"a": "a002", "b": "a087", "similarity": 0.956}\n{"a": "a001", "b": "a002", "similarity": 0.9}\n'
                     '{"a": "[b]x", "b": "z", "similarity": 0.1}\n')
    outcome = lookalike("pairs", ARTICLES, "--truth", truth, "--out", tmp_path / "out")
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in outcome.stdout.splitlines() if "│" in line]
    assert rows == [["a001", "a002", "0.9000", "MISSED"], ["a002", "a087", "0.9560", "yes"]]
    assert "1 of the 2 known pairs at or above 0.8 were found; 1 more lie below it" in outcome.stdout


def test_quiet_shows_nothing_but_errors(tmp_path: Path) -> None:
    arguments = ("pairs", "-", "--out", tmp_path / "out", "-q")
    assert lookalike(*arguments, "--truth", DATA / "articles.truth.jsonl", stdin=b"{\n") == (0, "", "")
    assert read_json_lines(tmp_path / "out" / "rejected.jsonl")[0]["place"] == "standard input:1"
    assert lookalike(*arguments).stderr.startswith(f"lookalike: {tmp_path / 'out'} is not empty")


def test_verbose_shows_the_log_of_mrjob(tmp_path: Path) -> None:
    outcome = run_command(*COMMAND, "pairs", ARTICLES, "--out", tmp_path / "out", "-v")
    assert outcome.exit_code == 0 and "Running step 1 of 1" in outcome.stderr


def test_progress_without_a_terminal_is_a_line_now_and_then(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs.display, "SECONDS_BETWEEN_LINES", 0.0)
    outcome = lookalike("pairs", ARTICLES, "--out", tmp_path / "out", "--cores", 1)
    pattern = r"^(?:gate|pairs): (map|reduce), (\d) of (\d) tasks(?:, about \d+ s left)?$"
    told = re.findall(pattern, outcome.stderr, re.M)
    assert len(told) == len(outcome.stderr.splitlines())
    assert [stage for stage, done, total in told if done == total] == ["map", "reduce"] * 2


def test_progress_on_a_terminal_is_a_bar_that_goes_away(tmp_path: Path) -> None:
    import pty

    terminal, stderr = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    command = [*COMMAND, "pairs", str(ARTICLES), "--out", str(tmp_path / "out"), "-r", "local"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr, cwd=REPOSITORY, env=environment) as process:
        os.close(stderr)
        shown = b""
        try:
            while chunk := os.read(terminal, 1 << 16):
                shown += chunk
        except OSError:
            pass  # how Linux says that the other end is closed
        os.close(terminal)
    assert process.returncode == 0
    assert b"pairs: map" in shown and b"pairs: reduce" in shown and "━".encode() in shown
    assert re.search(rb"\d/\d", shown)


def test_help_documents_every_option() -> None:
    for name, command in cli.commands.items():
        outcome = lookalike(name, "--help")
        assert outcome.exit_code == 0
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                assert parameter.help and parameter.help.endswith((".", "]")), parameter.name
                assert all(option in outcome.stdout for option in parameter.opts)
    shown = lookalike("pairs", "--help").stdout
    for setting in Settings.__dataclass_fields__:
        assert "--" + setting.replace("_", "-") in shown


def test_version_is_that_of_the_report(tmp_path: Path) -> None:
    assert lookalike("pairs", "-", "--out", tmp_path / "out").exit_code == 0
    assert lookalike("--version").stdout == f"lookalike {read_run(tmp_path / 'out')['version']}\n"
