"""Lookalike beside other finders and other cleaners: every run a process of its own, in turns, measured from outside.

    python -m benchmarks.bench [--corpus FILE] [--runs 5] [--only NAME ...]
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Callable, NamedTuple, Optional

from rich.console import Console

from benchmarks.cleaning import cleaned, cleaning_ratios, cleaning_table, exact_clusters, read_kept
from benchmarks.contenders import CLEANER, CLEANERS, CONTENDERS, REPOSITORY, Contender, cleaner_version
from benchmarks.corpora import Corpus, generated, truth_of
from benchmarks.measure import measured
from benchmarks.results import Row, Truth, add_rows, ratios, read_outcome, results_table

RESULTS = REPOSITORY / "benchmarks" / "results"
PACKAGES = ("lookalike", "mrjob", "numpy", "rensa", "gaoya", "datasketch", "SetSimilaritySearch")
NUM_WRONG_SHOWN = 3
TABLE_WIDTH = 130


def run_all(corpus: Corpus, contenders: Sequence[Contender], truth: Truth, num_runs: int, slow_seconds: float
            ) -> list[Row]:
    """Run all contenders in turns; one that is slow, or was said to run once, has one run."""
    rows = []
    for contender in contenders:
        reason = contender.reason_to_skip(corpus.num_bytes)
        if reason:
            say(f"{corpus.name}: {contender.title} is skipped: {reason}")
        else:
            rows.append((contender, Row.of(contender)))
    for number in range(num_runs):
        for contender, row in rows:
            is_done = row.failure or (row.runs and (contender.is_once or row.runs[0]["seconds"] > slow_seconds))
            if not is_done:
                run_once(corpus, contender, row, truth)
                say(f"{corpus.name}, run {number + 1} of {num_runs}: {contender.title}: "
                    + (row.failure or f"{row.runs[-1]['seconds']:.2f} s"))
    return [row for _, row in rows]


def run_once(corpus: Corpus, contender: Contender, row: Row, truth: Truth) -> None:
    """Add a run to a row, and what it found."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        out, log = Path(folder) / "out", Path(folder) / "log"
        out.mkdir()
        told = measured(contender.command(corpus.path, out), str(REPOSITORY), str(log))
        if told["exit_code"]:
            row.failure = f"FAILED with {how_it_ended(told, log)}"
            return
        row.runs.append(told)
        row.outcome = read_outcome(out, truth, contender.is_checked)
        if contender.kind == CLEANER:
            row.outcome.cleaned = cleaned(read_kept(out), exact_clusters(corpus.ids, truth))
    for wrong in row.outcome.wrong_pairs[:NUM_WRONG_SHOWN]:
        say(f"ERROR: {contender.title}: {wrong}")


def how_it_ended(told: Mapping[str, float], log: Path) -> str:
    """The exit code of a run that failed, and what it said last."""
    said = log.read_text(errors="replace").strip().splitlines() or ["nothing"]
    return f"code {told['exit_code']:.0f}, saying {said[-1]}"


def report(corpus: Corpus, rows: Sequence[Row], num_true: int) -> dict[str, Any]:
    """Everything that was measured, for a file and for the plot."""
    return {
        "corpus": {"name": corpus.name, "docs": corpus.num_docs, "bytes": corpus.num_bytes, "true_pairs": num_true},
        "machine": machine(),
        "ratios": {**ratios(rows, corpus.num_bytes), **cleaning_ratios(rows)},
        "rows": [row.to_json() for row in rows],
    }


def machine() -> dict[str, Any]:
    """Where it was measured, with which versions."""
    return {"cores": os.cpu_count(), "system": platform.platform(), "python": platform.python_version(),
            "packages": {name: installed for name in PACKAGES if (installed := version_of(name))},
            "cleaners": {cleaner.name: cleaner_version(cleaner.needs_cleaner) for cleaner in CLEANERS
                         if cleaner.needs_cleaner}}


