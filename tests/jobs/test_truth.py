"""Known pairs are read from both kinds of lines and held against a result."""

from __future__ import annotations

from pathlib import Path

import pytest

from jobs.errors import InputError
from jobs.truth import Comparison, compare, read_truth


def written(folder: Path, content: bytes) -> Path:
    path = folder / "truth"
    path.write_bytes(content)
    return path


def test_empty(tmp_path: Path) -> None:
    assert read_truth(written(tmp_path, b"")) == {}
    assert compare({}, written(tmp_path, b"\n \n")) == []


@pytest.mark.parametrize(("line", "similarity"), [
    (b'{"a": "x", "b": "y", "similarity": 0.25}', 0.25), (b'{"b": "x", "a": "y"}', 1.0),
    (b"x y", 1.0), (b"y\tx\r", 1.0),
])
def test_lines_of_both_kinds_give_the_smaller_id_first(line: bytes, similarity: float, tmp_path: Path) -> None:
    assert read_truth(written(tmp_path, line + b"\n\n")) == {("x", "y"): similarity}


def test_pairs_of_another_field_are_left_out(tmp_path: Path) -> None:
    lines = b'{"field": "abstract", "a": "x", "b": "y"}\n{"field": "title", "a": "x", "b": "z"}\nx w'
    assert set(read_truth(written(tmp_path, lines), "title")) == {("x", "z"), ("w", "x")}
    assert set(read_truth(written(tmp_path, lines))) == {("x", "y"), ("x", "z"), ("w", "x")}


@pytest.mark.parametrize("line", [
    b"x", b"x y z", b"{", b'{"a": "x"}', b'{"a": "x", "b": "y", "similarity": "high"}',
    b'{"a": "x", "b": "y", "similarity": null}'])
def test_other_lines_are_refused_with_their_place(line: bytes, tmp_path: Path) -> None:
    path = written(tmp_path, b"a b\n" + line)
    with pytest.raises(InputError, match=f"{path}:2: found .* a line of truth is"):
        read_truth(path)


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="missing"):
        read_truth(tmp_path / "missing")
    with pytest.raises(InputError, match="truth"):
        read_truth(written(tmp_path, b"\xff x"))


def test_known_pairs_are_compared_most_similar_first(tmp_path: Path) -> None:
    truth = {("a", "b"): 0.8, ("c", "d"): 0.9, ("a", "c"): 0.8}
    pairs = written(tmp_path, b'{"a": "a", "b": "c", "similarity": 0.8}\n{"a": "x", "b": "z", "similarity": 0.9}\n')
    assert compare(truth, pairs) == [
        Comparison("c", "d", 0.9, False), Comparison("a", "b", 0.8, False), Comparison("a", "c", 0.8, True)]
