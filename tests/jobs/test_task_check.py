"""A Python that cannot run a job says so in one line, and what to do; older ones get that far."""

from __future__ import annotations

import ast
import os
import re
import sys
import venv
from pathlib import Path

import numpy
import pytest

from jobs.task_check import OLDEST_NUMPY, OLDEST_PYTHON, what_is_missing
from tests.helpers import REPOSITORY, run_command

JOBS = sorted((REPOSITORY / "jobs").glob("mr_*.py"))
PARSED_BY_ALL = [REPOSITORY / "jobs" / "__init__.py", REPOSITORY / "jobs" / "task_check.py", *JOBS]
OLD_PYTHONS = [path for version in ("3.6", "3.7", "3.8")
               for path in (Path.home() / ".pyenv" / "versions").glob(f"{version}.*/bin/python")]


def test_what_is_missing_is_named() -> None:
    assert what_is_missing((3, 9), (1, 25)) is None and what_is_missing((3, 13), (2, 0)) is None
    assert "is Python 3.8: name one of 3.9 or later" in str(what_is_missing((3, 8), None))
    assert "numpy is not installed for" in str(what_is_missing((3, 9), None))
    assert re.match("numpy is 1.9 for .*: install 1.25 or later there", str(what_is_missing((3, 9), (1, 9))))


def test_the_oldest_versions_are_those_that_are_installed_with() -> None:
    wanted = (REPOSITORY / "setup.cfg").read_text(encoding="utf-8")
    for name, oldest in (("python_requires = ", OLDEST_PYTHON), ("numpy", OLDEST_NUMPY)):
        assert f"{name}>={oldest[0]}.{oldest[1]}\n" in wanted


def test_the_version_of_numpy_is_found_without_numpy() -> None:
    code = "from jobs.task_check import installed_numpy, sys; print(*installed_numpy(), 'numpy' in sys.modules)"
    found = run_command(sys.executable, "-c", code)
    assert found.stdout.split() == [*numpy.__version__.split(".")[:2], "False"], found.stderr


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


def said_by(python: Path, *path: Path) -> str:
    outcome = run_command(python, "-S", "jobs/mr_pairs.py", "--mapper",
                          env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (REPOSITORY, *path)))})
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


@pytest.mark.parametrize("metadata", ["numpy-1.20.3.dist-info", "numpy-1.24.2-py3.9.egg-info"])
def test_an_old_numpy_says_so(metadata: str, tmp_path: Path) -> None:
    (tmp_path / "numpy").mkdir()
    (tmp_path / "numpy" / "__init__.py").write_text("raise ImportError")
    (tmp_path / metadata).mkdir()
    (tmp_path / "numpy_financial-9.9.dist-info").mkdir()
    said = said_by(Path(sys.executable), tmp_path)
    version = metadata[len("numpy-") :][:4]
    assert said.startswith(f"numpy is {version} for {sys.executable} on ") and len(said.splitlines()) == 1
