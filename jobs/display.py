"""What a person sees: progress while jobs run, then a summary, and pairs beside the truth."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import floor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Table

from jobs.run_report import RunReport
from jobs.silence import Listener, Silence
from jobs.truth import Comparison

if TYPE_CHECKING:
    from jobs.sample import SampleReport

SECONDS_BETWEEN_LINES = 10.0
NUM_PAIRS_SHOWN = 60


class Display(Silence):
    """Results on standard output; progress and messages on standard error: a live bar on a terminal, else lines."""

    def __init__(self) -> None:
        self.console = Console(stderr=True, highlight=False, soft_wrap=True)

    def note(self, text: str) -> None:
        self.console.print(text, markup=False)

    @contextmanager
    def step(self, name: str) -> Iterator[Listener]:
        if self.console.is_terminal:
            with self._bar() as progress:
                yield _BarListener(progress, name)
        else:
            yield _LineListener(self, name)

    def _bar(self) -> Progress:
        unit = TextColumn("{task.fields[unit]}")
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), unit, TimeRemainingColumn())
        return Progress(*columns, console=self.console, transient=True)

    def summary(self, report: RunReport, out: Union[Path, str]) -> None:
        _show(summary_table(report), f"The results are in {out}")

    def truth(self, comparisons: Sequence[Comparison], threshold: float) -> None:
        _show(truth_table(comparisons, threshold))

    def sample(self, report: SampleReport, out: Path, truth: Path) -> None:
        _show(sample_table(report), f"The corpus is {out}, its planted pairs are {truth}")


def _show(*items: Any) -> None:
    """Print results, as wide as they are."""
    console = Console(highlight=False, soft_wrap=True)
    for item in items:
        console.print(item, markup=False)


class _BarListener:
    def __init__(self, progress: Progress, name: str) -> None:
        self.progress, self.name = progress, name
        self.tasks: dict[str, TaskID] = {}

    def __call__(self, stage: str, done: int, total: int, unit: str = "tasks") -> None:
        if stage not in self.tasks:
            self.tasks[stage] = self.progress.add_task(f"{self.name}: {stage}", total=total, unit=unit)
        self.progress.update(self.tasks[stage], completed=done)


class _LineListener:
    def __init__(self, display: Display, name: str) -> None:
        self.display, self.name, self.stage = display, name, ""
        self.last_line = self.stage_start = time.monotonic()

    def __call__(self, stage: str, done: int, total: int, unit: str = "tasks") -> None:
        now = time.monotonic()
        if stage != self.stage:
            self.stage, self.stage_start = stage, now
        if now - self.last_line >= SECONDS_BETWEEN_LINES:
            self.last_line = now
            left = (now - self.stage_start) / done * (total - done) if done else 0
            so_far = f"{done} %" if unit == "%" else f"{done} of {total} {unit}"
            self.display.note(f"{self.name}: {stage}, {so_far}" + (f", about {left:.0f} s left" if left else ""))


def summary_table(report: RunReport) -> Table:
    """The outcome of a run in a dozen lines."""
    bands, rows = report.settings.banding
    table = Table(show_header=False, box=None, pad_edge=False)
    for name in ("documents", "copies", "rejected", "candidates"):
        table.add_row(name, f"{report.counter(name):,}")
    if report.against is not None:
        table.add_row("against", f"{report.counter('against_documents'):,} documents of another corpus")
    if report.num_links is None:
        table.add_row("pairs", f"{report.num_pairs:,}")
    else:
        table.add_row("links", f"{report.num_links:,}")
    if report.cleaning is not None:
        _add_cleaning(table, report.cleaning, report.settings.threshold)
    promised = floor(1000 * report.settings.recall_promised) / 10
    table.add_row("bands × rows", f"{bands} × {rows}: finds at least {promised}% of the pairs at similarity "
                                  f"{report.settings.threshold:g}")
    num_bytes = report.num_bytes + (report.against["bytes"] if report.against else 0)
    table.add_row("shuffled", f"{report.shuffle_bytes:,} bytes, {_ratio(report.shuffle_bytes, num_bytes)} "
                              "times the input")
    for step in report.steps:
        table.add_row(f"step {step.name}", f"{step.seconds:.1f} s")
    table.add_row("in all", f"{report.seconds:.1f} s with -r {report.engine}")
    return table


def _add_cleaning(table: Table, cleaning: Mapping[str, Any], threshold: float) -> None:
    table.add_row("clusters", f"{cleaning['clusters']:,}, of which one document each is kept")
    table.add_row("kept", f"{cleaning['kept']:,} lines")
    table.add_row("removed", f"{cleaning['removed']:,} lines")
    if cleaning["chained"]:
        table.add_row("", f"{cleaning['chained']:,} of them are below {threshold:g} to their keeper, linked by others; "
                          "--cluster keeper removes none such")


def _ratio(part: int, whole: int) -> str:
    return f"{part / whole:.1f}" if whole else "0"


def sample_table(report: SampleReport) -> Table:
    """What a generated corpus holds, and how similar its unrelated documents are."""
    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_row("documents", f"{report.num_docs:,}, {report.num_bytes:,} bytes, "
                               f"{report.share_beyond_ascii:.1%} beyond ASCII")
    table.add_row("groups", f"{report.num_groups:,}, the largest of {report.largest_group:,}")
    table.add_row("planted pairs", f"{report.num_pairs:,}")
    for title, histogram in (
        ("similarity of planted pairs", report.planted),
        ("similarity of unrelated documents, random pairs", report.background),
        ("similarity to the nearest unrelated document", report.nearest),
    ):
        table.add_section()
        table.add_row(title, "")
        most = max(histogram.values(), default=0) or 1
        for name, number in histogram.items():
            table.add_row(f"  {name}", f"{'█' * round(30 * number / most)} {number:,}")
    return table


def truth_table(comparisons: Sequence[Comparison], threshold: float) -> Table:
    """The known pairs that the run should have found, and what became of each."""
    expected = [pair for pair in comparisons if pair.similarity >= threshold]
    num_found, num_below = sum(pair.is_found for pair in expected), len(comparisons) - len(expected)
    table = Table(
        title="pairs found, beside the known truth",
        caption=f"{num_found} of the {len(expected)} known pairs at or above {threshold:g} were found; "
                f"{num_below} more lie below it")
    for column in ("a", "b", "similarity", "found"):
        table.add_column(column, justify="right" if column == "similarity" else "left")
    for pair in sorted(expected, key=lambda pair: pair.is_found)[:NUM_PAIRS_SHOWN]:
        table.add_row(escape(pair.a), escape(pair.b), f"{pair.similarity:.4f}", "yes" if pair.is_found else "MISSED")
    if len(expected) > NUM_PAIRS_SHOWN:
        table.add_row("...", "...", "", f"{len(expected) - NUM_PAIRS_SHOWN} more")
    return table
