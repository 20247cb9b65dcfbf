"""What the folder of an interrupted run is called, and how it is told from others."""

from __future__ import annotations

import os
from pathlib import Path

PARTIAL, STATE = ".partial", "state.json"


def partial_folder(out: Path) -> Path:
    """Where stages are kept until the result is complete."""
    return out.with_name(out.name + PARTIAL)


def is_left_over(name: str) -> bool:
    """Whether a path is such a folder, or lies in one."""
    path = os.path.abspath(name)
    return PARTIAL in path and any(
        folder.name.endswith(PARTIAL) and (folder / STATE).is_file() for folder in (Path(path), *Path(path).parents))
