"""How much memory the Python of an engine's tasks takes while a run goes on."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

from tests.engines.engine import Engine
from tests.watching import Lookout

PEAK = re.compile(r"^VmHWM:\s+(\d+) kB$", re.MULTILINE)


class PeakMemory(Lookout):
    """Looks at the largest size that each process of tasks has had."""

    seconds_between = 0.2

    def __init__(self, engine: Engine) -> None:
        super().__init__()
        self._engine = engine
        self.mb_of: dict[int, int] = {}
        """By process id."""

    @property
    def mb(self) -> int:
        """The largest of all."""
        return max(self.mb_of.values())

    def look(self) -> None:
        # Java is told of it too.
        for pid in (pid for pid, command in self._engine.processes().items()
                    if command.startswith(str(self._engine.task_python))):
            with suppress(OSError):  # it has ended meanwhile
                if found := PEAK.search(Path(f"/proc/{pid}/status").read_text()):
                    self.mb_of[pid] = int(found[1]) // 1024
