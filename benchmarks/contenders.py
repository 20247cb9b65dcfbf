"""The rows of the tables: how each finder and each cleaner is started, and what it needs."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Callable, Optional

from benchmarks.texts import NUM_BANDS, NUM_FUNCTIONS, NUM_ROWS, SHINGLE_CHARS, THRESHOLD

REPOSITORY = Path(__file__).resolve().parents[1]
PROTOTYPE = REPOSITORY.parent / "shared" / "prototype" / "run.py"
LOCAL_CONF = REPOSITORY / "conf" / "local.conf"

CLEANERS_PYTHON = REPOSITORY / ".venv-cleaners" / "bin" / "python"
"""What other cleaners need would change the versions that finders run with: they have an environment of their own."""

WORDS_LIKE_SHINGLES = 2
"""Of all runs of words, those of two make similarities in the corpora here most nearly those that shingles make."""

LOOKALIKE, PROTOTYPE_KIND, BY_HAND, DOCUMENTED, FLOOR, OTHER, CLEANER = (
    "lookalike", "prototype", "by hand", "documented", "floor", "other", "cleaner")
PAIRS_ROW, DEDUP_ROW = "pairs", "dedup"

Command = Callable[[Path, Path], list[str]]


@dataclass(frozen=True)
class Contender:
    """A row: its command gets the corpus and an empty folder, where it leaves ``pairs.jsonl`` or ``kept``, if any."""

    name: str
    title: str
    kind: str
    command: Command
    needs: Optional[str] = None
    """A module that has to be installed."""
    needs_cleaner: Optional[str] = None
    """A package that has to be installed in the environment of cleaners."""
    is_once: bool = False
    """One run is enough."""
    is_checked: bool = True
    """It reports pairs, not mere candidates."""
    max_corpus_bytes: Optional[int] = None
    """It needs too much memory for more."""

    def reason_to_skip(self, corpus_bytes: int) -> Optional[str]:
        """Why it cannot run here, if so."""
        if self.needs and find_spec(self.needs) is None:
            return f"{self.needs} is not installed"
        if self.needs_cleaner and cleaner_version(self.needs_cleaner) is None:
            return f"{self.needs_cleaner} is not installed in {CLEANERS_PYTHON.parents[1].name}"
        if self.kind == PROTOTYPE_KIND and not PROTOTYPE.is_file():
            return f"{PROTOTYPE} is not there"
        if self.max_corpus_bytes is not None and corpus_bytes > self.max_corpus_bytes:
            return f"too much memory for more than {self.max_corpus_bytes >> 20} MB"
        return None


@lru_cache
def cleaner_version(package: str) -> Optional[str]:
    """The version of a package in the environment of cleaners, if it is there."""
    if not CLEANERS_PYTHON.exists():
        return None
    program = "import sys; from importlib.metadata import version; print(version(sys.argv[1]))"
    done = subprocess.run([CLEANERS_PYTHON, "-c", program, package], capture_output=True, text=True)
    return done.stdout.strip() or None


def lookalike(runner: str, seed: int = 1, verb: str = "pairs") -> Command:
    """The command line as users have it, with the same shingles, threshold and bands as all others."""
    def command(corpus: Path, out: Path) -> list[str]:
        return [sys.executable, "-m", "jobs.cli", verb, str(corpus), "-r", runner, "--out", str(out), "--quiet",
                "--bands", str(NUM_BANDS), "--rows", str(NUM_ROWS), "--threshold", str(THRESHOLD),
                "--shingle", f"char:{SHINGLE_CHARS}", "--seed", str(seed)]
    return command


def text_dedup(corpus: Path, out: Path) -> list[str]:
    """As documented: it knows words only, and what shares a bucket goes; with given bands it asks for no threshold."""
    return [str(CLEANERS_PYTHON), "-m", "text_dedup.minhash", "--path", "json", "--data_files", str(corpus),
            "--split", "train", "--cache_dir", str(out / "cache"), "--output", str(out / "kept"), "--column", "text",
            "--batch_size", "10000", "--ngram", str(WORDS_LIKE_SHINGLES), "--min_length", "1",
            "--threshold", str(THRESHOLD), "--num_perm", str(NUM_FUNCTIONS),
            "--b", str(NUM_BANDS), "--r", str(NUM_ROWS)]


def datatrove(corpus: Path, out: Path) -> list[str]:
    """As its example shows it, with a tokenizer that makes its n-grams the shingles of all others."""
    return [str(CLEANERS_PYTHON), "-m", "benchmarks.datatrove_cleaner", str(corpus), str(out)]


def prototype(corpus: Path, out: Path) -> list[str]:
    """The sketch that stands beside the project."""
    return [sys.executable, str(PROTOTYPE), str(corpus), str(out / "pairs.jsonl")]


def finder(name: str) -> Command:
    """A function of ``finders``."""
    def command(corpus: Path, out: Path) -> list[str]:
        return [sys.executable, "-m", "benchmarks.finders", name, str(corpus), str(out)]
    return command


def floor(*options: str) -> Command:
    """Two steps of mrjob that do nothing."""
    def command(corpus: Path, out: Path) -> list[str]:
        return [sys.executable, str(REPOSITORY / "benchmarks" / "floor.py"), str(corpus), "--quiet", "-r", "local",
                "--output-dir", str(out / "lines"), *options]
    return command


CONTENDERS = (
    Contender("lookalike", "Lookalike, -r local", LOOKALIKE, lookalike("local")),
    Contender("lookalike-inline", "Lookalike, -r inline", LOOKALIKE, lookalike("inline")),
    *(Contender(f"lookalike-seed-{seed}", f"Lookalike, -r local, seed {seed}", LOOKALIKE, lookalike("local", seed),
                is_once=True) for seed in (2, 3, 4)),
    Contender("prototype", "prototype", PROTOTYPE_KIND, prototype),
    Contender("rensa-by-hand", "rensa by hand, checked", BY_HAND, finder("rensa-by-hand"), "rensa"),
    Contender("rensa-candidates", "rensa by hand, unchecked candidates", OTHER, finder("rensa-candidates"), "rensa",
              is_checked=False),
    Contender("rensa", "rensa", DOCUMENTED, finder("rensa"), "rensa"),
    Contender("gaoya", "gaoya", DOCUMENTED, finder("gaoya"), "gaoya"),
    Contender("gaoya-looser", "gaoya, looser", DOCUMENTED, finder("gaoya-looser"), "gaoya"),
    Contender("datasketch", "datasketch", DOCUMENTED, finder("datasketch"), "datasketch"),
    Contender("set-similarity-search", "SetSimilaritySearch, exact", OTHER, finder("set-similarity-search"),
              "SetSimilaritySearch", is_once=True, max_corpus_bytes=64 << 20),
    Contender("floor", "floor: two idle steps, stock mrjob", FLOOR, floor("--no-conf"), "distutils"),
    Contender("floor-lean", "floor: two idle steps, our start-up", FLOOR,
              floor("--conf-path", str(LOCAL_CONF), "--lean")),
)

CLEANERS = (
    Contender(PAIRS_ROW, "lookalike pairs", LOOKALIKE, lookalike("local")),
    Contender(DEDUP_ROW, "lookalike dedup", CLEANER, lookalike("local", verb="dedup")),
    Contender("text-dedup", "text-dedup, two words", CLEANER, text_dedup, needs_cleaner="text-dedup"),
    Contender("datatrove", "datatrove", CLEANER, datatrove, needs_cleaner="datatrove"),
)
