"""What all engines share: processes that are started together on loopback, found by a mark, and ended together."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Callable, Optional

from jobs.job_runner import default_conf
from tests.helpers import COMMAND, REPOSITORY, Outcome

MARK = "LOOKALIKE_ENGINE"
"""Environment variable that names the engine's folder, so that all its processes can be found. Hadoop clears the
environment of tasks, but then sets variables that name folders in this one."""

CACHE_VARIABLE = "LOOKALIKE_ENGINES"
START_SECONDS = 120
RUN_SECONDS = 900
END_SECONDS = 30
TAIL_CHARS = 3000

HOLD_NETWORK = "ip link set lo up && echo ready && exec sleep infinity"
FETCH = "import sys, urllib.request as r; sys.stdout.buffer.write(r.urlopen(sys.argv[1], timeout=5).read())"


def cache_folder() -> Path:
    """Where installed engines are kept between runs."""
    return Path(os.environ.get(CACHE_VARIABLE) or Path.home() / ".cache" / "lookalike-engines")


class EngineError(Exception):
    """An engine that did not start, or does not do as it is told."""


class Engine:
    """A context in which commands reach an engine; when it is left, every process started in it is ended.

    Where this user may, everything runs in a network namespace that has a loopback device only: some
    services of Hadoop listen on all addresses, whatever they are told.
    """

    runner = ""
    is_isolated = True
    task_python = Path(sys.executable)

    def __init__(self) -> None:
        self.env: dict[str, str] = {}
        self.daemons: dict[str, subprocess.Popen[bytes]] = {}
        self._enter_network: list[str] = []

    # To be given by engines

    def start(self) -> None:
        """Start daemons and wait until they are ready."""

    def runner_options(self) -> dict[str, Any]:
        """mrjob's options for this engine."""
        return {}

    # The context

    def __enter__(self) -> Any:
        self.folder = Path(tempfile.mkdtemp(prefix=f"lookalike-{type(self).__name__}-"))
        self.env[MARK] = str(self.folder)
        self.logs = self.folder / "logs"
        self.logs.mkdir()
        # A test run that is told to end gets the chance to end what it has started.
        self._handler = signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            self._isolate()
            self.start()
            self.conf = self.folder / "mrjob.conf"
            self.conf.write_text(json.dumps(self._conf(), indent=1))
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        try:
            end_all(self.processes)
            for daemon in self.daemons.values():
                daemon.wait(END_SECONDS)
        finally:
            signal.signal(signal.SIGTERM, self._handler)
            shutil.rmtree(self.folder, ignore_errors=True)

    def _conf(self) -> dict[str, Any]:
        """The configuration that is installed with the program, and what this engine needs besides."""
        return {"include": str(default_conf(self.runner)),
                "runners": {self.runner: self.runner_options()}}

    def _isolate(self) -> None:
        if not (self.is_isolated and can_isolate()):
            return
        command = ["unshare", "--net", "sh", "-c", HOLD_NETWORK]
        holder = self._popen("network", command, stdout=subprocess.PIPE)
        assert holder.stdout is not None
        if holder.stdout.readline() != b"ready\n":
            raise EngineError("cannot make a network namespace")
        self._enter_network = ["nsenter", f"--net=/proc/{holder.pid}/ns/net", "--"]

    # Processes

    def start_daemon(self, name: str, *command: object, **env: str) -> None:
        """Start a process that stays; what it says goes to its log."""
        with open(self.logs / f"{name}.log", "ab") as log:
            self._popen(name, [*self._enter_network, *map(str, command)], stdout=log, stderr=log, env=env)

    def _popen(self, name: str, command: list[str], env: Optional[dict[str, str]] = None,
               **options: Any) -> subprocess.Popen[bytes]:
        # Should this process be killed, the daemon is too.
        command = ["setpriv", "--pdeathsig", "KILL", *command]
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True, cwd=self.folder,
                                   env={**os.environ, **self.env, **(env or {})}, **options)
        self.daemons[name] = process
        return process

    def kill(self, name: str) -> None:
        """Kill a daemon, without a chance to say good-bye."""
        daemon = self.daemons.pop(name)
        daemon.kill()
        daemon.wait(END_SECONDS)

    def processes(self) -> dict[int, str]:
        """Command lines of all live processes of this engine, by process id."""
        return processes_of(self.folder)

    def pids(self, *parts: str) -> list[int]:
        """The processes of this engine that have all these parts in their command lines."""
        return [pid for pid, command in self.processes().items() if all(part in command for part in parts)]

    def run(self, *command: object, **env: str) -> Outcome:
        """Run a command where it reaches the engine, to its end."""
        done = subprocess.run([*self._enter_network, *map(str, command)], capture_output=True, cwd=REPOSITORY,
                              stdin=subprocess.DEVNULL, timeout=RUN_SECONDS, env={**os.environ, **self.env, **env})
        return Outcome(done.returncode, done.stdout.decode(), done.stderr.decode())

    def start_run(self, *command: object, **env: str) -> subprocess.Popen[str]:
        """Start a command where it reaches the engine; what it says is to be read."""
        return subprocess.Popen([*self._enter_network, *map(str, command)], cwd=REPOSITORY, text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                env={**os.environ, **self.env, **env})

    def call(self, *command: object) -> int:
        """Run a command that talks to this terminal; its exit code."""
        return subprocess.call([*self._enter_network, *map(str, command)], cwd=REPOSITORY,
                               env={**os.environ, **self.env})

    def pairs_command(self, *arguments: object) -> tuple[object, ...]:
        """``lookalike pairs`` on this engine."""
        return (*COMMAND, "pairs", *arguments, "-r", self.runner, "--conf", self.conf)

    def lookalike(self, *arguments: object) -> Outcome:
        """Run ``lookalike pairs`` on this engine."""
        return self.run(*self.pairs_command(*arguments))

    def fetch_json(self, url: str) -> Any:
        """What an address of the engine says, or None while it says nothing."""
        said = self.run(sys.executable, "-S", "-c", FETCH, url)
        return None if said.exit_code else json.loads(said.stdout)

    def wait_until(self, is_so: Callable[[], object], what: str, seconds: float = START_SECONDS) -> None:
        """Wait for something; where it does not come, or a daemon has ended, show the ends of all logs."""
        deadline = time.monotonic() + seconds
        while not is_so():
            ended = [name for name, daemon in self.daemons.items() if daemon.poll() is not None]
            if ended or time.monotonic() > deadline:
                raise EngineError(f"not so after {seconds} s: {what}; ended: {ended}\n{self.log_tails()}")
            time.sleep(0.2)

    def log_tails(self) -> str:
        """The last words of all daemons."""
        return "\n".join(f"== {path.name}\n{path.read_text(errors='replace')[-TAIL_CHARS:]}"
                         for path in sorted(self.logs.glob("*.log")))


def can_isolate() -> bool:
    """Whether this user may make a network namespace here."""
    tools = ("unshare", "nsenter", "ip")
    return os.geteuid() == 0 and all(map(shutil.which, tools)) and not subprocess.call(
        ["unshare", "--net", "true"], stderr=subprocess.DEVNULL)


def free_port() -> int:
    """A port of loopback that nobody listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def processes_of(engine_folder: Path) -> dict[int, str]:
    """Command lines of live processes that have an engine's folder in their environment, by process id."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended meanwhile, or is not ours
            if bytes(engine_folder) in (folder / "environ").read_bytes():
                found[int(folder.name)] = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
    return found


def end_all(processes: Callable[[], dict[int, str]]) -> None:
    """Kill processes until there are none: some start others while they end."""
    deadline = time.monotonic() + END_SECONDS
    while pids := list(processes()):
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if time.monotonic() > deadline:
            raise EngineError(f"these processes do not end: {pids}")
        time.sleep(0.05)
