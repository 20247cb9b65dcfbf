"""On engines too: secrets stay secret, temporary files are private, and names are never more than names."""

from __future__ import annotations

import json
import os
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Callable

import pytest

from tests.engines.emr import EmulatedEmr
from tests.engines.engine import RUN_SECONDS, Engine
from tests.engines.hadoop import HadoopCluster
from tests.engines.spark import LocalClusterSpark, SparkOnYarn
from tests.helpers import DATA, lookalike
from tests.hostile import TRAP, Hostile, make_hostile
from tests.watching import KEYS, SECRETS, SHELL_WITH_UMASK, Watch, files_that_tell, tells

pytestmark = pytest.mark.engines

CORPUS = DATA / "articles.jsonl"


@pytest.fixture
def tmp(tmp_path: Path) -> Path:
    """A folder for all temporary files."""
    (tmp_path / "tmp").mkdir()
    return tmp_path / "tmp"


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Hostile:
    return make_hostile(tmp_path_factory.mktemp("hostile"))


@pytest.mark.ci_engines
@pytest.mark.parametrize("is_in_conf", [False, True])
def test_no_secret_is_sent_or_written(is_in_conf: bool, emulated_emr: EmulatedEmr, tmp: Path, tmp_path: Path) -> None:
    keys = {name.lower(): value for name, value in KEYS.items()} if is_in_conf else {}
    conf = tmp_path / "my.conf"
    conf.write_text(json.dumps({"include": str(emulated_emr.conf), "runners": {"emr": keys}}))
    arguments = (*emulated_emr.pairs_command(CORPUS, "--out", tmp_path / "out", "-v"), "--conf", conf)
    with Watch(tmp, SECRETS.values()) as watch:
        done = emulated_emr.run(*arguments, TMPDIR=str(tmp), **({} if is_in_conf else KEYS))
    assert done.exit_code == 0 and "Created new cluster" in done.stderr, done.stderr
    assert {"settings.json", "gate-lines", "b.sh", "setup-wrapper.sh", "mrjob.zip"} <= watch.names and not watch.telling
    assert not tells((done.stdout + done.stderr).encode(), SECRETS.values())
    for folder in (tmp_path / "out", emulated_emr.folder):
        assert files_that_tell(folder, SECRETS.values()) == []
    assert emulated_emr.uploads and not tells(b"".join(emulated_emr.uploads.values()), SECRETS.values())
    asked = [*emulated_emr.requests("RunJobFlow"), *emulated_emr.steps()]
    assert asked and not tells(json.dumps(asked).encode(), KEYS.values())


def test_no_secret_of_the_environment_reaches_an_engine(engine: Engine, tmp: Path, tmp_path: Path) -> None:
    with Watch(tmp, SECRETS.values()) as watch:
        done = engine.run(*engine.pairs_command(CORPUS, "--out", tmp_path / "out", "-v"), TMPDIR=str(tmp), **KEYS)
    assert done.exit_code == 0, done.stderr
    assert {"settings.json", "gate-lines"} <= watch.names and not watch.telling
    assert not tells((done.stdout + done.stderr).encode(), SECRETS.values())
    # Among its files are the options of jobs, and all that daemons and tasks have logged; uploads are gone by now.
    for folder in (tmp_path / "out", engine.folder):
        assert files_that_tell(folder, SECRETS.values()) == []


@pytest.mark.ci_engines
def test_temporary_files_of_spark_are_private(local_cluster: LocalClusterSpark, tmp: Path, tmp_path: Path) -> None:
    with Watch(tmp) as watch:
        # Java does not know of TMPDIR.
        done = local_cluster.run(*SHELL_WITH_UMASK, *local_cluster.pairs_command(CORPUS, "--out", tmp_path / "out"),
                                 TMPDIR=str(tmp), SPARK_LOCAL_DIRS=str(tmp),
                                 JAVA_TOOL_OPTIONS=f"-Djava.io.tmpdir={tmp} -XX:-UsePerfData")
    assert done.exit_code == 0, done.stderr
    assert {"settings.json", "gate-lines", "lookalike_tasks.zip"} <= watch.names
    # Libraries that Java unpacks are the same for everybody.
    assert [path for path in watch.exposed() if ".so" not in path.suffixes] == []


