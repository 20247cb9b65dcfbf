"""run.json: what was run, on what, with which outcome."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Optional

from jobs import __version__
from jobs.base import COUNTER_GROUP
from lsh_core.settings import Settings

TASK_COUNTERS = {"num_launched_tasks": "Launched {} tasks", "num_failed_tasks": "Failed {} tasks",
                 "num_killed_tasks": "Killed {} tasks"}
"""Our names of what Hadoop counts of map and of reduce tasks."""


@dataclass
class StepReport:
    """One job of a run.

    ``counters`` come from the lines that its tasks wrote, where each line of input counts once. ``engine_counters`` are
    what the engine says, for the same names, and of Hadoop and EMR the numbers of tasks: on Spark a task that was run
    again may have added twice, and EMR does not tell them of a cluster that goes on after the run.
    """

    name: str
    seconds: float
    counters: dict[str, int]
    engine_counters: dict[str, int] = field(default_factory=dict)
    reads_input: bool = True
    """Whether it read the run's input, and not the output of another step."""
    reads_against: bool = True
    """Whether it read the corpus, if there is one, that the input is held against."""

    @property
    def shuffle_bytes(self) -> int:
        return self.counters.get("shuffle_bytes", 0)

    def to_json(self) -> dict[str, Any]:
        counters = {name: number for name, number in sorted(self.counters.items()) if name != "shuffle_bytes"}
        return {"name": self.name, "seconds": round(self.seconds, 3), "shuffle_bytes": self.shuffle_bytes,
                "counters": counters, "engine_counters": dict(sorted(self.engine_counters.items()))}


def engine_counters(groups: Mapping[str, Mapping[str, int]]) -> dict[str, int]:
    """An engine's groups of counters as one, under names of ours; what it does not tell is not there.

    >>> engine_counters({"Job Counters ": {"Launched map tasks": 3, "Failed map tasks": 1, "Launched reduce tasks": 2}})
    {'num_launched_tasks': 5, 'num_failed_tasks': 1, 'num_killed_tasks': 0}
    """
    by_name = {name.strip(): counters for name, counters in groups.items()}
    found = dict(by_name.get(COUNTER_GROUP, {}))
    if tasks := by_name.get("Job Counters"):
        for name, title in TASK_COUNTERS.items():
            found[name] = sum(tasks.get(title.format(kind), 0) for kind in ("map", "reduce"))
    return found


@dataclass
class RunReport:
    """A run from its inputs to its last file."""

    engine: str
    command: str
    settings: Settings
    files: list[str]
    num_bytes: int
    against: Optional[dict[str, Any]] = None
    """Files and bytes of the corpus that the input is held against."""
    steps: list[StepReport] = field(default_factory=list)
    num_pairs: Optional[int] = None
    num_links: Optional[int] = None
    cleaning: Optional[dict[str, Any]] = None
    """What became of the lines, where a corpus was cleaned."""
    seconds: float = 0.0

    def counter(self, name: str) -> int:
        """A counter, of the first step that has it."""
        return next((step.counters[name] for step in self.steps if name in step.counters), 0)

    def total(self, *names: str) -> int:
        return sum(map(self.counter, names))

    @property
    def shuffle_bytes(self) -> int:
        return sum(step.shuffle_bytes for step in self.steps)

    def _told(self, prefix: str) -> dict[str, int]:
        return {name: self.counter(prefix + name) for name in ("lines", "documents", "copies", "rejected")}

    def to_json(self) -> dict[str, Any]:
        bands, rows = self.settings.banding
        return {
            "version": __version__,
            "engine": self.engine,
            "command": self.command,
            "seconds": round(self.seconds, 3),
            "settings": self.settings.to_json(),
            "input": {"files": self.files, "bytes": self.num_bytes,
                      **self._told("")},
            **({} if self.against is None else {"against": {**self.against, **self._told("against_")}}),
            "bands": bands,
            "rows": rows,
            "candidates": self.counter("candidates"),
            **({"pairs": self.num_pairs} if self.num_links is None else {"links": self.num_links}),
            **({} if self.cleaning is None else {"cleaning": self.cleaning}),
            "recall_promised": self.settings.recall_promised,
            "shuffle_bytes": self.shuffle_bytes,
            "steps": [step.to_json() for step in self.steps],
        }

    def write(self, path: Path) -> None:
        path.write_text(json.dumps(self.to_json(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
