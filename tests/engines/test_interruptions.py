"""A driver that is interrupted ends what it has started on the engine, and leaves nothing."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

import pytest

from tests.engines.engine import Engine
from tests.engines.hadoop import HadoopCluster
from tests.engines.nasty import nasty_file
from tests.engines.spark import SparkOnYarn, StandaloneSpark
from tests.helpers import tree

pytestmark = pytest.mark.engines

RUN_SECONDS = 600
END_SECONDS = 120


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with an input and an empty one for temporary files."""
    (tmp_path / "nasty.jsonl").write_bytes(nasty_file())
    (tmp_path / "tmp").mkdir()
    return tmp_path


def start(engine: Engine, folder: Path) -> subprocess.Popen[str]:
    """A run on an engine, whose processes are among the engine's."""
    arguments = (folder / "nasty.jsonl", "--out", folder / "out", "--tmp", folder / "tmp")
    return engine.start_run(*engine.pairs_command(*arguments))


def assert_nothing_is_left(engine: Engine, run: subprocess.Popen[str], before: set[int], folder: Path) -> None:
    """Wait for the end of the driver, and then of all that it has started."""
    _, stderr = run.communicate(timeout=END_SECONDS)
    assert run.returncode in (130, 143) and "Traceback" not in stderr, stderr
    engine.wait_until(lambda: set(engine.processes()) <= before, "no process is left", END_SECONDS)
    assert tree(folder) == ["nasty.jsonl", "tmp"]


def assert_killed(cluster: HadoopCluster, earlier: list[str]) -> None:
    """The application that was not there earlier has been killed, and of its files none is in HDFS."""
    ((name, status),) = [(application["id"], application["finalStatus"]) for application in cluster.applications()
                         if application["id"] not in earlier]
    assert status == "KILLED"
    files = cluster.fs("-ls", "-R", "/user").stdout
    assert "nasty.jsonl" not in files and name not in files


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_hadoop_kills_the_application(hadoop_cluster: HadoopCluster, number: int, folder: Path) -> None:
    before = set(hadoop_cluster.processes())
    earlier = [application["id"] for application in hadoop_cluster.applications()]
    run = start(hadoop_cluster, folder)
    hadoop_cluster.wait_until(lambda: hadoop_cluster.task_pids("mapper"), "a mapper runs", RUN_SECONDS)
    run.send_signal(number)
    assert_nothing_is_left(hadoop_cluster, run, before, folder)
    assert_killed(hadoop_cluster, earlier)


def test_spark_in_the_cluster_is_killed(hadoop_cluster: HadoopCluster, folder: Path) -> None:
    before = set(hadoop_cluster.processes())
    earlier = [application["id"] for application in hadoop_cluster.applications()]
    with SparkOnYarn(hadoop_cluster, "cluster") as spark:
        run = start(spark, folder)
        # Executors and what they start are processes of YARN's.
        spark.wait_until(lambda: hadoop_cluster.pids("pyspark.daemon"), "a task runs", RUN_SECONDS)
        run.send_signal(signal.SIGINT)
        assert_nothing_is_left(hadoop_cluster, run, before, folder)
    assert_killed(hadoop_cluster, earlier)


def test_spark_ends_with_its_driver(standalone: StandaloneSpark, folder: Path) -> None:
    before = set(standalone.processes())
    run = start(standalone, folder)
    standalone.wait_until(standalone.task_pids, "a task runs", RUN_SECONDS)
    run.send_signal(signal.SIGINT)
    assert_nothing_is_left(standalone, run, before, folder)
