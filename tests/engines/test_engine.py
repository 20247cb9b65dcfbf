"""However a test run ends, nothing of an engine stays: shown with daemons that do nothing."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.engines.emr_steps import shuffled
from tests.engines.engine import Engine, EngineError, can_isolate, processes_of
from tests.helpers import REPOSITORY

pytestmark = pytest.mark.skipif(not shutil.which("setpriv"), reason="needs setpriv, of util-linux")

DEADLINE_SECONDS = 30


class Sleepers(Engine):
    """A daemon with a child that would outlive it."""

    runner = "local"

    def start(self) -> None:
        self.start_daemon("parent", "sh", "-c", "echo started; sleep 1000 & sleep 1000")
        self.wait_until(lambda: len(self.pids("sleep 1000")) == 3, "both sleep")


HELD = f"""
import time
from {__name__} import Sleepers
with Sleepers() as engine:
    print(engine.folder, flush=True)
    time.sleep({DEADLINE_SECONDS})
"""


def hold() -> tuple[subprocess.Popen[str], Path]:
    """Another process with an engine in it; the engine's folder."""
    holder = subprocess.Popen([sys.executable, "-c", HELD], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              cwd=REPOSITORY)
    assert holder.stdout is not None
    return holder, Path(holder.stdout.readline().strip())


def test_processes_are_found_and_ended() -> None:
    with Sleepers() as engine:
        assert engine.pids("sh -c", "echo started") and engine.folder.exists()
        assert (engine.logs / "parent.log").read_text() == "started\n"
    assert engine.processes() == {} and not engine.folder.exists()


def test_an_engine_that_does_not_start_is_ended_too() -> None:
    class Failing(Sleepers):
        def start(self) -> None:
            super().start()
            self.start_daemon("failing", "sh", "-c", "echo the reason; exit 3")
            self.wait_until(lambda: False, "it never is")

    failing = Failing()
    with pytest.raises(EngineError, match=r"it never is; ended: .'failing'.(?s:.)*the reason"):
        failing.__enter__()
    assert failing.processes() == {} and not failing.folder.exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_run_that_is_interrupted_ends_its_engine(number: int) -> None:
    holder, folder = hold()
    assert processes_of(folder)
    holder.send_signal(number)
    assert "KeyboardInterrupt" in holder.communicate(timeout=DEADLINE_SECONDS)[1]
    assert processes_of(folder) == {} and not folder.exists()


def test_a_run_that_is_killed_takes_its_daemons_along() -> None:
    holder, folder = hold()
    daemons = [pid for pid, command in processes_of(folder).items() if command.startswith("sh ")]
    assert daemons
    holder.kill()
    holder.communicate(timeout=DEADLINE_SECONDS)
    deadline = time.monotonic() + DEADLINE_SECONDS
    while set(daemons) & set(processes_of(folder)):
        assert time.monotonic() < deadline, "the daemons are still there"
        time.sleep(0.05)
    for pid in processes_of(folder):
        os.kill(pid, signal.SIGKILL)
    shutil.rmtree(folder)


@pytest.mark.skipif(not can_isolate(), reason="this user may not make network namespaces")
def test_commands_see_loopback_and_nothing_else() -> None:
    with Sleepers() as engine:
        said = engine.run("ip", "-brief", "link")
    assert said.stdout.split()[0] == "lo" and len(said.stdout.splitlines()) == 1


def test_reducers_get_whole_groups_in_order() -> None:
    lines = [b"%d\tvalue %d" % (number % 7, number) for number in range(50)]
    shares: list[list[bytes]] = shuffled([lines[:20], lines[20:]])
    keys: list[Any] = [[line.partition(b"\t")[0] for line in share] for share in shares]
    assert not set(keys[0]) & set(keys[1]) and all(group == sorted(group) for group in keys)
    assert sorted(line for share in shares for line in share) == sorted(lines)
