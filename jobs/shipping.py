"""The program as one zip file that travels to task machines, where nothing of it is installed."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Optional

PACKAGES = ("lsh_core", "jobs")
ZIP_NAME = "lookalike_tasks.zip"
LONG_AGO = (1980, 1, 1, 0, 0, 0)


def build_zip(folder: Path) -> Path:
    """Write the zip into ``folder``; the same code gives the same bytes."""
    path = folder / ZIP_NAME
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in sorted(_modules()):
            archive.writestr(zipfile.ZipInfo(name, LONG_AGO), content, zipfile.ZIP_DEFLATED)
    return path


@cache
def temporary_zip(parent: Optional[str] = None) -> Path:
    """The zip in a private folder that is removed when this process ends; mrjob asks for it twice a job."""
    if parent is not None:
        os.makedirs(parent, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="lookalike-tasks-", dir=parent))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return build_zip(folder)


def _modules() -> Iterator[tuple[str, bytes]]:
    for package in PACKAGES:
        spec = find_spec(package)
        assert spec is not None and spec.origin is not None
        for module in Path(spec.origin).parent.glob("*.py"):
            yield f"{package}/{module.name}", module.read_bytes()
