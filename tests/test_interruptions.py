"""Runs that are interrupted or run out of space leave no results, no temporary files and no process."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Callable

import pytest

from tests.helpers import COMMAND, REPOSITORY, commands_with, json_lines, made_up_documents, tree

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc to find processes")

DEADLINE_SECONDS, MOMENT_SECONDS = 60, 2
MARK = "LOOKALIKE_TEST_RUN"


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Documents that each have a near-duplicate, so that all of them are shuffled."""
    path = tmp_path_factory.mktemp("corpus") / "in.jsonl"
    originals = made_up_documents(1500, num_words=60)
    copies = {f"{doc_id}-copy": f"{text} again" for doc_id, text in originals.items()}
    path.write_bytes(b"\n".join(json_lines({**originals, **copies})))
    return path


@pytest.fixture(scope="module")
def hot_corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Documents that are all alike, so that a reducer has much to do."""
    path = tmp_path_factory.mktemp("corpus") / "hot.jsonl"
    (text,) = made_up_documents(1, num_words=60).values()
    path.write_bytes(b"\n".join(json_lines({f"d{number}": f"{text} {number}" for number in range(2500)})))
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder that holds an empty one for temporary files, and nothing else."""
    (tmp_path / "tmp").mkdir()
    return tmp_path


def start(
    corpus: Path, folder: Path, *options: str, command: str = "pairs", **popen: Any
) -> subprocess.Popen[str]:
    """A run with -r local, in a session of its own, whose processes can be told by their environment."""
    line = [*COMMAND, command, corpus, "--out", folder / "out", "--tmp", folder / "tmp", "-r", "local",
            "--cores", "2"]
    return subprocess.Popen([*map(str, line), *options], start_new_session=True, cwd=REPOSITORY, text=True,
                            env={**os.environ, MARK: str(folder)}, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            **popen)


def commands_of(folder: Path) -> dict[int, str]:
    """Command lines of a run's processes, by process id."""
    return commands_with(f"{MARK}={folder}")


def has_task(folder: Path, kind: str) -> bool:
    """Whether a mapper, or a reducer, of the run is at work: its last words go to a folder of that kind."""
    for process_id in commands_of(folder):
        with suppress(OSError):  # it has ended meanwhile
            if f"/{kind}/" in os.readlink(f"/proc/{process_id}/fd/2"):
                return True
    return False


def wait_until(is_seen: Callable[[], bool], run: subprocess.Popen[str]) -> None:
    """Wait until something is to be seen of the run."""
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not is_seen():
        assert run.poll() is None, f"the run ended before it was seen: {run.communicate()}"
        assert time.monotonic() < deadline, "it was not seen"
        time.sleep(0.002)


def assert_nothing_is_left(run: subprocess.Popen[str], folder: Path, *left: str) -> str:
    """Wait for the end; what the run said."""
    stdout, stderr = run.communicate(timeout=DEADLINE_SECONDS)
    # Processes that were killed take a moment to end.
    deadline = time.monotonic() + MOMENT_SECONDS
    while commands_of(folder) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert commands_of(folder) == {}
    assert tree(folder) == [*left, "tmp"]
    assert stdout == "" and "Traceback" not in stderr
    return stderr


def interrupt_driver(run: subprocess.Popen[str]) -> None:
    run.send_signal(signal.SIGINT)


def interrupt_all(run: subprocess.Popen[str]) -> None:
    """What Ctrl-C in a terminal does."""
    os.killpg(run.pid, signal.SIGINT)


def terminate(run: subprocess.Popen[str]) -> None:
    run.terminate()


@pytest.mark.parametrize("stage", ["mapper", "reducer"])
@pytest.mark.parametrize(("stop", "exit_code", "message"), [
    (interrupt_driver, 130, "lookalike: interrupted; no results were written"),
    (interrupt_all, 130, "lookalike: interrupted; no results were written"),
    (terminate, 143, ""),
])
def test_a_stopped_run_leaves_nothing(
    stop: Callable[..., None], exit_code: int, message: str, stage: str, corpus: Path, hot_corpus: Path, folder: Path
) -> None:
    run = start(corpus if stage == "mapper" else hot_corpus, folder, "--links")
    wait_until(lambda: has_task(folder, stage), run)
    stop(run)
    assert assert_nothing_is_left(run, folder).strip() == message
    assert run.returncode == exit_code


