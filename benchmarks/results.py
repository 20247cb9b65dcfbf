"""What the runs come to: a row for each contender, the table of rows, and the ratios that matter."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, Optional

from rich.table import Table

from benchmarks.contenders import BY_HAND, DOCUMENTED, FLOOR, PROTOTYPE_KIND, Contender
from benchmarks.texts import read_pairs

Truth = Mapping[tuple[str, str], float]

TOLERANCE = 1e-6
"""Similarities may be written with six digits."""

GOOD_RECALL = 0.98
LOOKALIKE_ROW = "lookalike"


@dataclass(frozen=True)
class Cleaned:
    """How many documents were kept, how many of these should have gone, how many are gone that should have stayed."""

    num_kept: int
    num_missed: int
    num_lost: int

    @property
    def num_exact(self) -> int:
        """How many should have been kept."""
        return self.num_kept - self.num_missed + self.num_lost


@dataclass
class Outcome:
    """What a finder left in its folder, held against the truth."""

    num_pairs: Optional[int] = None
    recall: Optional[float] = None
    shuffle_bytes: Optional[int] = None
    wrong_pairs: list[str] = field(default_factory=list)
    cleaned: Optional[Cleaned] = None


def read_outcome(out: Path, truth: Truth, is_checked: bool) -> Outcome:
    """The pairs of a folder, if it has any; with an exact check none may be wrong."""
    outcome = Outcome()
    if (out / "pairs.jsonl").exists():
        pairs = read_pairs(out / "pairs.jsonl")
        outcome.num_pairs = len(pairs)
        outcome.recall = len(pairs.keys() & truth.keys()) / len(truth) if truth else 1.0
        outcome.wrong_pairs = wrong_pairs(pairs, truth) if is_checked else []
    if (out / "run.json").exists():
        outcome.shuffle_bytes = json.loads((out / "run.json").read_text(encoding="utf-8"))["shuffle_bytes"]
    return outcome


def wrong_pairs(pairs: Truth, truth: Truth) -> list[str]:
    """Pairs that are not similar, or not as similar as is said.

    >>> wrong_pairs({("a", "b"): 0.9, ("a", "c"): 0.8}, {("a", "b"): 0.9})
    ["('a', 'c') is reported with 0.8, but is no pair"]
    """
    wrong = []
    for pair, similarity in pairs.items():
        if pair not in truth:
            wrong.append(f"{pair} is reported with {similarity}, but is no pair")
        elif not abs(similarity - truth[pair]) <= TOLERANCE:
            wrong.append(f"{pair} is reported with {similarity}, but has {truth[pair]}")
    return wrong


@dataclass
class Row:
    """All runs of one contender on one corpus."""

    name: str
    title: str
    kind: str
    runs: list[dict[str, float]] = field(default_factory=list)
    outcome: Outcome = field(default_factory=Outcome)
    failure: Optional[str] = None

    @classmethod
    def of(cls, contender: Contender) -> Row:
        return cls(contender.name, contender.title, contender.kind)

    @property
    def seconds(self) -> float:
        """The median of all runs."""
        return median(run["seconds"] for run in self.runs)

    @property
    def peak_mb(self) -> float:
        """The largest of all runs."""
        return max(run["peak_mb"] for run in self.runs)

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), **({"seconds": self.seconds, "peak_mb": self.peak_mb} if self.runs else {})}


def finished(rows: Iterable[Row]) -> list[Row]:
    """Rows that have been measured, fastest first."""
    return sorted((row for row in rows if row.runs), key=lambda row: row.seconds)


def title_of(row: Row, rows: Iterable[Row]) -> str:
    """The title of a row, which tells if it has fewer runs than others."""
    most_runs = max(len(other.runs) for other in rows)
    return row.title + (f" ({len(row.runs)} of {most_runs} runs)" if len(row.runs) < most_runs else "")


def results_table() -> Table:
    """An empty table; each corpus is a section of it."""
    table = Table(caption="seconds: median of the runs; peak: the largest process of any run")
    table.add_column("finder", no_wrap=True)
    for column in ("seconds", "ratio", "peak MB", "pairs", "recall", "shuffled / input"):
        table.add_column(column, justify="right", no_wrap=True)
    return table


def add_rows(table: Table, title: str, rows: Sequence[Row], corpus_bytes: int) -> None:
    """A line for each contender, fastest first; the ratio is that of its seconds to Lookalike's."""
    table.add_section()
    table.add_row(title, style="bold")
    ours = next((row.seconds for row in rows if row.name == LOOKALIKE_ROW and row.runs), None)
    for row in finished(rows):
        outcome = row.outcome
        table.add_row(
            title_of(row, rows), f"{row.seconds:.2f}", f"{row.seconds / ours:.2f}" if ours else "",
            f"{row.peak_mb:,.0f}", "" if outcome.num_pairs is None else f"{outcome.num_pairs:,}",
            "" if outcome.recall is None else f"{outcome.recall:.4f}",
            "" if outcome.shuffle_bytes is None else f"{outcome.shuffle_bytes / corpus_bytes:.2f}")


def ratios(rows: Sequence[Row], corpus_bytes: int) -> dict[str, float]:
    """What the program is judged by, as far as the rows that it takes are there."""
    by_name = {row.name: row for row in finished(rows)}
    if LOOKALIKE_ROW not in by_name:
        return {}
    ours = by_name[LOOKALIKE_ROW]
    found: dict[str, float] = {}
    for row in by_name.values():
        if row.kind == PROTOTYPE_KIND:
            found["Lookalike / prototype"] = ours.seconds / row.seconds
        elif row.kind == FLOOR:
            found[f"Lookalike / {row.title}"] = ours.seconds / row.seconds
    for kind, title in ((BY_HAND, "by hand"), (DOCUMENTED, f"as documented with recall of {GOOD_RECALL} or more")):
        peers = [row for row in by_name.values()
                 if row.kind == kind and (kind == BY_HAND or (row.outcome.recall or 0) >= GOOD_RECALL)]
        if peers:
            # Rows are ordered: the first is the fastest.
            found[f"best peer {title} ({peers[0].title}) / Lookalike"] = peers[0].seconds / ours.seconds
    if ours.outcome.shuffle_bytes is not None:
        found["bytes shuffled / bytes of input"] = ours.outcome.shuffle_bytes / corpus_bytes
    return found
