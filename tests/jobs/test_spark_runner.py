"""The Spark runner keeps its files where it was told to, and removes them; Spark itself is tried in tests/engines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from jobs.mr_pairs import MRPairs
from jobs.spark_runner import SparkMRJobRunner
from tests.helpers import tree
from tests.watching import KEYS


def options(tmp_path: Path, *more: str) -> list[str]:
    places = ("--local-tmp-dir", str(tmp_path), "--cleanup-on-failure", "ALL")
    return ["-r", "spark", "--no-conf", *places, *more, "/dev/null"]


def test_files_of_a_local_spark_are_under_the_temporary_folder(tmp_path: Path) -> None:
    with MRPairs(options(tmp_path, "--spark-master", "local-cluster[2,1,1024]")).make_runner() as runner:
        folder = Path(runner._spark_tmp_dir)
        assert folder.is_dir() and tmp_path in folder.parents
    assert left(tmp_path) == []


def test_files_of_a_spark_elsewhere_are_where_the_user_says_and_removed_too(tmp_path: Path) -> None:
    master = ("--spark-master", "spark://localhost:7077", "--spark-tmp-dir", str(tmp_path / "shared"))
    with MRPairs(options(tmp_path, *master)).make_runner() as runner:
        folder = Path(runner._spark_tmp_dir)
        assert folder.parent == tmp_path / "shared"
        folder.mkdir(parents=True)
    assert left(tmp_path) == ["shared"]


def left(tmp_path: Path) -> list[str]:
    """What is there besides the zip for tasks, which goes when this process ends."""
    return [name for name in tree(tmp_path) if not name.startswith("lookalike-tasks-")]


def test_the_harness_is_ours(tmp_path: Path) -> None:
    with MRPairs(options(tmp_path)).make_runner() as runner:
        assert Path(runner._spark_script_path(0)).name == "spark_harness.py"


def test_what_a_task_said_is_told_from_what_the_driver_says(tmp_path: Path) -> None:
    task = "Traceback (most recent call last):\n  File\nSystemExit: no numpy"
    driver = "Traceback (most recent call last):\n  File\npy4j.protocol.Py4JJavaError: failed"
    with MRPairs(options(tmp_path)).make_runner() as runner:
        assert runner.failed_task_stderr == ""
        runner._tracebacks.append(f"Stopped\n{driver}")
        assert runner.failed_task_stderr == driver
        runner._tracebacks[:] = [f"Lost task: PythonException: {task}", f"{driver}\nCaused by: PythonException: {task}"]
        assert runner.failed_task_stderr == task


def test_what_a_driver_says_before_spark_logs_is_told_line_by_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = ["Traceback (most recent call last):", "  File", "ModuleNotFoundError: no module"]
    heard: list[dict[str, str]] = []

    def submit(_: Any, args: list[str], env: dict[str, str], callback: Any) -> tuple[int, dict[str, Any]]:
        for line in ["before", *said]:
            callback({"message": line, "level": ""})
        callback({"message": "Stopped", "level": "INFO"})
        return 256, {}

    monkeypatch.setattr(SparkMRJobRunner, "_run_spark_submit", submit)
    with MRPairs(options(tmp_path)).make_runner() as runner:
        assert runner._run_spark_submit([], {}, heard.append) == (1, {})
        assert runner.failed_task_stderr == "\n".join(said) and len(heard) == 5


def test_logs_are_where_the_application_is(tmp_path: Path) -> None:
    with MRPairs(options(tmp_path)).make_runner() as runner:
        assert runner.log_place == ""
        runner._application = "app-20261118-0001"
        assert runner.log_place == "app-20261118-0001 in the work folder of each of Spark's workers"


def test_a_single_option_reaches_the_job(tmp_path: Path) -> None:
    with MRPairs(options(tmp_path, "--links")).make_runner() as runner:
        assert "--job-args=--links" in runner._spark_script_args(0)
    with MRPairs(options(tmp_path)).make_runner() as runner:
        assert not any("--job-args" in arg for arg in runner._spark_script_args(0))


@pytest.mark.parametrize("folder", ["hdfs:///tmp/x", "viewfs://table/x"])
def test_what_cannot_be_removed_from_hdfs_is_left(folder: str, tmp_path: Path) -> None:
    client = tmp_path / "hadoop"
    client.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/asked\nexit 1\n')
    client.chmod(0o755)
    places = ("--spark-master", "yarn", "--spark-tmp-dir", folder, "--hadoop-bin", str(client))
    with MRPairs(options(tmp_path, *places)).make_runner() as runner:
        assert runner.keeps_files_in_hdfs
    asked = (tmp_path / "asked").read_text()
    assert f" -rm -r -f -skipTrash {folder}/" in asked and "ipc.client.connect.timeout" in asked


@pytest.mark.parametrize(("master", "keys"), [("yarn", {}), ("spark://localhost:7077", KEYS)])
def test_keys_of_the_environment_are_kept_from_yarn(
    master: str, keys: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def submit(_: Any, args: list[str], env: dict[str, str], callback: Any) -> tuple[int, dict[str, Any]]:
        assert env == {"A": "b", **keys}
        return 0, {}

    monkeypatch.setattr(SparkMRJobRunner, "_run_spark_submit", submit)
    with MRPairs(options(tmp_path, "--spark-master", master, "--spark-tmp-dir", str(tmp_path))).make_runner() as runner:
        assert runner._run_spark_submit([], {"A": "b", **KEYS}, print) == (0, {})
        assert runner.withheld == set(KEYS) - set(keys)


def test_a_client_of_yarn_that_cannot_run_hides_no_interruption(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def submit(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(SparkMRJobRunner, "_run_spark_submit", submit)
    (tmp_path / "yarn").write_text("#!/nowhere/sh")
    (tmp_path / "yarn").chmod(0o755)
    with MRPairs(options(tmp_path, "--hadoop-bin", str(tmp_path / "hadoop"))).make_runner() as runner:
        runner._application = "application_1_1"
        with pytest.raises(KeyboardInterrupt):
            runner._run_spark_submit([], {}, print)