def version_of(package: str) -> Optional[str]:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def show(done: Sequence[tuple[Corpus, list[Row], int]]) -> None:
    """One table of all corpora, then the ratios as plain lines."""
    table = results_table()
    for corpus, rows, num_true in done:
        size = f"{corpus.num_docs:,} documents, {corpus.num_bytes / 1e6:,.1f} MB, {num_true:,} pairs"
        add_rows(table, f"{corpus.name}: {size}", rows, corpus.num_bytes)
    Console(width=TABLE_WIDTH, highlight=False).print(table)
    for corpus, rows, _ in done:
        for title, ratio in ratios(rows, corpus.num_bytes).items():
            print(f"{corpus.name}: {title} = {ratio:.2f}")


def show_cleaning(done: Sequence[tuple[Corpus, list[Row], int]]) -> None:
    """The table of cleaners as README has it, then the ratios as plain lines."""
    print(cleaning_table((f"{corpus.num_docs:,} documents, {corpus.num_bytes / 1e6:,.1f} MB", rows)
                         for corpus, rows, _ in done))
    for corpus, rows, _ in done:
        for title, ratio in cleaning_ratios(rows).items():
            print(f"{corpus.name}: {title} = {ratio:.2f}")


def problems_of(rows: Sequence[Row]) -> list[str]:
    """Finders that failed or reported what is not so."""
    return [f"{row.title}: " + (row.failure or f"{len(row.outcome.wrong_pairs):,} of its pairs are WRONG")
            for row in rows if row.failure or row.outcome.wrong_pairs]


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def parse(arguments: Optional[Sequence[str]]) -> argparse.Namespace:
    names = [contender.name for contender in (*CONTENDERS, *CLEANERS)]
    parser = argparse.ArgumentParser(prog="bench", description="Lookalike beside other finders and other cleaners.")
    parser.add_argument("--corpus", type=Path, help="JSON Lines with id and text, instead of the generated corpora")
    parser.add_argument("--short-docs", type=int, default=64_000, help="documents of about 400 characters")
    parser.add_argument("--long-docs", type=int, default=15_000, help="documents of about 10,000 characters")
    parser.add_argument("--runs", type=int, default=5, help="runs of each finder, in turns")
    parser.add_argument("--slow-seconds", type=float, default=60, help="a finder that takes longer runs once")
    parser.add_argument("--only", nargs="+", choices=names, metavar="NAME", help=f"some of {', '.join(names)}")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder for JSON files, one a corpus and table")
    return parser.parse_args(arguments)


def corpora_of(options: argparse.Namespace) -> list[Corpus]:
    if options.corpus:
        return [Corpus(options.corpus.stem, options.corpus.resolve())]
    return [generated("short", "--docs", options.short_docs, "--chars", 400, "--near", 0.25),
            generated("long", "--docs", options.long_docs, "--chars", 10_000, "--near", 0.25)]


class Table(NamedTuple):
    """Contenders that are run in turns, how their files of results end, and how they are shown."""

    contenders: Sequence[Contender]
    suffix: str
    show: Callable[[Sequence[tuple[Corpus, list[Row], int]]], None]


TABLES = (Table(CONTENDERS, "", show), Table(CLEANERS, "-cleaning", show_cleaning))


def run_table(table: Table, options: argparse.Namespace) -> list[str]:
    """Run what is wanted of a table, write and show it; gives what went wrong."""
    contenders = [contender for contender in table.contenders if not options.only or contender.name in options.only]
    if not contenders:
        return []
    options.results.mkdir(parents=True, exist_ok=True)
    done = []
    for corpus in corpora_of(options):
        truth = truth_of(corpus)
        rows = run_all(corpus, contenders, truth, options.runs, options.slow_seconds)
        results = json.dumps(report(corpus, rows, len(truth)), indent=2) + "\n"
        (options.results / f"{corpus.name}{table.suffix}.json").write_text(results, encoding="utf-8")
        done.append((corpus, rows, len(truth)))
    table.show(done)
    return [f"{corpus.name}: {problem}" for corpus, rows, _ in done for problem in problems_of(rows)]


def main(arguments: Optional[Sequence[str]] = None) -> int:
    options = parse(arguments)
    problems = [problem for table in TABLES for problem in run_table(table, options)]
    for problem in problems:
        print(f"ERROR: {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
