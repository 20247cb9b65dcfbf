"""A real Hadoop on loopback: HDFS with two copies of each block, YARN and streaming."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from tests.engines.engine import Engine
from tests.engines.hadoop_conf import HadoopConf
from tests.engines.hadoop_install import SHARED_CLASSES, install, missing, streaming_jar
from tests.engines.java import OPEN_JAVA
from tests.engines.task_python import make_task_python
from tests.helpers import Outcome

__all__ = ["HadoopCluster", "install", "missing"]

DATA_NODES = ("datanode-0", "datanode-1")
DAEMONS = ("namenode", *DATA_NODES, "resourcemanager", "nodemanager")
DAEMON_JAVA = f"-Xmx256m {OPEN_JAVA} -Djava.io.tmpdir="
NUM_REDUCERS = 2

MASTER_LOGS = "userlogs/application_*/container_*_000001/syslog"
ATTEMPT = re.compile(r"attempt_\w+_(\d+) TaskAttempt Transitioned from NEW")
REGISTERED = "NodeManager from node"
DATA_NODE_IS_AWAY = re.compile("Failed to connect to .* add to deadNodes|Excluding datanode")


class HadoopCluster(Engine):
    """A NameNode, two DataNodes, a ResourceManager and a NodeManager."""

    runner = "hadoop"
    more_of_yarn: Mapping[str, str] = MappingProxyType({})

    def start(self) -> None:
        self.home = install()
        self.hadoop = self.home / "bin" / "hadoop"
        self._conf_files = HadoopConf(self.folder / "conf", self.home, self.folder, DATA_NODES,
                                      self.more_of_yarn)
        self.task_python = make_task_python(self.folder / "python")
        # mrjob finds the logs of failed tasks only where the user has this name.
        self.env.update(HADOOP_CONF_DIR=str(self._conf_files.folder), HADOOP_USER_NAME="hadoop")
        self._checked(self.run(self.hadoop, "namenode", "-format", "-nonInteractive"))
        for name in DAEMONS:
            self.restart(name)
        self.wait_until(self._has_data_nodes, "the NameNode has its DataNodes")
        self.wait_until(self._has_node, "the ResourceManager has an active node")
        self._prepare_home()

    def runner_options(self) -> dict[str, Any]:
        return {
            "hadoop_bin": str(self.hadoop),
            "hadoop_streaming_jar": str(streaming_jar(self.home)),
            "hadoop_log_dirs": [str(self.logs)],
            "task_python_bin": str(self.task_python),
            "jobconf": {"mapreduce.job.reduces": NUM_REDUCERS},
        }

    def restart(self, name: str) -> None:
        """Start a daemon that is not running."""
        command = name.partition("-")[0]
        self.start_daemon(name, self.hadoop, command, *self._conf_files.options_of.get(name, ()),
                          HADOOP_OPTS=f"{DAEMON_JAVA}{self.folder}")

    def fs(self, *arguments: object) -> Outcome:
        """``hadoop fs``."""
        return self.run(self.hadoop, "fs", *arguments)

    def application_master_pids(self) -> list[int]:
        """The processes that lead running jobs."""
        return self.pids("java", "MRAppMaster")

    def container_pids(self) -> list[int]:
        """The Java processes of running tasks."""
        return self.pids("java", "org.apache.hadoop.mapred.YarnChild")

    def task_pids(self, kind: str) -> list[int]:
        """The Python processes of running tasks, ``mapper`` or ``reducer``."""
        return [pid for pid, command in self.processes().items()
                if f" --{kind}" in command and command.startswith(str(self.task_python))]

    def applications(self) -> list[dict[str, Any]]:
        """What the ResourceManager tells of all applications."""
        address = self._conf_files.addresses["yarn.resourcemanager.webapp.address"]
        told = self.fetch_json(f"http://{address}/ws/v1/cluster/apps")
        return list(told["apps"]["app"]) if told["apps"] else []

    def num_retries(self) -> int:
        """How many tasks and application masters have been started so far that were not the first of their kind."""
        logs = list(self.logs.glob(MASTER_LOGS))
        attempts = [number for log in logs for number in ATTEMPT.findall(log.read_text())]
        num_jobs = len({log.parents[1] for log in logs})
        return len(logs) - num_jobs + sum(number != "0" for number in attempts)

    def num_registrations(self) -> int:
        """How often a NodeManager has told the ResourceManager that it is there."""
        return (self.logs / "resourcemanager.log").read_text().count(REGISTERED)

    def num_failovers(self) -> int:
        """How often a task or an application master turned from a DataNode that did not answer to the other."""
        return sum(len(DATA_NODE_IS_AWAY.findall(log.read_text(errors="replace")))
                   for log in self.logs.glob("userlogs/application_*/container_*/syslog"))

    def _has_data_nodes(self) -> bool:
        state = self._bean("dfs.namenode.http-address", "Hadoop:service=NameNode,name=FSNamesystemState")
        return state is not None and state["NumLiveDataNodes"] == len(DATA_NODES) and state["FSState"] == "Operational"

    def _has_node(self) -> bool:
        state = self._bean("yarn.resourcemanager.webapp.address", "Hadoop:service=ResourceManager,name=ClusterMetrics")
        return state is not None and state["NumActiveNMs"] == 1

    def _bean(self, address: str, name: str) -> Any:
        """What a daemon tells of itself."""
        told = self.fetch_json(f"http://{self._conf_files.addresses[address]}/jmx?qry={name}")
        return told["beans"][0] if told and told["beans"] else None

    def _prepare_home(self) -> None:
        """Make the user's folder; the first client ever keeps its classes for all that come after it."""
        shared = self.home / SHARED_CLASSES
        partial = self.folder / SHARED_CLASSES
        options = "" if shared.exists() else f"-XX:ArchiveClassesAtExit={partial}"
        self._checked(self.run(self.hadoop, "fs", "-mkdir", "-p", "/user/hadoop", HADOOP_OPTS=options))
        if partial.exists():
            partial.replace(shared)

    def _checked(self, outcome: Outcome) -> None:
        self.wait_until(lambda: outcome.exit_code == 0, outcome.stderr[-2000:], seconds=0)


class HadoopOfManyMachines(HadoopCluster):
    """As if there were many: what tasks have written is in HDFS soon after an application's end, and not here."""

    more_of_yarn = MappingProxyType({"yarn.log-aggregation-enable": "true",
                                     "yarn.nodemanager.remote-app-log-dir": "/logs"})

    def runner_options(self) -> dict[str, Any]:
        return {**super().runner_options(), "hadoop_log_dirs": [str(self.folder / "nowhere")]}
