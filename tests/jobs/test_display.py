"""Progress of an engine, where there is no terminal to draw on."""

from __future__ import annotations

import time

import pytest

import jobs.display
from jobs.display import Display


def test_tasks_are_numbers_and_shares_are_percent_with_the_time_that_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    display, told, now = Display(), list[str](), iter([0.0, 20.0, 40.0, 60.0, 80.0, 100.0])
    monkeypatch.setattr(display, "note", told.append)
    monkeypatch.setattr(time, "monotonic", lambda: next(now))
    assert jobs.display.SECONDS_BETWEEN_LINES == 10
    with display.step("gate") as listener:
        listener("map", 0, 100, "%")
        listener("map", 25, 100, "%")
        listener("reduce", 0, 2)
        listener("reduce", 1, 2)
        listener("reduce", 2, 2)
    assert told == ["gate: map, 0 %", "gate: map, 25 %, about 60 s left", "gate: reduce, 0 of 2 tasks",
                    "gate: reduce, 1 of 2 tasks, about 20 s left", "gate: reduce, 2 of 2 tasks"]
