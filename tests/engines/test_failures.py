"""A task that fails says why in Python's words, with the place in the input and of the logs, and no Java."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.engines import hadoop
from tests.engines.all_engines import ENGINES, Entry
from tests.engines.hadoop import HadoopCluster, HadoopOfManyMachines
from tests.engines.spark import LocalClusterSpark
from tests.engines.task_python import with_modules, without_numpy
from tests.helpers import DATA

pytestmark = pytest.mark.engines

CORPUS = DATA / "articles.jsonl"
BROKEN = "import hashlib\ndel hashlib.blake2b\n"
"""What a mapper cannot do without."""


CLUSTERS = {**{name: ENGINES[name] for name in ("hadoop", "spark", "emr")},
            "hadoop-of-many-machines": Entry(HadoopOfManyMachines, hadoop.missing)}


@pytest.fixture(scope="module", params=CLUSTERS)
def cluster(request: pytest.FixtureRequest) -> Iterator[Any]:
    """An engine whose tasks' Python can be broken."""
    yield from CLUSTERS[request.param].started()


def assert_no_java(stderr: str) -> None:
    assert "org.apache" not in stderr and "\tat " not in stderr


def test_a_job_that_hadoop_refuses_is_told_in_one_line(hadoop_cluster: HadoopCluster, tmp_path: Path) -> None:
    conf = tmp_path / "my.conf"
    conf.write_text(json.dumps({"include": str(hadoop_cluster.conf), "runners": {
        "hadoop": {"jobconf": {"mapreduce.job.queuename": "nowhere"}}}}))
    refused = hadoop_cluster.run(*hadoop_cluster.pairs_command(CORPUS, "--out", tmp_path / "out"), "--conf", conf)
    assert refused.exit_code == 1 and not (tmp_path / "out").exists()
    (line,) = refused.stderr.splitlines()
    assert line.startswith("lookalike: gate: ") and line.endswith("unknown queue: nowhere"), line


def test_an_upload_that_hdfs_refuses_is_told_in_one_line(hadoop_cluster: HadoopCluster, tmp_path: Path) -> None:
    quota = functools.partial(hadoop_cluster.run, hadoop_cluster.hadoop, "dfsadmin")
    assert quota("-setSpaceQuota", "100k", "/user").exit_code == 0
    try:
        refused = hadoop_cluster.lookalike(CORPUS, "--out", tmp_path / "out")
    finally:
        assert quota("-clrSpaceQuota", "/user").exit_code == 0
    assert refused.exit_code and not (tmp_path / "out").exists()
    (line,) = refused.stderr.splitlines()
    assert line.startswith("lookalike: cannot write to hdfs://") and "quota of /user is exceeded" in line, line


def test_missing_numpy_is_one_line(cluster: Any, tmp_path: Path) -> None:
    with without_numpy(cluster.task_python):
        failed = cluster.lookalike(CORPUS, "--out", tmp_path / "out")
    assert failed.exit_code == 1 and not (tmp_path / "out").exists()
    said = f"lookalike: gate: numpy is not installed for {cluster.task_python}"
    (line,) = [line for line in failed.stderr.splitlines() if line.startswith("lookalike: ")]
    assert line.startswith(said) and "bring an environment along" in line, failed.stderr
    assert_no_java(failed.stderr)


@pytest.mark.ci_engines
def test_a_defect_has_its_place_and_its_traceback(cluster: Any, tmp_path: Path) -> None:
    with with_modules(cluster.task_python, {"sitecustomize": BROKEN}):
        failed = cluster.lookalike(CORPUS, "--out", tmp_path / "out")
    assert failed.exit_code == 1 and not (tmp_path / "out").exists()
    lines = failed.stderr.splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("lookalike: gate: "))
    assert lines[at].startswith(f"lookalike: gate: while reading {CORPUS} (split from byte "), failed
    assert "AttributeError" in lines[at] and "Traceback (most recent call last):" in lines[at + 1:]
    assert lines[-1].startswith("logs: ")
    assert_no_java(failed.stderr)


@pytest.mark.parametrize(("option", "value", "said"), [
    ("task_python_bin", "/nowhere/python", 'Cannot run program "/nowhere/python": error=2, No such file or directory'),
    ("spark_master", "local-cluster[2,1]", "Could not parse Master URL: 'local-cluster[2,1]'"),
    ("spark_args", "--no-such-option", "Unrecognized option: --no-such-option")])
def test_what_spark_cannot_do_is_told_in_its_words(
    option: str, value: str, said: str, local_cluster: LocalClusterSpark, tmp_path: Path
) -> None:
    conf = tmp_path / "my.conf"
    conf.write_text(json.dumps({"include": str(local_cluster.conf), "runners": {"spark": {option: value}}}))
    failed = local_cluster.run(*local_cluster.pairs_command(CORPUS, "--out", tmp_path / "out"), "--conf", conf)
    assert failed.exit_code == 1 and not (tmp_path / "out").exists()
    lines = [line for line in failed.stderr.splitlines() if not line.startswith(("gate: ", "logs: "))]
    assert lines == [f"lookalike: gate: {said}"], failed.stderr
    assert_no_java(failed.stderr)
