"""Tasks of the local runner that start warm: forks of a process that has imported what tasks need.

A task's imports take as long as the work on 15 MB of text, and the driver has made them already. So it is forked,
before it has any threads, into a server for each core, which runs one task after another, each in a process of its own.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import socket
import sys
import threading
import time
import traceback
from contextlib import suppress
from importlib.util import module_from_spec, spec_from_file_location
from typing import BinaryIO, ClassVar

from jobs.lean_mrjob import IS_NUMPY_PREPARED

SECONDS_TO_END = 1.0


class WarmTasks:
    """Some servers, and a way to run a script's task in one of them that is idle."""

    @staticmethod
    def can_start() -> bool:
        """Whether a fork of this process makes a good task.

        Other threads might hold locks that nobody would ever open, and numpy might have been imported by others, as
        they want it.
        """
        return hasattr(os, "fork") and threading.active_count() == 1 and IS_NUMPY_PREPARED

    _driver_ends: ClassVar[set[socket.socket]] = set()
    """Of all servers of this process. What forks of it hold open could not be closed here."""

    def __init__(self, num_servers: int) -> None:
        pairs = [socket.socketpair() for _ in range(num_servers + 1)]
        self._lifeline, *self._sockets = [ours for ours, _ in pairs]
        self._driver_ends.update([self._lifeline, *self._sockets])
        self._parent = os.fork()
        if self._parent == 0:
            try:
                for ours in self._driver_ends:
                    ours.close()
                _serve_all(*(theirs for _, theirs in pairs))
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(0)
        for _, theirs in pairs:
            theirs.close()
        self._idle: queue.SimpleQueue[socket.socket] = queue.SimpleQueue()
        for ours in self._sockets:
            self._idle.put(ours)

    def run(self, args: list[str], stdin: BinaryIO, stdout: BinaryIO, stderr: BinaryIO, wd: str, env: dict[str, str]
            ) -> int:
        """Run a script with arguments to its end; the exit code, negative after a signal, as subprocess has it."""
        files = [file.name for file in (stdin, stdout, stderr)]
        request = {"args": args, "files": files, "wd": wd, "env": env}
        server = self._idle.get()
        try:
            server.sendall(json.dumps(request).encode() + b"\n")
            answer = server.recv(16)
        except OSError:
            answer = b""
        finally:
            self._idle.put(server)
        return int(answer) if answer else -signal.SIGKILL

    def kill(self) -> None:
        """End the servers, and the tasks that they run, though a server of them may be gone."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._parent, signal.SIGKILL)

    def close(self) -> None:
        """Let the servers, which have nothing to do any more, end."""
        for end in (*self._sockets, self._lifeline):
            end.close()
            self._driver_ends.discard(end)
        with suppress(ChildProcessError):
            os.waitpid(self._parent, 0)


def _serve_all(lifeline: socket.socket, *sockets: socket.socket) -> None:
    """Fork a server for each socket; when the driver ends, however that may be, end them and their tasks."""
    # A session of its own, so that servers and tasks can be ended together, and a terminal's Ctrl-C is the driver's.
    os.setsid()
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    for requests in sockets:
        if os.fork() == 0:
            for other in {lifeline, *sockets} - {requests}:
                other.close()
            _serve(requests)
            return
    for requests in sockets:
        requests.close()
    lifeline.recv(1)
    _wait_for_children(SECONDS_TO_END)
    os.killpg(0, signal.SIGKILL)


def _wait_for_children(seconds: float) -> None:
    """Give idle servers the time to end by themselves."""
    deadline = time.monotonic() + seconds
    with suppress(ChildProcessError):
        while time.monotonic() < deadline:
            process_id, _ = os.waitpid(-1, os.WNOHANG)
            if not process_id:
                time.sleep(0.002)


def _serve(requests: socket.socket) -> None:
    """Fork a process for each request and answer with its exit code, until there are no more."""
    with requests, requests.makefile("rb") as lines:
        for line in lines:
            process_id = os.fork()
            if process_id == 0:
                # Else the driver would wait for the answer of a server that is gone.
                os.close(requests.fileno())
                code = 1
                try:
                    code = _run_task(**json.loads(line))
                finally:
                    os._exit(code)
            _, status = os.waitpid(process_id, 0)
            requests.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))


def _run_task(args: list[str], files: list[str], wd: str, env: dict[str, str]) -> int:
    """Become the script that is named first of the arguments."""
    for number, (path, mode) in enumerate(zip(files, ("rb", "wb", "wb"))):
        with open(path, mode) as file:
            os.dup2(file.fileno(), number)
    sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w", errors="backslashreplace")  # noqa: SIM115
    os.chdir(wd)
    os.environ.clear()
    os.environ.update(env)
    sys.argv = args
    code = 0
    try:
        try:
            _run_script(args[0])
        finally:
            sys.stdout.flush()
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else int(error.code is not None)
        if code and error.code is not code:
            print(error.code, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
        code = 1
    sys.stderr.flush()
    return code


def _run_script(path: str) -> None:
    """Run a script as Python does, but take its code from the cache if it was imported before."""
    sys.dont_write_bytecode = True
    spec = spec_from_file_location("__main__", path)
    assert spec and spec.loader
    main = sys.modules["__main__"] = module_from_spec(spec)
    spec.loader.exec_module(main)
