"""How much memory the Python of an engine's tasks takes while a run goes on."""

from __future__ import annotations

import re
import threading
from contextlib import suppress
from pathlib import Path

from tests.engines.engine import Engine

LOOK_SECONDS = 0.2
PEAK = re.compile(r"^VmHWM:\s+(\d+) kB$", re.MULTILINE)


class PeakMemory:
    """Looks, over and over, at the largest size that each process of tasks has had, while it is entered."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.mb_of: dict[int, int] = {}
        """By process id."""
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> PeakMemory:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join()

    @property
    def mb(self) -> int:
        """The largest of all."""
        return max(self.mb_of.values())

    def _watch(self) -> None:
        while not self._is_over.wait(LOOK_SECONDS):
            for pid in self._engine.pids(str(self._engine.task_python)):
                with suppress(OSError):  # it has ended meanwhile
                    if found := PEAK.search(Path(f"/proc/{pid}/status").read_text()):
                        self.mb_of[pid] = int(found[1]) // 1024
