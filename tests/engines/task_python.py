"""A Python as machines of a cluster have it: with numpy, and without the program, mrjob and whatever else is here."""

from __future__ import annotations

import importlib.util
import venv
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path


def make_task_python(folder: Path) -> Path:
    """Make an environment in a new folder; its interpreter."""
    venv.create(folder, symlinks=True)
    spec = importlib.util.find_spec("numpy")
    assert spec is not None and spec.origin is not None
    installed = Path(spec.origin).parents[1]
    python = folder / "bin" / "python"
    for name in ("numpy", "numpy.libs"):
        if (installed / name).exists():
            (packages_of(python) / name).symlink_to(installed / name)
    return python


def packages_of(python: Path) -> Path:
    """Where the modules of an environment are."""
    return next(python.parents[1].glob("lib/python*/site-packages"))


@contextmanager
def without_numpy(python: Path) -> Iterator[None]:
    """While an environment lacks it."""
    numpy = packages_of(python) / "numpy"
    numpy.rename(numpy.with_name("not_numpy"))
    try:
        yield
    finally:
        numpy.with_name("not_numpy").rename(numpy)


@contextmanager
def with_modules(python: Path, modules: Mapping[str, str]) -> Iterator[None]:
    """While an environment has modules of these names and contents besides."""
    paths = [packages_of(python) / f"{name}.py" for name in modules]
    for path, content in zip(paths, modules.values()):
        path.write_text(content)
    try:
        yield
    finally:
        for path in paths:
            path.unlink()
