"""What is killed while a job runs is run again, and the bytes of the answer stay the same."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Callable

import pytest

from tests.engines.all_engines import ENGINES
from tests.engines.engine import Engine
from tests.engines.hadoop import HadoopCluster
from tests.engines.nasty import nasty_file
from tests.engines.spark import StandaloneSpark
from tests.helpers import Outcome, lookalike

pytestmark = pytest.mark.engines

RUN_SECONDS = 600


class Corpus:
    """A file of lines, and what one process finds in it."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "nasty.jsonl"
        self.path.write_bytes(nasty_file())
        done = lookalike("pairs", self.path, "-r", "inline", "--out", folder / "out", "-q")
        assert done.exit_code == 0, done.stderr
        self.pairs = (folder / "out" / "pairs.jsonl").read_bytes()


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return Corpus(tmp_path_factory.mktemp("corpus"))


@pytest.fixture(scope="module")
def hadoop_cluster() -> Iterator[HadoopCluster]:
    yield from ENGINES["hadoop"].started()


@pytest.fixture(scope="module")
def standalone() -> Iterator[StandaloneSpark]:
    yield from ENGINES["spark-standalone"].started()


def kill_first(engine: Engine, find: Callable[[], list[int]]) -> None:
    """Wait until there is such a process, and kill it."""

    def is_killed() -> bool:
        for pid in find():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                return True
        return False

    engine.wait_until(is_killed, "a process to kill was seen", RUN_SECONDS)


def assert_same_despite(engine: Engine, fault: Callable[[], None], corpus: Corpus, out: Path) -> None:
    """Run the command, do something to the engine meanwhile, and compare the answer."""
    outcomes: list[Outcome] = []
    run = threading.Thread(target=lambda: outcomes.append(engine.lookalike(corpus.path, "--out", out)))
    run.start()
    try:
        fault()
    finally:
        run.join(RUN_SECONDS)
    assert outcomes and outcomes[0].exit_code == 0, outcomes
    assert (out / "pairs.jsonl").read_bytes() == corpus.pairs


@pytest.mark.parametrize("kind", ["mapper", "reducer"])
def test_hadoop_runs_a_killed_task_again(
    hadoop_cluster: HadoopCluster, kind: str, corpus: Corpus, tmp_path: Path
) -> None:
    assert_same_despite(hadoop_cluster, lambda: kill_first(hadoop_cluster, lambda: hadoop_cluster.task_pids(kind)),
                        corpus, tmp_path / "out")


def test_hadoop_replaces_what_leads_a_job(hadoop_cluster: HadoopCluster, corpus: Corpus, tmp_path: Path) -> None:
    def kill_master() -> None:
        hadoop_cluster.wait_until(hadoop_cluster.container_pids, "a task runs", RUN_SECONDS)
        kill_first(hadoop_cluster, hadoop_cluster.application_master_pids)

    assert_same_despite(hadoop_cluster, kill_master, corpus, tmp_path / "out")


def test_hadoop_waits_for_a_node_that_comes_back(hadoop_cluster: HadoopCluster, corpus: Corpus, tmp_path: Path) -> None:
    def restart_node() -> None:
        hadoop_cluster.wait_until(hadoop_cluster.container_pids, "a task runs", RUN_SECONDS)
        hadoop_cluster.kill("nodemanager")
        hadoop_cluster.restart("nodemanager")

    assert_same_despite(hadoop_cluster, restart_node, corpus, tmp_path / "out")


def test_spark_replaces_an_executor(standalone: StandaloneSpark, corpus: Corpus, tmp_path: Path) -> None:
    def kill_executor() -> None:
        standalone.wait_until(standalone.task_pids, "a task runs", RUN_SECONDS)
        kill_first(standalone, standalone.executor_pids)

    assert_same_despite(standalone, kill_executor, corpus, tmp_path / "out")


def test_spark_goes_on_without_a_worker(standalone: StandaloneSpark, corpus: Corpus, tmp_path: Path) -> None:
    def kill_worker() -> None:
        standalone.wait_until(standalone.task_pids, "a task runs", RUN_SECONDS)
        standalone.kill("worker-1")

    try:
        assert_same_despite(standalone, kill_worker, corpus, tmp_path / "out")
    finally:
        standalone.start_worker(1)
