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
    path = Path(os.path.realpath(name))
    return any(folder.name.endswith(PARTIAL) and os.path.isfile(folder / STATE) for folder in (path, *path.parents))