@pytest.mark.parametrize("stop", [interrupt_driver, terminate])
def test_cleaning_that_is_stopped_leaves_its_stages_alone(
    stop: Callable[..., None], corpus: Path, folder: Path
) -> None:
    run = start(corpus, folder, command="dedup")
    wait_until(lambda: any(folder.glob("tmp/lookalike-*/members")), run)
    stop(run)
    stages = [f"out.partial/{name}" for name in ("gate", "gate.json", "pairs", "pairs.json", "state.json")]
    said = assert_nothing_is_left(run, folder, "out.partial", *stages)
    assert "out.partial: the same command with --resume goes on from there" in said
    assert run.returncode in (130, 143)


@pytest.mark.parametrize("stop", [interrupt_driver, interrupt_all, terminate])
def test_a_run_that_is_stopped_while_it_sorts_leaves_nothing(
    stop: Callable[..., None], corpus: Path, folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    conf = tmp_path_factory.mktemp("conf") / "slow.conf"
    conf.write_text('runners: {local: {bootstrap_mrjob: false, sort_bin: [sh, -c, "exec sleep 1234"]}}')
    run = start(corpus, folder, "--conf", str(conf))
    wait_until(lambda: any("sleep 1234" in command for command in commands_of(folder).values()), run)
    stop(run)
    assert_nothing_is_left(run, folder)
    assert run.returncode in (130, 143)


@pytest.mark.parametrize("share_of_input", [0.1, 0.3, 0.7], ids=["map", "maps", "sort"])
def test_a_run_that_may_not_write_enough_leaves_nothing(share_of_input: float, corpus: Path, folder: Path) -> None:
    limit = (int(share_of_input * corpus.stat().st_size),) * 2
    run = start(corpus, folder, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit))
    stderr = assert_nothing_is_left(run, folder)
    # The program sort is ended by a signal and says nothing itself.
    assert "File too large" in stderr or "sort ended with code" in stderr
    assert run.returncode == 1


@pytest.fixture
def small_disk(folder: Path) -> Iterator[Callable[[int], Path]]:
    """A function that mounts a file system of some bytes for temporary files."""
    mount_point = folder / "tmp"

    def mount(num_bytes: int) -> Path:
        command = ["mount", "-t", "tmpfs", "-o", f"size={num_bytes}", "tmpfs", str(mount_point)]
        if os.geteuid() or subprocess.run(command, capture_output=True).returncode:
            pytest.skip("a small file system can be mounted by root only")
        return folder

    yield mount
    if mount_point.is_mount():
        subprocess.run(["umount", str(mount_point)], check=True)


@pytest.mark.parametrize(
    "times_input", [0.3, 0.5, 0.8, 1.3, 2.0], ids=["gate", "its sort", "pairs", "their sort", "result"])
def test_a_run_on_a_full_disk_leaves_nothing(
    times_input: float, corpus: Path, small_disk: Callable[[int], Path]
) -> None:
    folder = small_disk(int(times_input * corpus.stat().st_size))
    run = start(corpus, folder)
    stderr = assert_nothing_is_left(run, folder)
    # A task that finds no space for its last words either is spoken for.
    assert "No space left on device" in stderr or f"and space in {folder}/tmp" in stderr
    assert run.returncode == 1


def test_a_run_on_standard_input_with_a_full_disk_leaves_nothing(
    corpus: Path, small_disk: Callable[[int], Path]
) -> None:
    folder = small_disk(500_000)
    with open(corpus, "rb") as file:
        run = start(Path("-"), folder, stdin=file)
        assert "No space left on device" in assert_nothing_is_left(run, folder)
    assert run.returncode == 2
