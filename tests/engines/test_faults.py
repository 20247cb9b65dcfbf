"""What is killed while a job runs is run again; the bytes of the answer and all counts stay the same."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, Callable, NamedTuple, Union

import pytest

from tests.engines.engine import Engine
from tests.engines.hadoop import HadoopCluster
from tests.engines.nasty import nasty_file
from tests.engines.spark import StandaloneSpark
from tests.helpers import Outcome, lookalike, read_run

pytestmark = pytest.mark.engines

RUN_SECONDS = 600


class Answer(NamedTuple):
    """What a run has written that must not depend on its luck."""

    pairs: bytes
    num_pairs: int
    input: dict[str, Any]
    counters: dict[str, dict[str, int]]


class Corpus(NamedTuple):
    """A file of lines, and what one process finds in it."""

    path: Path
    answer: Answer


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    folder = tmp_path_factory.mktemp("corpus")
    path, out = folder / "nasty.jsonl", folder / "out"
    path.write_bytes(nasty_file())
    done = lookalike("pairs", path, "-r", "inline", "--out", out, "-q")
    assert done.exit_code == 0, done.stderr
    return Corpus(path, read_answer(out))


def read_answer(out: Path) -> Answer:
    run = read_run(out)
    counters = {step["name"]: step["counters"] for step in run["steps"]}
    assert {"lines", "documents", "copies", "rejected"} <= set(counters["gate"]) and counters["pairs"]["candidates"]
    return Answer((out / "pairs.jsonl").read_bytes(), run["pairs"], run["input"], counters)


def retries_despite(
    engine: Union[HadoopCluster, StandaloneSpark], fault: Callable[[], None], corpus: Corpus, out: Path
) -> int:
    """Run the command, do something to the engine meanwhile, compare the answer; how often a task was run again."""
    outcomes: list[Outcome] = []
    before = engine.num_retries()
    run = threading.Thread(target=lambda: outcomes.append(engine.lookalike(corpus.path, "--out", out)))
    run.start()
    try:
        fault()
    finally:
        run.join(RUN_SECONDS)
    assert outcomes and outcomes[0].exit_code == 0, f"{outcomes}\n{engine.log_tails()}"
    assert read_answer(out) == corpus.answer
    return engine.num_retries() - before


# Faults

def kill_first(engine: Engine, find: Callable[[], list[int]]) -> None:
    """Wait until there is such a process, and kill it."""

    def is_killed() -> bool:
        for pid in find():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                return True
        return False

    engine.wait_until(is_killed, "a process to kill was seen", RUN_SECONDS)


def kill_mapper(cluster: HadoopCluster) -> None:
    kill_first(cluster, lambda: cluster.task_pids("mapper"))


def kill_reducer(cluster: HadoopCluster) -> None:
    kill_first(cluster, lambda: cluster.task_pids("reducer"))


def kill_container(cluster: HadoopCluster) -> None:
    kill_first(cluster, cluster.container_pids)


def kill_application_master(cluster: HadoopCluster) -> None:
    cluster.wait_until(cluster.container_pids, "a task runs", RUN_SECONDS)
    kill_first(cluster, cluster.application_master_pids)


def restart_node_manager(cluster: HadoopCluster) -> None:
    """Its containers go on meanwhile, and it takes them over again."""
    num_registrations = cluster.num_registrations()
    cluster.wait_until(cluster.container_pids, "a task runs", RUN_SECONDS)
    cluster.kill("nodemanager")
    cluster.restart("nodemanager")
    cluster.wait_until(lambda: cluster.num_registrations() > num_registrations, "the node is back", RUN_SECONDS)


def restart_node(cluster: HadoopCluster) -> None:
    """As a machine that loses power does: the NodeManager and all its containers are gone at once."""
    cluster.wait_until(cluster.container_pids, "a task runs", RUN_SECONDS)
    cluster.kill("nodemanager")
    for pid in [*cluster.container_pids(), *cluster.application_master_pids()]:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    cluster.restart("nodemanager")


def restart_data_node(cluster: HadoopCluster) -> None:
    """It comes back once something has asked it for a block, or wanted to give it one, in vain."""
    num_failovers = cluster.num_failovers()
    cluster.wait_until(cluster.container_pids, "a task runs", RUN_SECONDS)
    cluster.kill("datanode-1")
    try:
        cluster.wait_until(lambda: cluster.num_failovers() > num_failovers, "it was missed", RUN_SECONDS)
    finally:
        cluster.restart("datanode-1")


HADOOP_FAULTS = {
    "mapper": kill_mapper,
    "reducer": kill_reducer,
    "container": kill_container,
    "application master": kill_application_master,
    "NodeManager, restarted": restart_node_manager,
    "NodeManager and all its containers, restarted": restart_node,
    "DataNode, restarted": restart_data_node,
}
TASKS_GO_ON = {
    "NodeManager, restarted": "0: it took over its containers, which went on",
    "DataNode, restarted": "0: the other DataNode was asked",
}
"""Faults that wait until they have been noticed, and after which no task has to be run again."""


def each(faults: Iterable[str], of_ci: str) -> Any:
    """All faults, of which CI makes one."""
    return pytest.mark.parametrize(
        "fault", [pytest.param(fault, marks=[pytest.mark.ci_engines] * (fault == of_ci)) for fault in faults])


@each(HADOOP_FAULTS, of_ci="mapper")
def test_hadoop_answers_the_same_though_it_loses_a(
    fault: str, hadoop_cluster: HadoopCluster, corpus: Corpus, tmp_path: Path, record_property: Callable[..., None]
) -> None:
    retries = retries_despite(
        hadoop_cluster, lambda: HADOOP_FAULTS[fault](hadoop_cluster), corpus, tmp_path / "out")
    record_property("fault", f"Hadoop: {fault}")
    record_property("retries", retries or TASKS_GO_ON.get(fault, "0"))
    assert retries or fault in TASKS_GO_ON


def kill_executor(spark: StandaloneSpark) -> None:
    spark.wait_until(spark.task_pids, "a task runs", RUN_SECONDS)
    kill_first(spark, spark.executor_pids)


def kill_worker(spark: StandaloneSpark) -> None:
    spark.wait_until(spark.task_pids, "a task runs", RUN_SECONDS)
    spark.kill("worker-1")
    spark.wait_until(lambda: spark.num_workers() == 1, "the master knows of its loss", RUN_SECONDS)


SPARK_FAULTS = {"executor": kill_executor, "worker": kill_worker}


@each(SPARK_FAULTS, of_ci="executor")
def test_spark_answers_the_same_though_it_loses_a(
    fault: str, standalone: StandaloneSpark, corpus: Corpus, tmp_path: Path, record_property: Callable[..., None]
) -> None:
    try:
        retries = retries_despite(standalone, lambda: SPARK_FAULTS[fault](standalone), corpus, tmp_path / "out")
    finally:
        if "worker-1" not in standalone.daemons:
            standalone.start_worker(1)
    record_property("fault", f"Spark: {fault}")
    record_property("retries", retries)
    assert retries
