"""A Python as machines of a cluster have it: with numpy, and without the program, mrjob and whatever else is here."""

from __future__ import annotations

import importlib.util
import venv
from pathlib import Path


def make_task_python(folder: Path) -> Path:
    """Make an environment in a new folder; its interpreter."""
    venv.create(folder, symlinks=True)
    spec = importlib.util.find_spec("numpy")
    assert spec is not None and spec.origin is not None
    installed = Path(spec.origin).parents[1]
    packages = next(folder.glob("lib/python*/site-packages"))
    for name in ("numpy", "numpy.libs"):
        if (installed / name).exists():
            (packages / name).symlink_to(installed / name)
    return folder / "bin" / "python"
