"""Ids and file names that mean something to shells, engines and terminals: here they are names, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tests.helpers import REPOSITORY, made_up_documents

TRAP = "pwned"
"""The name of a file that is there only if something has been run that was meant to be read."""

COMMANDS = ("$(touch {trap})", "`touch {trap}`", "; touch {trap};", "| touch {trap} #", "\n touch {trap}\n",
            "&touch {trap}&")
NAMES = ("../../x", "/etc/passwd", "..", "-r", "--out=x", "a b", "a\nb", "a\r\nb", "a\tb", "%2e%2e%2f%00", "a#b", "a,b",
         "*", "[x]", "{a,b}", "\\", "'", '"', "'\"", "${HOME}", "~root", "!!", "s3://bucket/key", "file:///x",
         "\x1b[2J", "\u202e")


class Hostile(NamedTuple):
    """The same documents in many files of hostile names, in few whose names are joined, and in one of a plain name."""

    folder: Path
    files: list[Path]
    few_files: list[Path]
    plain: Path

    def traps(self, *folders: Path) -> list[Path]:
        """The traps that have been sprung, here and below other folders."""
        return [path for folder in (self.folder, REPOSITORY, *folders) for path in folder.rglob(TRAP)]


def make_hostile(folder: Path) -> Hostile:
    """Write documents whose ids are hostile, each with a near-duplicate in another file."""
    ids = [*NAMES, *(command.format(trap=folder / TRAP) for command in COMMANDS)]
    # A file name can hold no slash, and the shell that would be caught by it may be anywhere.
    names = [name for name in NAMES if "/" not in name and name != ".."]
    commands = [command.format(trap=TRAP) for command in COMMANDS]
    lines = []
    for doc_id, text in zip(ids, made_up_documents(3 * len(ids)).values()):
        lines += [_line(doc_id, f"{doc_id} {text}"), _line(f"{doc_id} ", f"{doc_id} {text} again")]
    many = _write(folder / "many", [*names, *commands], lines)
    few = _write(folder / "few", ["".join(names), "".join(commands)], lines)
    (plain,) = _write(folder / "one", ["plain"], lines)
    return Hostile(folder, many, few, plain)


def _line(doc_id: str, text: str) -> str:
    return json.dumps({"id": doc_id, "text": text})


def _write(folder: Path, names: Sequence[str], lines: Sequence[str]) -> list[Path]:
    """Deal lines to files in a new folder."""
    folder.mkdir()
    paths = [folder / f"{name}.jsonl" for name in names]
    for number, path in enumerate(paths):
        path.write_text("".join(line + "\n" for line in lines[number :: len(paths)]))
    return paths
