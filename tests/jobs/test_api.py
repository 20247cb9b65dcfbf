"""Functions give what the commands write."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from jobs import dedup, find_pairs
from jobs.errors import InputError, OutputError
from lsh_core.errors import SettingsError
from tests.helpers import DATA, lookalike, read_json_lines, tree

ARTICLES = DATA / "articles.jsonl"


def test_empty() -> None:
    found, clean = find_pairs([]), dedup([])
    assert (found.pairs, found.rejected, clean.kept, clean.removed, clean.clusters) == ([], [], [], [], [])
    assert found.run["input"]["lines"] == clean.run["input"]["lines"] == 0


@pytest.mark.parametrize("links", [False, True])
def test_pairs_are_those_of_the_command(links: bool, tmp_path: Path) -> None:
    name = "links" if links else "pairs"
    lookalike("pairs", ARTICLES, "--threshold", "0.5", "--out", tmp_path / "out", *(["--links"] if links else []), "-q")
    found = find_pairs(ARTICLES, threshold=0.5, links=links)
    assert found.pairs == read_json_lines(tmp_path / "out" / f"{name}.jsonl") and found.pairs
    assert found.run["settings"]["threshold"] == 0.5


@pytest.mark.parametrize("options", [{}, {"cluster": "keeper", "keep": "longest"}, {"exact_only": True}], ids=str)
def test_a_clean_corpus_is_that_of_the_command(options: dict[str, str], tmp_path: Path) -> None:
    arguments = [part for name, value in options.items()
                 for part in ["--" + name.replace("_", "-"), *([value] if isinstance(value, str) else [])]]
    lookalike("dedup", ARTICLES, "--out", tmp_path / "out", *arguments, "-q")
    clean = dedup(str(ARTICLES), **options)  # type: ignore[arg-type]
    for name in ("kept", "removed", "clusters"):
        assert getattr(clean, name) == read_json_lines(tmp_path / "out" / f"{name}.jsonl")
    assert clean.removed


def test_documents_and_files_are_the_same() -> None:
    documents = read_json_lines(ARTICLES)
    assert dedup(iter(documents)).kept == dedup([ARTICLES]).kept
    assert find_pairs(documents).pairs == find_pairs([str(ARTICLES)], runner="local").pairs


def test_lines_that_are_not_json_are_kept_as_they_are(tmp_path: Path) -> None:
    lines = ["a\tsome text, some text", "b\tsome text, some text", "c\tanother\u2028one"]
    (tmp_path / "in.tsv.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    assert dedup(tmp_path / "in.tsv.gz", format="tsv").kept == [lines[0], lines[2]]


def test_texts_without_ids_are_copies_if_they_are_equal() -> None:
    clean = dedup([{"text": "one"}, {"text": "two"}, {"text": "one"}], id_field=None)
    assert clean.kept == [{"text": "one"}, {"text": "two"}]
    assert [removed["reason"] for removed in clean.removed] == ["same line"]


def test_what_is_no_document_is_told() -> None:
    found = find_pairs([{"id": "x", "text": "a"}, {"id": "y"}])
    assert [rejected["reason"] for rejected in found.rejected] == ["no text"]


def test_results_stay_where_they_are_wanted(tmp_path: Path) -> None:
    find_pairs(ARTICLES, out=tmp_path / "out")
    assert tree(tmp_path) == ["out", "out/pairs.jsonl", "out/run.json"]
    with pytest.raises(OutputError, match="is not empty"):
        dedup(ARTICLES, out=tmp_path / "out")


def test_errors_are_those_of_the_command(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        find_pairs(tmp_path / "none.jsonl")
    with pytest.raises(SettingsError, match="cluster is 'x'; it must be chain or keeper"):
        dedup(ARTICLES, cluster="x")
    with pytest.raises(SettingsError, match=r"keep is 'newest'; it must be"):
        dedup(ARTICLES, keep="newest")
    with pytest.raises(SettingsError, match="threshold is 2"):
        find_pairs(ARTICLES, threshold=2)
    with pytest.raises(TypeError, match="treshold"):
        find_pairs(ARTICLES, treshold=0.8)
