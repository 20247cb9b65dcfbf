"""What a run on an engine tells: where to look while it runs, and the engine's counts beside those of the data."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.engines.engine import Engine
from tests.helpers import DATA, read_run

pytestmark = pytest.mark.engines

ADDRESSES = {"hadoop": r"http://\S+/application_\d+_\d+/", "emr": r"EMR's cluster j-\w+"}
TASKS = ("num_launched_tasks", "num_failed_tasks", "num_killed_tasks")


def test_counters_have_the_same_names_and_addresses_are_told(engine: Engine, tmp_path: Path) -> None:
    done = engine.lookalike(DATA / "articles.jsonl", "--out", tmp_path / "out")
    assert done.exit_code == 0, f"{done.stderr}\n{engine.log_tails()}"
    for step in read_run(tmp_path / "out")["steps"]:
        told = step["engine_counters"]
        tasks = [told.pop(name, None) for name in TASKS]
        if engine.runner in ("hadoop", "emr"):
            # A task that is slow may be started twice, and one of the two killed.
            num_launched, num_failed, num_killed = tasks
            assert num_launched - num_killed > 2 and num_failed == 0
        else:
            assert tasks == [None, None, None]
        of_data = {**step["counters"], "shuffle_bytes": step["shuffle_bytes"]}
        expected = {name: number for name, number in of_data.items() if number}
        assert told == expected
        if engine.runner in ADDRESSES:
            assert re.search(f"^{step['name']}: {ADDRESSES[engine.runner]}$", done.stderr, re.MULTILINE), done.stderr