def test_files_in_hdfs_are_private_and_hold_no_secret(hadoop_cluster: HadoopCluster, tmp_path: Path) -> None:
    mappers = partial(hadoop_cluster.task_pids, "mapper")
    assert_private_in_hdfs(hadoop_cluster, hadoop_cluster, mappers, "job.xml", tmp_path)


@pytest.mark.parametrize("deploy_mode", ["client", "cluster"])
def test_files_of_spark_in_hdfs_are_private_and_hold_no_secret(
    hadoop_cluster: HadoopCluster, deploy_mode: str, tmp_path: Path
) -> None:
    # Executors and what they start are processes of YARN's.
    tasks = partial(hadoop_cluster.pids, "pyspark.daemon")
    with SparkOnYarn(hadoop_cluster, deploy_mode) as spark:
        assert_private_in_hdfs(spark, hadoop_cluster, tasks, "__spark_hadoop_conf__.xml", tmp_path)


def assert_private_in_hdfs(
    engine: Engine, cluster: HadoopCluster, task_pids: Callable[[], list[int]], name: str, tmp_path: Path
) -> None:
    """While a run goes on, nobody else sees its files in HDFS, one of which has a name, and none holds a secret."""
    run = engine.start_run(*engine.pairs_command(CORPUS, "--out", tmp_path / "out"), **KEYS)
    with paused(cluster, task_pids):
        assert_only_for_their_owner(cluster)
        assert name in names_without_secrets(cluster, tmp_path / "hdfs")
    _, stderr = run.communicate(timeout=RUN_SECONDS)
    assert run.returncode == 0, stderr


@contextmanager
def paused(cluster: HadoopCluster, task_pids: Callable[[], list[int]]) -> Iterator[None]:
    """Wait for tasks; inside, they stand still, and the files of their run stay where they are."""
    pids: list[int] = []

    def is_paused() -> bool:
        for pid in task_pids():
            with suppress(ProcessLookupError):  # it has ended meanwhile
                os.kill(pid, signal.SIGSTOP)
                pids.append(pid)
        return bool(pids)

    cluster.wait_until(is_paused, "a task runs", RUN_SECONDS)
    try:
        yield
    finally:
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)


def assert_only_for_their_owner(cluster: HadoopCluster) -> None:
    """The files of a run that goes on are seen by the user whose run it is; another sees that there is a folder."""
    seen = {user: cluster.run(cluster.hadoop, "fs", "-ls", "-R", "/user/*/tmp/mrjob", HADOOP_USER_NAME=user)
            for user in ("hadoop", "stranger")}
    assert "/files/wd/settings.json" in seen["hadoop"].stdout
    (folder,) = seen["stranger"].stdout.splitlines()
    assert folder.startswith("drwx------ ") and "Permission denied: user=stranger" in seen["stranger"].stderr


def names_without_secrets(cluster: HadoopCluster, folder: Path) -> set[str]:
    """The names of all files in HDFS and in archives there, none of which tells a key."""
    folder.mkdir()
    assert cluster.fs("-get", "/*", folder).exit_code == 0
    for path in list(folder.rglob("*.zip")):
        shutil.unpack_archive(path, path.with_suffix(""))
    assert files_that_tell(folder, KEYS.values()) == []
    return {path.name for path in folder.rglob("*")}


@pytest.mark.ci_engines
def test_names_are_only_names(engine: Engine, hostile: Hostile, tmp_path: Path) -> None:
    expected = lookalike("pairs", hostile.plain, "-r", "inline", "--out", tmp_path / "expected", "-q")
    out = tmp_path / f"$(touch {TRAP}) it's"
    done = engine.lookalike(*hostile.few_files, "--out", out)
    assert (expected.exit_code, done.exit_code) == (0, 0), f"{done.stderr}\n{engine.log_tails()}"
    found = (out / "pairs.jsonl").read_bytes()
    assert found == (tmp_path / "expected" / "pairs.jsonl").read_bytes()
    assert found.count(b"\n") > 10
    assert hostile.traps(tmp_path, engine.folder) == []
