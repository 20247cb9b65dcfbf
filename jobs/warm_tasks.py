"""Tasks of the local runner that start warm: forks of a process that has imported what tasks need.

A task's imports take as long as the work on 15 MB of text. They are made once, while the driver has
other things to do; then a server for each core is forked, which runs one task after another, each in a
process of its own.

    python warm_tasks.py --task-server SOCKET...    a server for each socket, by number of its file
"""

from __future__ import annotations

import json
import os
import queue
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from typing import BinaryIO


class WarmTasks:
    """Some servers, and a way to run a script's task in one of them that is idle."""

    def __init__(self, num_servers: int) -> None:
        ends = [socket.socketpair() for _ in range(num_servers)]
        numbers = [theirs.fileno() for _, theirs in ends]
        # A session of its own, so that servers and tasks can be ended together.
        self._process = subprocess.Popen(
            [sys.executable, os.path.abspath(__file__), "--task-server", *map(str, numbers)],
            pass_fds=numbers, start_new_session=True)
        self._idle: queue.SimpleQueue[socket.socket] = queue.SimpleQueue()
        self._sockets = [ours for ours, _ in ends]
        for ours, theirs in ends:
            theirs.close()
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
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def close(self) -> None:
        """Let the servers, which have nothing to do any more, end."""
        for server in self._sockets:
            server.close()
        self._process.wait()


def serve_all(numbers: list[int]) -> None:
    """Import what tasks need, then run a server for each socket."""
    import jobs.mr_gate
    import jobs.mr_pairs  # noqa: F401

    for number in numbers:
        if os.fork() == 0:
            for other in numbers:
                if other != number:
                    os.close(other)
            serve(socket.socket(fileno=number))
            return
    for number in numbers:
        os.close(number)
    for _ in numbers:
        os.wait()


def serve(requests: socket.socket) -> None:
    """Fork a process for each request and answer with its exit code, until there are no more."""
    with requests, requests.makefile("rb") as lines:
        for line in lines:
            process_id = os.fork()
            if process_id == 0:
                # Else the driver would wait for the answer of a server that is gone.
                os.close(requests.fileno())
                os._exit(_run_task(**json.loads(line)))
            _, status = os.waitpid(process_id, 0)
            requests.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))


def _run_task(args: list[str], files: list[str], wd: str, env: dict[str, str]) -> int:
    """Become the script that is named first of the arguments."""
    import runpy
    import traceback

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
        runpy.run_path(args[0], run_name="__main__")
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else int(error.code is not None)
        if code and error.code is not code:
            print(error.code, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    return code


if __name__ == "__main__":
    serve_all([int(number) for number in sys.argv[2:]])
