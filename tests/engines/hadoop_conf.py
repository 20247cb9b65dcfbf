"""The configuration of a small Hadoop that is quick on two cores: all on loopback, short heartbeats, small heaps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

from tests.engines.engine import free_port
from tests.engines.java import OPEN_JAVA, QUICK_JAVA

HOST = "127.0.0.1"
NODE_MB = 4096
CONTAINER_MB = 512
HEAP = f"-Xmx400m {QUICK_JAVA} {OPEN_JAVA}"
HEARTBEAT_MS = 100
LOST_NODE_MS = 20_000
"""By default a node that says nothing is waited for ten minutes long."""

LOG4J = """\
log4j.rootLogger=INFO,console
log4j.appender.console=org.apache.log4j.ConsoleAppender
log4j.appender.console.target=System.err
log4j.appender.console.layout=org.apache.log4j.PatternLayout
log4j.appender.console.layout.ConversionPattern=%d{ISO8601} %p %c{2}: %m%n
"""

ADDRESSES = (
    "dfs.namenode.http-address",
    "yarn.resourcemanager.address", "yarn.resourcemanager.scheduler.address", "yarn.resourcemanager.admin.address",
    "yarn.resourcemanager.resource-tracker.address", "yarn.resourcemanager.webapp.address",
    "yarn.nodemanager.address", "yarn.nodemanager.localizer.address", "yarn.nodemanager.webapp.address",
    "mapreduce.jobhistory.address",
)
DATA_NODE_ADDRESSES = ("dfs.datanode.address", "dfs.datanode.http.address", "dfs.datanode.ipc.address")


class HadoopConf:
    """Files of a configuration in a folder, the addresses in them, and the options that each DataNode has besides."""

    def __init__(
        self, folder: Path, home: Path, cluster: Path, data_nodes: Sequence[str], more_of_yarn: Mapping[str, str]
    ) -> None:
        self.folder = folder
        self.addresses = {name: f"{HOST}:{free_port()}" for name in ADDRESSES}
        self.filesystem = f"hdfs://{HOST}:{free_port()}"
        self.options_of = {name: [f"-Ddfs.datanode.data.dir={cluster / name}",
                                  *(f"-D{address}={HOST}:{free_port()}" for address in DATA_NODE_ADDRESSES)]
                           for name in data_nodes}
        folder.mkdir()
        (folder / "log4j.properties").write_text(LOG4J)
        class_path = f"{home}/lib/*,{folder},{home}"
        self._write("core-site.xml", {"fs.defaultFS": self.filesystem, "hadoop.tmp.dir": f"{cluster}/tmp"})
        self._write("hdfs-site.xml", {**self._addresses_of("dfs."), **HDFS, "dfs.replication": len(data_nodes)})
        self._write("yarn-site.xml", {**self._addresses_of("yarn."), **YARN, **more_of_yarn,
                                      "yarn.application.classpath": class_path,
                                      "yarn.node-attribute.fs-store.root-dir": f"file://{cluster}/attributes",
                                      "yarn.nodemanager.local-dirs": f"{cluster}/local",
                                      "yarn.nodemanager.recovery.dir": f"{cluster}/recovery",
                                      "yarn.nodemanager.log-dirs": f"{cluster}/logs/userlogs"})
        self._write("mapred-site.xml", {**self._addresses_of("mapreduce."), **MAPRED,
                                        "mapreduce.shuffle.port": free_port(),
                                        "mapreduce.application.classpath": class_path})
        self._write("capacity-scheduler.xml", SCHEDULER)

    def _addresses_of(self, prefix: str) -> dict[str, str]:
        return {name: address for name, address in self.addresses.items() if name.startswith(prefix)}

    def _write(self, name: str, properties: Mapping[str, object]) -> None:
        lines = [f"<property><name>{name}</name><value>{escape(str(value))}</value></property>"
                 for name, value in properties.items()]
        (self.folder / name).write_text("\n".join(["<configuration>", *lines, "</configuration>\n"]))


HDFS = {
    "dfs.namenode.safemode.extension": 0,
    "dfs.namenode.datanode.registration.ip-hostname-check": "false",
    "dfs.namenode.resource.du.reserved": 0,
}
YARN = {
    "yarn.nodemanager.hostname": HOST,
    "yarn.resourcemanager.hostname": HOST,
    "yarn.nodemanager.aux-services": "mapreduce_shuffle",
    "yarn.nodemanager.aux-services.mapreduce_shuffle.class": "org.apache.hadoop.mapred.ShuffleHandler",
    "yarn.nodemanager.resource.memory-mb": NODE_MB,
    "yarn.nodemanager.resource.cpu-vcores": 8,
    "yarn.scheduler.minimum-allocation-mb": CONTAINER_MB,
    # A node that is started again goes on with its tasks and still has the output of those that have ended.
    "yarn.nodemanager.recovery.enabled": "true",
    "yarn.nodemanager.vmem-check-enabled": "false",
    "yarn.nodemanager.pmem-check-enabled": "false",
    "yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage": 100,
    "yarn.nodemanager.sleep-delay-before-sigkill.ms": 100,
    "yarn.resourcemanager.nodemanagers.heartbeat-interval-ms": HEARTBEAT_MS,
    "yarn.resourcemanager.connect.retry-interval.ms": 500,
    "yarn.nm.liveness-monitor.expiry-interval-ms": LOST_NODE_MS,
    "yarn.am.liveness-monitor.expiry-interval-ms": LOST_NODE_MS,
    "yarn.resourcemanager.rm.container-allocation.expiry-interval-ms": LOST_NODE_MS,
}
MAPRED = {
    "mapreduce.framework.name": "yarn",
    "mapreduce.map.memory.mb": CONTAINER_MB,
    "mapreduce.reduce.memory.mb": CONTAINER_MB,
    "mapreduce.map.java.opts": HEAP,
    "mapreduce.reduce.java.opts": HEAP,
    "mapreduce.task.io.sort.mb": 64,
    "yarn.app.mapreduce.am.resource.mb": CONTAINER_MB,
    "yarn.app.mapreduce.am.command-opts": HEAP,
    "yarn.app.mapreduce.am.scheduler.heartbeat.interval-ms": HEARTBEAT_MS,
    # Tasks are run a second time only where something went wrong.
    "mapreduce.map.speculative": "false",
    "mapreduce.reduce.speculative": "false",
    "mapreduce.client.progressmonitor.pollinterval": 200,
    "mapreduce.client.completion.pollinterval": 200,
    # mrjob reads this form only.
    "mapreduce.jobhistory.jhist.format": "json",
}
SCHEDULER = {
    "yarn.scheduler.capacity.root.queues": "default",
    "yarn.scheduler.capacity.root.default.capacity": 100,
    "yarn.scheduler.capacity.maximum-am-resource-percent": 1,
}
