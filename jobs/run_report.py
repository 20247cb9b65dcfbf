"""run.json: what was run, on what, with which outcome."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any, Optional

from lsh_core.settings import Settings


@dataclass
class StepReport:
    """One job of a run; ``counters`` come from the lines that its tasks wrote."""

    name: str
    seconds: float
    counters: dict[str, int]
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
                "counters": counters}


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
            "version": version("lookalike"),
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
