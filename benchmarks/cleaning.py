"""Cleaning a corpus: what a program kept, held against the exact answer, and the table of it.

The exact answer is that of brute force: all pairs at or above the threshold, what they connect is a
cluster, and one document of each cluster stays.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple
from pathlib import Path

from benchmarks.contenders import DEDUP_ROW, PAIRS_ROW
from benchmarks.results import Cleaned, Row, Truth, finished, title_of

COLUMNS = ("seconds", "to pairs", "peak MB", "kept", "missed", "lost")


def cleaned(kept: set[str], clusters: Iterable[frozenset[str]]) -> Cleaned:
    """What was kept, held against exact clusters, of which documents that are like no other are some.

    Which document of a cluster stays does not matter. Each one more than one that stays is missed. A cluster of which
    none stays has lost one, as one is what should have stayed: kept - missed + lost is the number of clusters.

    >>> cleaned({"a", "b", "x"}, [frozenset("abc"), frozenset("de"), frozenset("x"), frozenset("y")])
    Cleaned(num_kept=3, num_missed=1, num_lost=2)
    """
    num_kept = num_missed = num_lost = 0
    for cluster in clusters:
        num_left = len(cluster & kept)
        num_kept += num_left
        num_missed += max(num_left - 1, 0)
        num_lost += num_left == 0
    return Cleaned(num_kept, num_missed, num_lost)


def exact_clusters(ids: Iterable[str], truth: Truth) -> set[frozenset[str]]:
    """All documents in the clusters that the true pairs make, alone if they are in no pair."""
    clusters = components(truth)
    return clusters | {frozenset({doc_id}) for doc_id in set(ids).difference(*clusters)}


def components(pairs: Iterable[tuple[str, str]]) -> set[frozenset[str]]:
    """The sets of ids that pairs join."""
    group_of: dict[str, set[str]] = {}
    for pair in pairs:
        one, other = (group_of.setdefault(doc_id, {doc_id}) for doc_id in pair)
        if one is not other:
            one |= other
            group_of.update((doc_id, one) for doc_id in other)
    return {frozenset(group) for group in group_of.values()}


def read_kept(out: Path) -> set[str]:
    """The ids of the corpus that a program left in its folder, as JSON Lines or as a data set of Arrow."""
    kept = set()
    for path in [*out.glob("kept.jsonl"), *out.glob("kept/*.jsonl")]:
        with open(path, encoding="utf-8") as file:
            kept.update(str(json.loads(line)["id"]) for line in file)
    for path in out.glob("kept/*.arrow"):
        from pyarrow import ipc

        with open(path, "rb") as file:
            kept.update(map(str, ipc.open_stream(file).read_all()["id"].to_pylist()))
    return kept


def cleaning_ratios(rows: Sequence[Row]) -> dict[str, float]:
    """Seconds of cleaning to those of finding pairs, and of the others to those of Lookalike's cleaning."""
    seconds = {row.name: row.seconds for row in finished(rows)}
    title = {row.name: row.title for row in rows}
    found = {}
    if {DEDUP_ROW, PAIRS_ROW} <= seconds.keys():
        found[f"{title[DEDUP_ROW]} / {title[PAIRS_ROW]}"] = seconds[DEDUP_ROW] / seconds[PAIRS_ROW]
    if DEDUP_ROW in seconds:
        found.update((f"{title[name]} / {title[DEDUP_ROW]}", seconds[name] / seconds[DEDUP_ROW])
                     for name in seconds if name not in (DEDUP_ROW, PAIRS_ROW))
    return found


def cleaning_table(sections: Iterable[tuple[str, Sequence[Row]]]) -> str:
    """A table in Markdown of sections: a title, with the number of documents that should stay, then its rows."""
    lines = [("", *COLUMNS)]
    for title, rows in sections:
        exact = {f"**{row.outcome.cleaned.num_exact:,}**" for row in rows if row.outcome.cleaned}
        lines += [(f"**{title}**", "", "", "", "".join(exact), "", ""), *_lines(rows)]
    widths = [max(map(len, column)) for column in zip(*lines)]
    rule = "|".join(["", "-" * (widths[0] + 2), *("-" * (width + 1) + ":" for width in widths[1:]), ""])
    head, *body = ("| " + " | ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])]) + " |"
                   for line in lines)
    return "\n".join([head, rule, *body])


def _lines(rows: Sequence[Row]) -> Iterator[tuple[str, ...]]:
    """The cells of each row that was measured, in the order of the rows."""
    pairs = next((row.seconds for row in rows if row.name == PAIRS_ROW and row.runs), None)
    for row in rows:
        if row.runs:
            counts = [f"{count:,}" for count in astuple(row.outcome.cleaned)] if row.outcome.cleaned else 3 * [""]
            yield (title_of(row, rows), f"{row.seconds:.1f}", f"{row.seconds / pairs:.1f} ×" if pairs else "",
                   f"{row.peak_mb:,.0f}", *counts)
