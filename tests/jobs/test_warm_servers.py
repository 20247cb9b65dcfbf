"""Warm servers run as many tasks at once as there are of them, and leave no process, however they end."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from jobs.warm_tasks import WarmTasks
from tests.helpers import commands_with, json_lines, lookalike, made_up_documents, tree
from tests.warm import DEADLINE_SECONDS, commands_of, run_warm, task, wait_until, warm_tasks

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc to find processes")


def folders(tmp_path: Path, *names: str) -> list[Path]:
    made = [tmp_path / name for name in names]
    for folder in made:
        folder.mkdir()
    return made


def test_as_many_tasks_as_servers_run_at_once(tmp_path: Path) -> None:
    """Each of two tasks waits for the other to have begun."""
    code = ("import os, sys, time\nopen('begun', 'w').close()\ndeadline = time.monotonic() + 20\n"
            "while not os.path.exists(sys.argv[1]):\n    assert time.monotonic() < deadline\n    time.sleep(0.01)")
    one, other = folders(tmp_path, "one", "other")
    with warm_tasks(2) as tasks, ThreadPoolExecutor(2) as threads:
        first = threads.submit(run_warm, tasks, code, one, str(other / "begun"))
        second = threads.submit(run_warm, tasks, code, other, str(one / "begun"))
        assert first.result(DEADLINE_SECONDS) == second.result(DEADLINE_SECONDS) == (0, b"", b"")


def test_more_tasks_than_servers_wait_for_each_other(tmp_path: Path) -> None:
    code = "import os, sys\nos.mkdir(sys.argv[1])\nprint(sys.argv[2])\nos.rmdir(sys.argv[1])"
    with warm_tasks(1) as one_server, ThreadPoolExecutor(4) as threads:
        runs = [threads.submit(run_warm, one_server, code, folder, str(tmp_path / "one at a time"), folder.name)
                for folder in folders(tmp_path, *"abcdefgh")]
        assert [run.result(DEADLINE_SECONDS) for run in runs] == [(0, f"{name}\n".encode(), b"") for name in "abcdefgh"]


def test_a_server_that_died_is_a_failure_and_no_hang(tmp_path: Path) -> None:
    with warm_tasks(1) as tasks, ThreadPoolExecutor(1) as threads:
        died = threads.submit(run_warm, tasks, "import os; os.kill(os.getppid(), 9)", tmp_path)
        assert died.result(DEADLINE_SECONDS).exit_code < 0
        assert threads.submit(run_warm, tasks, "", tmp_path).result(DEADLINE_SECONDS).exit_code < 0


def test_kill_ends_running_tasks_and_can_be_called_again(tmp_path: Path) -> None:
    one, other, late = folders(tmp_path, "one", "other", "late")
    code = "import time; open('begun', 'w').close(); time.sleep(1000)"
    with warm_tasks(2) as tasks, ThreadPoolExecutor(3) as threads:
        runs = [threads.submit(run_warm, tasks, code, folder) for folder in (one, other)]
        wait_until(lambda: (one / "begun").exists() and (other / "begun").exists())
        # One that has not begun does not any more.
        runs.append(threads.submit(run_warm, tasks, code, late))
        tasks.kill()
        tasks.kill()
        assert all(run.result(DEADLINE_SECONDS).exit_code < 0 for run in runs)
        wait_until(lambda: not commands_of(tasks))
        assert not (late / "begun").exists()
        tasks.close()
        tasks.kill()
        tasks.close()


@pytest.mark.parametrize("is_ready", [False, True])
def test_close_lets_idle_servers_end(is_ready: bool, tmp_path: Path) -> None:
    tasks = WarmTasks(2)
    if is_ready:
        assert run_warm(tasks, "print('x')", tmp_path).stdout == b"x\n"
        assert len(commands_of(tasks)) == 3
    tasks.close()
    assert commands_of(tasks) == {}
    with pytest.raises(ChildProcessError):
        os.waitpid(tasks._parent, 0)


def test_a_process_with_threads_is_not_forked() -> None:
    with ThreadPoolExecutor(1) as threads:
        threads.submit(time.sleep, 0).result()
        assert not WarmTasks.can_start()


@pytest.mark.parametrize(("first", "can_start"), [("numpy", False), ("click", True)])
def test_numpy_that_others_imported_is_not_forked(first: str, can_start: bool) -> None:
    code = f"import {first}; from jobs.warm_tasks import WarmTasks; import numpy; print(WarmTasks.can_start())"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == f"{can_start}\n"


def test_the_command_line_starts_warm() -> None:
    code = "import jobs.cli; from jobs.warm_tasks import WarmTasks; print(WarmTasks.can_start())"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "True\n"


def test_others_can_be_closed_first(tmp_path: Path) -> None:
    one, other = WarmTasks(1), WarmTasks(1)
    one.close()
    assert run_warm(other, "print('x')", tmp_path).stdout == b"x\n"
    other.close()


def test_tasks_end_with_a_driver_that_is_killed(tmp_path: Path) -> None:
    script, *paths = task("import os, time; print(os.getpid(), flush=True); time.sleep(1000)", tmp_path)
    driver = ("import sys; from jobs.warm_tasks import WarmTasks; script, *paths = sys.argv[1:]\n"
              "WarmTasks(1).run([script], *(open(path, 'r+b') for path in paths), '/', {})")
    with subprocess.Popen([sys.executable, "-c", driver, script, *paths]) as process:
        wait_until(lambda: Path(paths[1]).read_bytes().endswith(b"\n"))
        process.kill()
    wait_until(lambda: not Path(f"/proc/{int(Path(paths[1]).read_text())}").exists())


# The whole program


@pytest.fixture(scope="module")
def lines() -> bytes:
    return b"\n".join([*json_lines(made_up_documents(300)), b"no JSON", b"\xff"])


@pytest.mark.parametrize("kind", ["pairs", "links"])
def test_warm_and_cold_runs_write_the_same_bytes_and_leave_no_process(
    kind: str, lines: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "in.jsonl").write_bytes(lines)
    (tmp_path / "cold.conf").write_text("runners: {local: {bootstrap_mrjob: false, cmdenv: {SOME_NAME: x}}}")
    monkeypatch.setattr(WarmTasks, "can_start", lambda: True)
    run, num_warm = WarmTasks.run, {}
    for name, options in [("warm", ()), ("cold", ("--conf", tmp_path / "cold.conf")), ("inline", ())]:
        calls: list[str] = []
        monkeypatch.setattr(WarmTasks, "run", lambda *args, calls=calls: calls.append(args[0]) or run(*args))
        monkeypatch.setenv("LOOKALIKE_TEST_RUN", str(tmp_path / name))
        outcome = lookalike("pairs", tmp_path / "in.jsonl", "--out", tmp_path / name, "-r",
                            "inline" if name == "inline" else "local", "--cores", "2", *options,
                            *(["--links"] if kind == "links" else []))
        assert outcome.exit_code == 0, outcome.stderr
        assert commands_with(f"LOOKALIKE_TEST_RUN={tmp_path / name}") == {}
        assert not any(commands_of(tasks) for tasks in calls)
        num_warm[name] = len(calls)
    assert num_warm["warm"] >= 4 and num_warm["cold"] == num_warm["inline"] == 0
    for name in ("cold", "inline"):
        assert tree(tmp_path / name) == tree(tmp_path / "warm")
        for file in (f"{kind}.jsonl", "rejected.jsonl"):
            content = (tmp_path / name / file).read_bytes()
            assert content and content == (tmp_path / "warm" / file).read_bytes()
