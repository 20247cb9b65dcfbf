"""A Python that cannot run a job says so in one line, and what to do; older ones get that far."""

from __future__ import annotations

import ast
import os
import venv
from pathlib import Path

import pytest

from jobs.task_check import OLDEST_PYTHON, what_is_missing
from tests.helpers import REPOSITORY, run_command

JOBS = sorted((REPOSITORY / "jobs").glob("mr_*.py"))
PARSED_BY_ALL = [REPOSITORY / "jobs" / "__init__.py", REPOSITORY / "jobs" / "task_check.py", *JOBS]
OLD_PYTHONS = [path for version in ("3.6", "3.7", "3.8")
               for path in (Path.home() / ".pyenv" / "versions").glob(f"{version}.*/bin/python")]


def test_what_is_missing_is_named() -> None:
    assert what_is_missing((3, 9), True) is None and what_is_missing((3, 13), True) is None
    assert "is Python 3.8: name one of 3.9 or later" in str(what_is_missing((3, 8), False))
    assert "numpy is not installed for" in str(what_is_missing((3, 9), False))
    assert OLDEST_PYTHON == (3, 9)


@pytest.mark.parametrize("path", PARSED_BY_ALL, ids=lambda path: path.stem)
def test_old_pythons_can_parse_what_comes_before_the_check(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 6))
    futures = [node for node in tree.body if isinstance(node, ast.ImportFrom) and node.module == "__future__"]
    assert futures == []


@pytest.mark.parametrize("path", JOBS, ids=lambda path: path.stem)
def test_the_check_is_what_a_job_imports_first(path: Path) -> None:
    first = next(node for node in ast.parse(path.read_text(encoding="utf-8")).body
                 if isinstance(node, (ast.Import, ast.ImportFrom)))
    assert isinstance(first, ast.Import) and [alias.name for alias in first.names] == ["jobs.task_check"]


def said_by(python: Path) -> str:
    outcome = run_command(python, "-S", "jobs/mr_pairs.py", "--mapper",
                          env={**os.environ, "PYTHONPATH": str(REPOSITORY)})
    assert outcome.exit_code == 1
    return outcome.stderr


@pytest.mark.skipif(not OLD_PYTHONS, reason="there is no old Python here")
@pytest.mark.parametrize("python", OLD_PYTHONS, ids=lambda path: path.parts[-3])
def test_an_old_python_says_so(python: Path) -> None:
    said = said_by(python)
    assert said.startswith(f"{python} on ") and len(said.splitlines()) == 1


def test_a_python_without_numpy_says_so(tmp_path: Path) -> None:
    venv.create(tmp_path, symlinks=True)
    said = said_by(tmp_path / "bin" / "python")
    assert said.startswith(f"numpy is not installed for {tmp_path}/bin/python on ") and len(said.splitlines()) == 1
