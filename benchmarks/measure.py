"""One run of one program, measured from outside.

Seconds are those of the clock from start to end. CPU seconds and the peak are what the kernel tells
of a process that has ended (wait4): the CPU time of all its tree, and the largest resident set that any one
process of the tree ever had. A process starts with the resident set of the one that started it, so
programs are started by this small file and not by the benchmark itself. All start from cached bytecode, as
installed programs do, also where the environment forbids Python to write it: it has a folder of its own.

    python -I -S measure.py REPORT COMMAND...
"""

from __future__ import annotations

import json
import os
import sys
import time

BYTECODE = os.path.join(os.path.dirname(os.path.abspath(__file__)), ".cache", "bytecode")


def measured(command: list[str], cwd: str, log: str) -> dict[str, float]:
    """Run a command; what it says goes to the log. Gives seconds, cpu_seconds, peak_mb and exit_code."""
    import subprocess
    import tempfile

    with tempfile.TemporaryDirectory() as folder, open(log, "wb") as file:
        report = os.path.join(folder, "report.json")
        launcher = [sys.executable, "-I", "-S", os.path.abspath(__file__), report, *command]
        env = {**os.environ, "PYTHONPYCACHEPREFIX": BYTECODE}
        env.pop("PYTHONDONTWRITEBYTECODE", None)
        subprocess.run(launcher, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=file, stderr=file, check=True)
        with open(report, encoding="utf-8") as lines:
            told: dict[str, float] = json.load(lines)
    return told


def main(report: str, *command: str) -> None:
    started = time.perf_counter()
    process_id = os.posix_spawn(command[0], command, os.environ)
    _, status, usage = os.wait4(process_id, 0)
    told = {
        "seconds": time.perf_counter() - started,
        "cpu_seconds": usage.ru_utime + usage.ru_stime,
        "peak_mb": usage.ru_maxrss / 1024,
        "exit_code": os.waitstatus_to_exitcode(status),
    }
    with open(report, "w", encoding="utf-8") as file:
        json.dump(told, file)


if __name__ == "__main__":
    main(*sys.argv[1:])
