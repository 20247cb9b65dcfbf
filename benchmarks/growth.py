"""How Lookalike grows: ten thousand documents, a hundred thousand, a million; and where very many are alike.

    python -m benchmarks.growth [--docs 10000 100000 1000000] [--hot-docs 100000]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional

from rich.console import Console
from rich.table import Table

from benchmarks.bench import RESULTS, TABLE_WIDTH, machine, say
from benchmarks.contenders import LOCAL_CONF, REPOSITORY
from benchmarks.corpora import Corpus, generated
from benchmarks.measure import measured
from jobs.gate_file import decode_lines


@dataclass(frozen=True)
class Case:
    """A corpus by the options of ``lookalike sample``, and the options of ``lookalike pairs`` for it."""

    name: str
    sample_options: tuple[object, ...]
    pairs_options: tuple[str, ...] = ()


def cases_of(num_docs: Sequence[int], num_hot_docs: int) -> list[Case]:
    """Corpora that only grow, then two of which 3 % and 30 % come from one template, and 20 % are equal."""
    growing = [Case(f"{n:,} documents", ("--docs", n)) for n in num_docs]
    if not num_hot_docs:
        return growing
    few, many, equal = num_hot_docs * 3 // 100, num_hot_docs * 3 // 10, num_hot_docs // 5
    return [
        *growing,
        Case(f"{num_hot_docs:,}, {few:,} of a template, all pairs", ("--docs", num_hot_docs, "--template", few)),
        Case(f"{num_hot_docs:,}, {many:,} of a template, {equal:,} equal, links",
             ("--docs", num_hot_docs, "--template", many, "--equal", equal), ("--links",)),
    ]


def run_case(case: Case) -> dict[str, Any]:
    """One run, measured, and what it says of itself; a failure is a message."""
    corpus = generated("growth", *case.sample_options)
    with tempfile.TemporaryDirectory(prefix="growth-") as folder:
        out, log = Path(folder) / "out", Path(folder) / "log"
        command = [sys.executable, "-m", "jobs.cli", "pairs", str(corpus.path), "-r", "local", "--quiet",
                   "--out", str(out), *case.pairs_options]
        told = measured(command, str(REPOSITORY), str(log))
        if told["exit_code"]:
            said = log.read_text(errors="replace").strip().splitlines() or ["nothing"]
            return {"case": case.name, "failure": f"code {told['exit_code']:.0f}, saying {said[-1]}"}
        run = json.loads((out / "run.json").read_text(encoding="utf-8"))
    return {"case": case.name, **told, "bytes": run["input"]["bytes"], "documents": run["input"]["documents"],
            "lines": run["pairs"] if "pairs" in run else run["links"], "shuffle_bytes": run["shuffle_bytes"],
            "gate_keys": num_gate_keys(corpus)}


def num_gate_keys(corpus: Corpus) -> int:
    """How many band keys the gate lets through: it is made once more, outside of what is measured."""
    command = [sys.executable, str(REPOSITORY / "jobs" / "mr_gate.py"), str(corpus.path), "--quiet",
               "-r", "local", "--conf-path", str(LOCAL_CONF)]
    with tempfile.TemporaryFile() as file:
        subprocess.run(command, cwd=REPOSITORY, stdout=file, check=True)
        file.seek(0)
        gate, _ = decode_lines(file)
    return len(gate.keys)


def growth_table(results: Sequence[dict[str, Any]]) -> Table:
    """A line for each case that ended well."""
    table = Table(caption="peak: the largest process; keys: band keys that the gate lets through")
    table.add_column("case", no_wrap=True)
    for column in ("MB", "seconds", "CPU seconds", "peak MB", "pairs or links", "shuffled / input", "gate keys"):
        table.add_column(column, justify="right")
    for result in results:
        if "failure" not in result:
            table.add_row(
                result["case"], f"{result['bytes'] / 1e6:,.1f}", f"{result['seconds']:.1f}",
                f"{result['cpu_seconds']:.1f}", f"{result['peak_mb']:,.0f}", f"{result['lines']:,}",
                f"{result['shuffle_bytes'] / max(result['bytes'], 1):.2f}", f"{result['gate_keys']:,}")
    return table


def parse(arguments: Optional[Sequence[str]]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="growth", description="How Lookalike grows with its input.")
    parser.add_argument("--docs", type=int, nargs="+", default=[10**4, 10**5, 10**6], help="sizes to go through")
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
