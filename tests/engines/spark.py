"""Spark from the package index: its workers in the driver, or a standalone master with two workers."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any, Optional

from tests.engines.engine import Engine, EngineError, free_port
from tests.engines.hadoop import HadoopCluster
from tests.engines.java import QUICK_JAVA, missing_java
from tests.engines.task_python import make_task_python

NUM_WORKERS = 2
WORKER_MB = 1024


def missing() -> Optional[str]:
    """Why Spark cannot be used here, if it cannot."""
    if importlib.util.find_spec("pyspark") is None:
        return "pyspark is not installed: make test-engines does that"
    return missing_java()


class Spark(Engine):
    """What both kinds share: a home of links, so that Spark does not write into its package."""

    runner = "spark"
    master = ""

    def start(self) -> None:
        spec = importlib.util.find_spec("pyspark")
        if spec is None or spec.origin is None:
            raise EngineError("pyspark is not installed")
        self.home = self.folder / "spark"
        self.home.mkdir()
        for name in ("bin", "jars", "python", "sbin"):
            (self.home / name).symlink_to(Path(spec.origin).with_name(name))
        self.env.update(SPARK_HOME=str(self.home), SPARK_LOCAL_IP="127.0.0.1", SPARK_LOCAL_HOSTNAME="localhost")
        self.task_python = make_task_python(self.folder / "python")
        self.events = self.folder / "events"
        self.events.mkdir()

    def runner_options(self) -> dict[str, Any]:
        return {
            "python_bin": sys.executable,
            "task_python_bin": str(self.task_python),
            "spark_master": self.master,
            "jobconf": {
                "spark.ui.enabled": "false",
                "spark.eventLog.enabled": "true",
                "spark.eventLog.dir": self.events.as_uri(),
                "spark.eventLog.compress": "false",
                "spark.eventLog.rolling.enabled": "false",
                "spark.driver.extraJavaOptions": QUICK_JAVA,
                "spark.executor.extraJavaOptions": QUICK_JAVA,
            },
        }

    def num_retries(self) -> int:
        """How many tasks have been started so far that were not the first of their kind."""
        events = [json.loads(line) for path in self.events.iterdir() for line in path.read_text().splitlines()]
        started = [event for event in events if event["Event"] == "SparkListenerTaskStart"]
        return sum(event["Stage Attempt ID"] + event["Task Info"]["Attempt"] > 0 for event in started)

    def executor_pids(self) -> list[int]:
        """The executors of jobs that are running."""
        return self.pids("CoarseGrainedExecutorBackend")

    def task_pids(self) -> list[int]:
        """The Python processes that run tasks; the one that starts the others is not among them."""
        daemons = self.pids("pyspark.daemon")
        return [pid for pid in daemons if parent_of(pid) in daemons]


class LocalClusterSpark(Spark):
    """Workers inside the driver's process, executors of their own: there is nothing to start."""

    master = f"local-cluster[{NUM_WORKERS},1,{WORKER_MB}]"


class StandaloneSpark(Spark):
    """A master and two workers, each a process."""

    def start(self) -> None:
        super().start()
        port, self._page_port = free_port(), free_port()
        self.master = f"spark://localhost:{port}"
        self.env.update(SPARK_DAEMON_JAVA_OPTS=QUICK_JAVA, SPARK_DAEMON_MEMORY="256m")
        self._start_class("master", "master.Master", "--port", port, "--webui-port", self._page_port)
        for number in range(NUM_WORKERS):
            self.start_worker(number)
        self.wait_until(lambda: self.num_workers() == NUM_WORKERS, "all workers are known to the master")

    def _start_class(self, name: str, class_name: str, *arguments: object) -> None:
        self.start_daemon(name, self.home / "bin" / "spark-class", f"org.apache.spark.deploy.{class_name}",
                          "--host", "localhost", *arguments)

    def start_worker(self, number: int) -> None:
        """Start a worker, for the first time or again."""
        self._start_class(f"worker-{number}", "worker.Worker", "--cores", 1, "--memory", f"{WORKER_MB}M",
                          "--webui-port", free_port(), "--work-dir", self.folder / f"work-{number}", self.master)

    def num_workers(self) -> int:
        """How many workers the master takes for alive."""
        state = self.fetch_json(f"http://localhost:{self._page_port}/json/")
        return 0 if state is None else sum(worker["state"] == "ALIVE" for worker in state["workers"])

    def runner_options(self) -> dict[str, Any]:
        # mrjob would take a folder in HDFS.
        return {**super().runner_options(), "spark_tmp_dir": str(self.folder / "tmp")}


class BesideHadoop(Spark):
    """Spark in the network of a Hadoop that is running, whose files it reads."""

    def __init__(self, hadoop: HadoopCluster) -> None:
        super().__init__()
        self.hadoop = hadoop
        self.env.update({name: hadoop.env[name] for name in ("HADOOP_CONF_DIR", "HADOOP_USER_NAME")})

    def _isolate(self) -> None:
        self._enter_network = self.hadoop._enter_network

    def runner_options(self) -> dict[str, Any]:
        return {**super().runner_options(), "hadoop_bin": str(self.hadoop.hadoop)}


class StandaloneBesideHadoop(BesideHadoop, StandaloneSpark):
    """A master and workers of Spark's own; what is uploaded is where mrjob puts it, in HDFS."""

    def runner_options(self) -> dict[str, Any]:
        return {name: value for name, value in super().runner_options().items() if name != "spark_tmp_dir"}


class SparkOnYarn(BesideHadoop):
    """Hadoop's YARN starts the executors."""

    master = "yarn"

    def __init__(self, hadoop: HadoopCluster, deploy_mode: str = "client") -> None:
        """The driver runs here, or on a machine of the ``cluster``."""
        super().__init__(hadoop)
        self.deploy_mode = deploy_mode

    def runner_options(self) -> dict[str, Any]:
        options = super().runner_options()
        # Nodes have Spark, else all of it would be uploaded for each job; two executors fit beside a driver.
        options["jobconf"].update({"spark.yarn.jars": f"local:{self.home}/jars/*", "spark.executor.instances": 2,
                                   "spark.driver.memory": "512m", "spark.executor.memory": "512m"})
        return {**options, "spark_deploy_mode": self.deploy_mode}


def parent_of(pid: int) -> int:
    """The process that started another; 0 if it has ended."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0
