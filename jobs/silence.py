"""What a run may tell a person, told to nobody; ``display`` shows it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Callable, Protocol, Union

if TYPE_CHECKING:
    from jobs.run_report import RunReport
    from jobs.sample import SampleReport
    from jobs.truth import Comparison


class Listener(Protocol):
    """To be told the stage of a job (map, sort, ...), how much of it is done, and how much there is."""

    def __call__(self, stage: str, done: int, total: int, unit: str = "tasks") -> None: ...


class Silence:
    """All that can be shown of a run, not shown."""

    def note(self, text: str) -> None:
        """A message that stays on the screen."""

    @contextmanager
    def step(self, name: str) -> Iterator[Listener]:
        """While a job runs, the listener to be told of its tasks."""
        yield lambda stage, done, total, unit="tasks": None

    @contextmanager
    def count(self, what: str, total: int) -> Iterator[Callable[[int], None]]:
        """While things are made, the listener to be told how many there are."""
        with self.step(what) as listener:
            yield lambda done: listener("written", done, total)

    def summary(self, report: RunReport, out: Union[Path, str]) -> None:
        """The outcome of a run."""

    def truth(self, comparisons: Sequence[Comparison], threshold: float) -> None:
        """The known pairs, and what became of each."""

    def sample(self, report: SampleReport, out: Path, truth: Path) -> None:
        """What a generated corpus holds."""


def display_for(quiet: bool) -> Silence:
    """A display, or silence, which need not wait until all that draws tables is loaded."""
    if quiet:
        return Silence()
    from jobs.display import Display

    return Display()
