"""The results of the benchmark as one picture: how many times as long as Lookalike each finder takes.

    python -m benchmarks.plot [--results FOLDER]        writes FOLDER/ratios.png
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Optional

from benchmarks.bench import RESULTS
from benchmarks.contenders import LOOKALIKE
from benchmarks.results import LOOKALIKE_ROW

OURS, OTHERS = "#c44e52", "#8c9bb0"
INCHES_OF_BAR, INCHES_OF_FRAME, WIDTH_INCHES = 0.28, 1.2, 9


def read_results(folder: Path) -> list[dict[str, Any]]:
    """The reports of all corpora in a folder that Lookalike was measured on."""
    reports = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]
    return [report for report in reports if bars_of(report)]


def bars_of(report: dict[str, Any]) -> list[tuple[str, float, bool]]:
    """A label, the ratio to Lookalike's seconds and whether it is ours, for each row; the fastest first."""
    rows = [row for row in report.get("rows", []) if row["runs"] and "seed" not in row["name"]]
    ours = next((row["seconds"] for row in rows if row["name"] == LOOKALIKE_ROW), None)
    if ours is None:
        return []
    bars = []
    for row in sorted(rows, key=lambda row: row["seconds"]):
        recall = row["outcome"]["recall"]
        label = row["title"] + ("" if recall is None else f" (recall {recall:.3f})")
        bars.append((label, row["seconds"] / ours, row["kind"] == LOOKALIKE))
    return bars


def draw(reports: Sequence[dict[str, Any]], path: Path) -> None:
    """A panel a corpus, a bar a finder: to the left of Lookalike what is faster, to the right what is slower."""
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot

    heights = [INCHES_OF_FRAME + INCHES_OF_BAR * len(bars_of(report)) for report in reports]
    figure, panels = pyplot.subplots(
        len(reports), figsize=(WIDTH_INCHES, sum(heights)), height_ratios=heights, squeeze=False, layout="constrained")
    for panel, report in zip(panels[:, 0], reports):
        labels, ratios, is_ours = zip(*bars_of(report))
        colors = [OURS if ours else OTHERS for ours in is_ours]
        bars = panel.barh(range(len(labels)), [ratio - 1 for ratio in ratios], left=1, color=colors)
        panel.bar_label(bars, [f"{ratio:.2f}" for ratio in ratios], padding=3)
        panel.set_yticks(range(len(labels)), labels)
        panel.invert_yaxis()
        panel.set_xscale("log")
        panel.xaxis.set_major_formatter("{x:g}")
        panel.axvline(1, color=OURS, linewidth=1)
        panel.margins(x=0.15)
        corpus = report["corpus"]
        panel.set_title(f"{corpus['name']}: {corpus['docs']:,} documents, {corpus['bytes'] / 1e6:,.1f} MB")
        panel.set_xlabel("seconds, in multiples of Lookalike -r local")
    figure.savefig(path, dpi=120)


def main(arguments: Optional[Sequence[str]] = None) -> None:
    parser = argparse.ArgumentParser(prog="plot", description="Draw the results of the benchmark.")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder with the JSON files")
    options = parser.parse_args(arguments)
    reports = read_results(options.results)
    if reports:
        draw(reports, options.results / "ratios.png")
        print(f"drawn: {options.results / 'ratios.png'}")
    else:
        print(f"nothing to draw: no file of {options.results} has a row of Lookalike")


if __name__ == "__main__":
    main()
