"""Hadoop without its archive: the jars from Maven's repository, and launchers of the same names as Hadoop's own."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Optional

from tests.engines.engine import EngineError, cache_folder
from tests.engines.java import QUICK_JAVA, missing_java

VERSION = "3.4.2"
ARTIFACTS = (
    "hadoop-common", "hadoop-hdfs", "hadoop-hdfs-client", "hadoop-yarn-server-resourcemanager",
    "hadoop-yarn-server-nodemanager", "hadoop-yarn-server-timelineservice", "hadoop-mapreduce-client-app",
    "hadoop-mapreduce-client-shuffle", "hadoop-mapreduce-client-jobclient", "hadoop-mapreduce-client-hs",
    "hadoop-streaming",
)
PROGRAMS = {
    "hadoop": {
        "fs": "fs.FsShell",
        "jar": "util.RunJar",
        "job": "mapred.JobClient",
        "version": "util.VersionInfo",
        "dfsadmin": "hdfs.tools.DFSAdmin",
        "namenode": "hdfs.server.namenode.NameNode",
        "datanode": "hdfs.server.datanode.DataNode",
        "resourcemanager": "yarn.server.resourcemanager.ResourceManager",
        "nodemanager": "yarn.server.nodemanager.NodeManager",
    },
    "yarn": {"application": "yarn.client.cli.ApplicationCLI application", "logs": "yarn.client.cli.LogsCLI"},
}
"""Of each program the commands, and the classes that they start, with what Hadoop's own launchers put first."""

WEB_APPLICATIONS = ("hdfs", "datanode", "cluster", "node", "static", "secondary", "proxy")
"""Folders that daemons look for, and start without a page in them."""

POM = """\
<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>lookalike</groupId>
  <artifactId>hadoop</artifactId>
  <version>1</version>
  <dependencies>
{dependencies}
  </dependencies>
</project>
"""
DEPENDENCY = """\
    <dependency>
      <groupId>org.apache.hadoop</groupId>
      <artifactId>{artifact}</artifactId>
      <version>{version}</version>
    </dependency>"""
COPY_JARS = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"

SHARED_CLASSES = "classes.jsa"
"""Classes that clients load, in the form that Java has them in memory: a client starts in half the time."""

# Java shares classes only if the jars come first on the class path.
LAUNCHER = """\
#!/bin/sh
# {program} COMMAND ...: the commands of Hadoop that are needed here; the configuration is in HADOOP_CONF_DIR.
home=$(cd "$(dirname "$0")/.." && pwd)
case "$1" in
{cases}
    *) echo "{program}: no command $1" >&2; exit 2 ;;
esac
shift
if [ -f "$home/{shared}" ]; then share="-XX:SharedArchiveFile=$home/{shared} -Xlog:disable"; fi
exec java $share {options} $HADOOP_OPTS -cp "$home/lib/*:$HADOOP_CONF_DIR:$home" org.apache.hadoop.$main "$@"
"""


def hadoop_folder() -> Path:
    """Where Hadoop is, once it is installed."""
    return cache_folder() / f"hadoop-{VERSION}"


def missing() -> Optional[str]:
    """Why Hadoop cannot be used here, if it cannot."""
    if not hadoop_folder().exists():
        return f"Hadoop is not in {hadoop_folder()}: make test-engines installs it"
    return missing_java()


def install(folder: Optional[Path] = None) -> Path:
    """Put Hadoop into a folder, if it is not there: complete or not at all."""
    if reason := missing_java():
        raise EngineError(f"Hadoop and Spark need Java 17: {reason}")
    folder = folder or hadoop_folder()
    if folder.exists():
        _write_launchers(folder / "bin")
        return folder
    if not shutil.which("mvn"):
        raise EngineError("Hadoop's jars come by mvn, and there is none on PATH")
    folder.parent.mkdir(parents=True, exist_ok=True)
    partial = Path(tempfile.mkdtemp(prefix=f".{folder.name}.partial-", dir=folder.parent))
    try:
        _copy_jars(partial)
        for name in WEB_APPLICATIONS:
            (partial / "webapps" / name).mkdir(parents=True)
        _write_launchers(partial / "bin")
        partial.chmod(0o755)
        partial.rename(folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return folder


def streaming_jar(folder: Path) -> Path:
    """The jar that runs other programs as mappers and reducers."""
    return folder / "lib" / f"hadoop-streaming-{VERSION}.jar"


def _copy_jars(folder: Path) -> None:
    dependencies = "\n".join(DEPENDENCY.format(artifact=artifact, version=VERSION) for artifact in ARTIFACTS)
    (folder / "pom.xml").write_text(POM.format(dependencies=dependencies))
    command = ["mvn", "--batch-mode", "--quiet", "--file", folder / "pom.xml", COPY_JARS,
               f"-DoutputDirectory={folder / 'lib'}", "-DincludeScope=runtime"]
    done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        raise EngineError(f"mvn did not bring Hadoop's jars:\n{done.stdout[-3000:]}")


def _write_launchers(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    for program, commands in PROGRAMS.items():
        cases = "\n".join(f"    {command}) main='{name}' ;;" for command, name in commands.items())
        content = LAUNCHER.format(program=program, cases=cases, options=QUICK_JAVA, shared=SHARED_CLASSES)
        path = folder / program
        if not path.exists() or path.read_text() != content:
            _write_program(path, content)


def _write_program(path: Path, content: str) -> None:
    """Write a program that others may be running meanwhile."""
    partial = Path(tempfile.mkdtemp(dir=path.parent)) / path.name
    partial.write_text(content)
    partial.chmod(0o755)
    partial.replace(path)
    partial.parent.rmdir()


if __name__ == "__main__":
    try:
        print(install())
    except EngineError as error:
        sys.exit(str(error))
