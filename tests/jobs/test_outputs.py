"""Results are complete under their name, or absent."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import jobs.outputs
from jobs.errors import JobFailed, OutputError
from jobs.outputs import check_output_folder, complete_folder, sorted_lines, sync, write_sorted
from tests.helpers import session_commands, tree


def test_empty(tmp_path: Path) -> None:
    (tmp_path / "lines").touch()
    with sorted_lines(tmp_path / "lines", tmp_path) as lines:
        assert list(lines) == []
    assert write_sorted(tmp_path / "lines", tmp_path / "sorted", tmp_path) == 0
    assert (tmp_path / "sorted").read_bytes() == b""
    with complete_folder(tmp_path / "out"):
        pass
    assert tree(tmp_path) == ["lines", "out", "sorted"]


@pytest.mark.parametrize("name", ["out", "deep/er/out", "there", "link", "."])
def test_a_folder_takes_its_name_at_the_end(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "work" / "there").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "work" / "link").symlink_to(tmp_path / "elsewhere")
    start = tmp_path / "empty" if name == "." else tmp_path / "work"
    start.mkdir(exist_ok=True)
    monkeypatch.chdir(start)
    with complete_folder(Path(name)) as folder:
        (folder / "pairs.jsonl").write_text("x")
        assert not (start / name / "pairs.jsonl").exists()
    assert (start / name / "pairs.jsonl").read_text() == "x"
    assert not [path for path in tree(tmp_path) if "partial" in path]


def test_a_folder_has_the_usual_permissions(tmp_path: Path) -> None:
    (tmp_path / "usual").mkdir()
    with complete_folder(tmp_path / "out"):
        pass
    assert stat.S_IMODE(os.stat(tmp_path / "out").st_mode) == stat.S_IMODE(os.stat(tmp_path / "usual").st_mode)


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt, SystemExit])
def test_nothing_is_left_when_something_goes_wrong(error: type[BaseException], tmp_path: Path) -> None:
    with pytest.raises(error), complete_folder(tmp_path / "out") as folder:
        (folder / "pairs.jsonl").write_text("x")
        raise error
    assert tree(tmp_path) == []


def test_folders_that_cannot_be_written_are_refused_before(tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    for name, found in [("full", "full is not empty"), ("full/file", "file is there already and is not a folder"),
                        ("full/file/deep/out", "full/file is not a folder that can be written to")]:
        with pytest.raises(OutputError, match=found):
            check_output_folder(tmp_path / name)
        with pytest.raises(OutputError, match=found), complete_folder(tmp_path / name):
            raise AssertionError("it was refused")
    assert tree(tmp_path) == ["full", "full/file"]


def test_files_and_folders_that_are_there_can_be_synced(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    sync(tmp_path / "file")
    sync(tmp_path)
    with pytest.raises(FileNotFoundError):
        sync(tmp_path / "missing")


@given(st.lists(st.binary().filter(lambda line: b"\n" not in line)), st.integers(1, 50))
def test_lines_are_sorted_by_their_bytes(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], chunk_bytes: int
) -> None:
    folder, expected = tmp_path_factory.mktemp("sorted"), [line + b"\n" for line in sorted(lines)]
    (folder / "lines").write_bytes(b"".join(line + b"\n" for line in lines))
    with sorted_lines(folder / "lines", folder) as found:
        assert list(found) == expected
    with pytest.MonkeyPatch.context() as patches:
        patches.setattr(jobs.outputs, "CHUNK_BYTES", chunk_bytes)
        assert write_sorted(folder / "lines", folder / "sorted", folder) == len(lines)
    assert (folder / "sorted").read_bytes() == b"".join(expected)


def test_a_sort_that_fails_is_an_error(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(JobFailed, match="sort ended with code 2"), sorted_lines(tmp_path / "no", tmp_path) as lines:
        list(lines)
    with pytest.raises(JobFailed, match="sort ended with code 2"), sorted_lines(tmp_path / "no", tmp_path) as lines:
        raise ValueError(f"no line in {lines.read()!r}")
    with pytest.raises(JobFailed, match="sort ended with code 2"):
        write_sorted(tmp_path / "missing", tmp_path / "sorted", tmp_path)
    assert "missing" in capfd.readouterr().err


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_a_sort_that_is_not_read_to_its_end_ends_too(error: type[BaseException], tmp_path: Path) -> None:
    (tmp_path / "lines").write_bytes(b"a line\n" * 10**6)
    with pytest.raises(error), sorted_lines(tmp_path / "lines", tmp_path) as lines:
        assert next(lines) == b"a line\n"
        assert str(tmp_path) in " ".join(session_commands(os.getsid(0)).values())
        raise error
    assert str(tmp_path) not in " ".join(session_commands(os.getsid(0)).values())
