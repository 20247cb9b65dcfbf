"""The corpora of the benchmark: generated once, or a file that is named, each with its truth beside."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from benchmarks.contenders import REPOSITORY
from benchmarks.texts import SHINGLE_CHARS, THRESHOLD, read_documents, read_pairs

CACHE = REPOSITORY / "benchmarks" / ".cache"
CHUNK_BYTES = 1 << 20


@dataclass(frozen=True)
class Corpus:
    """A file of JSON Lines with ``id`` and ``text``."""

    name: str
    path: Path

    @cached_property
    def num_bytes(self) -> int:
        return self.path.stat().st_size

    @cached_property
    def num_docs(self) -> int:
        with open(self.path, "rb") as file:
            return sum(1 for _ in file)

    @cached_property
    def ids(self) -> list[str]:
        """Those of the documents that have any text."""
        return read_documents(self.path).ids


def generated(name: str, *options: object) -> Corpus:
    """What ``lookalike sample`` makes with these options, made now if it is not in the cache."""
    words = [str(option) for option in options]
    path = CACHE / ("-".join([name, *(word.lstrip("-") for word in words)]) + ".jsonl")
    if not path.exists():
        CACHE.mkdir(exist_ok=True)
        _say(f"making {path.relative_to(REPOSITORY)}")
        _run("-m", "jobs.cli", "sample", *words, "--out", str(path), "--quiet")
    return Corpus(name, path)


def truth_of(corpus: Corpus) -> dict[tuple[str, str], float]:
    """All pairs of a corpus with their similarities, found now if they are not in the cache."""
    path = CACHE / f"exact-{THRESHOLD}-{SHINGLE_CHARS}-{_digest(corpus.path)}.jsonl"
    if not path.exists():
        CACHE.mkdir(exist_ok=True)
        _say(f"finding all pairs of {corpus.path.name}")
        unfinished = path.with_suffix(".unfinished")
        _run("-m", "benchmarks.truth", str(corpus.path), str(unfinished))
        unfinished.rename(path)
    return read_pairs(path)


def _digest(path: Path) -> str:
    digest = hashlib.blake2b(digest_size=8)
    with open(path, "rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()


def _run(*arguments: str) -> None:
    subprocess.run([sys.executable, *arguments], cwd=REPOSITORY, check=True)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
