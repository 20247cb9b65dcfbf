"""How Lookalike grows: ten thousand documents, a hundred thousand, a million; and where very many are alike.

    python -m benchmarks.growth [--docs 10000 100000 250000 1000000] [--hot-docs 100000]
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional

from rich.console import Console
from rich.table import Table

from benchmarks.bench import RESULTS, TABLE_WIDTH, how_it_ended, machine, say
from benchmarks.cleaning import components
from benchmarks.contenders import REPOSITORY
from benchmarks.corpora import CACHE, Corpus, generated, truth_of
from benchmarks.measure import measured
from benchmarks.results import read_outcome
from benchmarks.texts import read_pairs

SAMPLE_DOCS = 3000


@dataclass(frozen=True)
class Case:
    """A corpus by the options of ``lookalike sample``, and how ``lookalike pairs`` is run and checked on it."""

    name: str
    sample_options: tuple[object, ...]
    is_links: bool = False
    has_truth: bool = False


def cases_of(num_docs: Sequence[int], num_hot_docs: int) -> list[Case]:
    """Corpora that only grow, then two of which 3 % and 30 % come from one template, and 20 % are equal."""
    growing = [Case(f"{n:,} documents", ("--docs", n)) for n in num_docs]
    if not num_hot_docs:
        return growing
    few, many, equal = num_hot_docs * 3 // 100, num_hot_docs * 3 // 10, num_hot_docs // 5
    return [
        *growing,
        Case(f"{num_hot_docs:,}, {few:,} of a template, all pairs", ("--docs", num_hot_docs, "--template", few),
             has_truth=True),
        Case(f"{num_hot_docs:,}, {many:,} of a template, {equal:,} equal, links",
             ("--docs", num_hot_docs, "--template", many, "--equal", equal), is_links=True),
    ]


def run_case(case: Case) -> dict[str, Any]:
    """One run, measured, what it says of itself, and whether that is so; a failure is a message."""
    corpus = generated("growth", *case.sample_options)
    truth = truth_of(corpus) if case.has_truth else {}
    with tempfile.TemporaryDirectory(prefix="growth-") as folder:
        out, log = Path(folder) / "out", Path(folder) / "log"
        told = find(corpus, out, log, case.is_links)
        if told["exit_code"]:
            return {"case": case.name, "failure": how_it_ended(told, log)}
        run = json.loads((out / "run.json").read_text(encoding="utf-8"))
        outcome = read_outcome(out, truth, is_checked=True) if case.has_truth else None
    result = {"case": case.name, **told, "bytes": run["input"]["bytes"], "documents": run["input"]["documents"],
              "lines": run["links"] if case.is_links else run["pairs"], "shuffle_bytes": run["shuffle_bytes"],
              "gate_keys": run["steps"][0]["counters"]["gate_keys"], "recall": outcome and outcome.recall,
              "recall_promised": run["recall_promised"]}
    if outcome and (outcome.wrong_pairs or (outcome.recall or 0) < run["recall_promised"]):
        result["failure"] = f"recall {outcome.recall}, {len(outcome.wrong_pairs)} of its pairs are wrong"
    if case.is_links and not links_say_as_much(sample_of(corpus)):
        result["failure"] = f"links and pairs of {SAMPLE_DOCS:,} of the documents differ in their components"
    return result


def find(corpus: Corpus, out: Path, log: Path, is_links: bool) -> dict[str, float]:
    """A run of the command line as users have it."""
    command = [sys.executable, "-m", "jobs.cli", "pairs", str(corpus.path), "-r", "local", "--quiet",
               "--out", str(out), *(["--links"] if is_links else [])]
    return measured(command, str(REPOSITORY), str(log))


def sample_of(corpus: Corpus) -> Corpus:
    """Some of the documents of a corpus, always the same."""
    lines = corpus.path.read_bytes().splitlines(keepends=True)
    path = CACHE / f"{corpus.path.stem}.sample.jsonl"
    path.write_bytes(b"".join(random.Random(1).sample(lines, min(SAMPLE_DOCS, len(lines)))))
    return Corpus("sample", path)


def links_say_as_much(corpus: Corpus) -> bool:
    """Whether the links of a corpus join the same documents as all of its pairs."""
    with tempfile.TemporaryDirectory(prefix="growth-") as folder:
        found = []
        for name, is_links in (("pairs", False), ("links", True)):
            find(corpus, Path(folder) / name, Path(folder) / "log", is_links)
            found.append(components(read_pairs(Path(folder) / name / f"{name}.jsonl")))
    return found[0] == found[1]


def growth_table(results: Sequence[dict[str, Any]]) -> Table:
    """A line for each case that ended well."""
    table = Table(caption="peak: the largest process; keys: band keys that the gate lets through")
    table.add_column("case", no_wrap=True)
    for column in ("MB", "seconds", "CPU seconds", "peak MB", "pairs or links", "shuffled / input", "gate keys",
                   "recall"):
        table.add_column(column, justify="right")
    for result in results:
        if "seconds" in result:
            table.add_row(
                result["case"], f"{result['bytes'] / 1e6:,.1f}", f"{result['seconds']:.1f}",
                f"{result['cpu_seconds']:.1f}", f"{result['peak_mb']:,.0f}", f"{result['lines']:,}",
                f"{result['shuffle_bytes'] / max(result['bytes'], 1):.2f}", f"{result['gate_keys']:,}",
                f"{result['recall']:.4f}" if result["recall"] is not None else "")
    return table


def parse(arguments: Optional[Sequence[str]]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="growth", description="How Lookalike grows with its input.")
    parser.add_argument("--docs", type=int, nargs="+", default=[10**4, 10**5, 250_000, 10**6],
                        help="sizes to go through")
    parser.add_argument("--hot-docs", type=int, default=10**5, help="size of the corpora with templates; 0: none")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder for growth.json")
    return parser.parse_args(arguments)


def main(arguments: Optional[Sequence[str]] = None) -> int:
    options = parse(arguments)
    results = []
    for case in cases_of(options.docs, options.hot_docs):
        results.append(run_case(case))
        say(f"{case.name}: " + (results[-1].get("failure") or f"{results[-1]['seconds']:.1f} s"))
    Console(width=TABLE_WIDTH, highlight=False).print(growth_table(results))
    options.results.mkdir(parents=True, exist_ok=True)
    report = {"machine": machine(), "cases": results}
    (options.results / "growth.json").write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    failures = [result for result in results if "failure" in result]
    for result in failures:
        print(f"ERROR: {result['case']}: {result['failure']}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
