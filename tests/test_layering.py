"""Who may import whom: the core is pure, tasks are light, jobs do not know each other, oracles know nothing."""

from __future__ import annotations

import ast
import importlib.util
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]
CORE = sorted((REPOSITORY / "lsh_core").glob("*.py"))
JOBS = sorted((REPOSITORY / "jobs").glob("mr_*.py"))
TASK_MODULES = [REPOSITORY / "jobs" / name for name in ("base.py", "records.py", "lean_mrjob.py")] + JOBS

DRIVER_ONLY = ("click", "rich", "pyarrow", "zstandard")
# Files, the clock, chance, the environment and other processes are not the core's to touch.
IMPURE = {"argparse", "datetime", "glob", "io", "logging", "multiprocessing", "os", "pathlib", "random", "shutil",
          "socket", "subprocess", "sys", "tempfile", "threading", "time"}


def imported_modules(path: Path) -> set[str]:
    """The full names of all modules that a file imports, inside functions too."""
    modules: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            modules.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name} has a relative import, which this test cannot follow"
            modules.add(node.module or "")
            # "from jobs import mr_pairs" names a module too.
            modules.update(f"{node.module}.{alias.name}" for alias in node.names)
    return modules


def imported_packages(path: Path) -> set[str]:
    return {module.partition(".")[0] for module in imported_modules(path)}


def is_standard_library(package: str) -> bool:
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin in ("built-in", "frozen", None):
        return spec is not None and spec.origin is not None
    paths = sysconfig.get_paths()
    home = Path(spec.origin)
    installed = (Path(paths["purelib"]), Path(paths["platlib"]))
    return Path(paths["stdlib"]) in home.parents and not any(folder in home.parents for folder in installed)


def by_name(path: Path) -> str:
    return path.stem


def test_the_standard_library_is_told_from_the_rest():
    assert all(map(is_standard_library, ["json", "math", "sys", "unicodedata", "collections"]))
    assert not any(map(is_standard_library, ["numpy", "pytest", "lsh_core", "tests", "no_such_module"]))


def test_imports_are_found_wherever_they_stand(tmp_path):
    path = tmp_path / "module.py"
    path.write_text("import a.b as c\nfrom d import e\ndef f():\n    if True:\n        import g\n")
    assert imported_modules(path) == {"a.b", "d", "d.e", "g"}
    assert imported_packages(path) == {"a", "d", "g"}


@pytest.mark.parametrize("path", CORE, ids=by_name)
def test_the_core_imports_numpy_the_standard_library_and_itself(path):
    others = imported_packages(path) - {"numpy", "lsh_core"}
    assert {package for package in others if not is_standard_library(package)} == set()
    assert others & IMPURE == set()


def test_oracles_import_the_standard_library_alone():
    packages = imported_packages(REPOSITORY / "tests" / "oracles.py")
    assert packages
    assert {package for package in packages if not is_standard_library(package)} == set()


@pytest.mark.parametrize("path", TASK_MODULES, ids=by_name)
def test_no_job_imports_another(path):
    own_name = f"jobs.{path.stem}"
    others = {f"jobs.{job.stem}" for job in JOBS} - {own_name}
    assert imported_modules(path) & others == set()


def loaded_by(module: str, names: tuple[str, ...]) -> list[str]:
    """Which of these modules a fresh Python has loaded once it has imported the first."""
    program = f"import sys, {module}; print(*[name for name in {names!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    return done.stdout.split()


@pytest.mark.parametrize("path", TASK_MODULES, ids=by_name)
def test_a_task_loads_nothing_that_only_the_driver_has(path):
    assert loaded_by(f"jobs.{path.stem}", DRIVER_ONLY) == []


def test_the_driver_loads_what_tasks_do_not():
    # So that the test above can fail.
    assert loaded_by("jobs.cli", ("click", "rich")) == ["click"]
    assert loaded_by("jobs.display", ("click", "rich")) == ["rich"]


@pytest.mark.parametrize("path", JOBS, ids=by_name)
def test_numpy_is_imported_after_it_was_told_how_to_be_fast(path):
    assert "numpy" not in imported_packages(path)
    order = order_of_import(f"jobs.{path.stem}")
    assert order.index("jobs.lean_mrjob") < order.index("numpy")


@pytest.mark.parametrize("module", ["jobs.cli", "jobs.api"])
def test_the_driver_makes_numpy_ready_too(module):
    order = order_of_import(module)
    assert order.index("jobs.lean_mrjob") < order.index("numpy")


def order_of_import(module: str) -> list[str]:
    """The modules that importing a module loads, first ones first."""
    code = f"import sys; before = set(sys.modules); import {module}; print([m for m in sys.modules if m not in before])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    modules: list[str] = ast.literal_eval(done.stdout)
    return modules
