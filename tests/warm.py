"""What tests of warm tasks share: servers that leave no process, and scripts that run in them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Callable, NamedTuple

from jobs.warm_tasks import WarmTasks
from tests.helpers import session_commands

DEADLINE_SECONDS = 30
NO_ENVIRONMENT: dict[str, str] = {}


class Outcome(NamedTuple):
    """How a task ended, and what it wrote."""

    exit_code: int
    stdout: bytes
    stderr: bytes


def task(code: str, folder: Path, stdin: bytes = b"") -> list[str]:
    """Paths of a script of this code and its input, and of output that is there, with words of another."""
    for name, content in [("script.py", code.encode()), ("stdin", stdin), ("stdout", b"old"), ("stderr", b"old")]:
        (folder / name).write_bytes(content)
    return [str(folder / name) for name in ("script.py", "stdin", "stdout", "stderr")]


def run_warm(
    tasks: WarmTasks, code: str, folder: Path, *args: str, stdin: bytes = b"", env: dict[str, str] = NO_ENVIRONMENT
) -> Outcome:
    """Run a script in an idle server."""
    script, *paths = task(code, folder, stdin)
    with ExitStack() as stack:
        files = [stack.enter_context(open(path, mode)) for path, mode in zip(paths, ("rb", "r+b", "r+b"))]
        exit_code = tasks.run([script, *args], *files, str(folder), env)
    return Outcome(exit_code, *(Path(path).read_bytes() for path in paths[1:]))


def wait_until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not is_so():
        assert time.monotonic() < deadline, "it did not become so"
        time.sleep(0.005)


def commands_of(tasks: WarmTasks) -> dict[int, str]:
    return session_commands(tasks._parent)


@contextmanager
def warm_tasks(num_servers: int) -> Iterator[WarmTasks]:
    """Servers that leave no process."""
    tasks = WarmTasks(num_servers)
    try:
        yield tasks
    finally:
        tasks.kill()
        tasks.close()
        wait_until(lambda: not commands_of(tasks))
