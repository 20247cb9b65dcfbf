"""What the files of an index are called, and how its folder is told from others."""

from __future__ import annotations

from pathlib import Path

MANIFEST = "manifest.json"
DOCUMENTS, KEYS, LINKS = "documents", "keys", "links"


def is_index(name: str) -> bool:
    """Whether a name is that of a folder of ours, complete or not."""
    folder = Path(name)
    return (folder / MANIFEST).is_file() and (
        (folder / piece_name(KEYS, 0)).exists() or (folder / MANIFEST).read_bytes().startswith(b'{"lookalike_index"'))


def piece_name(kind: str, number: int, ending: str = "") -> str:
    return f"{kind}-{number:05}{ending}"
