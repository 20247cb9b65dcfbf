"""Spark on the YARN of a real Hadoop: the same bytes and counts wherever its driver is, and what failures say."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engines.hadoop import HadoopOfManyMachines
from tests.engines.hadoop import missing as missing_hadoop
from tests.engines.nasty import nasty_file
from tests.engines.spark import SparkOnYarn
from tests.engines.spark import missing as missing_spark
from tests.engines.task_python import without_numpy
from tests.helpers import DATA, lookalike, read_run

pytestmark = pytest.mark.engines


@pytest.fixture(scope="module")
def hadoop() -> Iterator[HadoopOfManyMachines]:
    if reason := missing_spark() or missing_hadoop():
        pytest.fail(reason, pytrace=False)
    with HadoopOfManyMachines() as cluster:
        yield cluster


@pytest.fixture(params=["client", "cluster"])
def spark(request: pytest.FixtureRequest, hadoop: HadoopOfManyMachines) -> Iterator[SparkOnYarn]:
    """A Spark whose driver runs here, or on a machine of the cluster."""
    with SparkOnYarn(hadoop, request.param) as engine:
        yield engine


def test_spark_on_yarn_writes_the_same_bytes(spark: SparkOnYarn, tmp_path: Path) -> None:
    corpus, here, there = tmp_path / "nasty.jsonl", tmp_path / "here", tmp_path / "there"
    corpus.write_bytes(nasty_file())
    done = spark.lookalike(corpus, "--out", there)
    assert done.exit_code == 0, f"{done.stderr}\n{spark.hadoop.log_tails()}"
    assert re.search(r"^gate: http://\S+/application_\d+_\d+/$", done.stderr, re.MULTILINE), done.stderr
    assert lookalike("pairs", corpus, "-r", "inline", "--out", here, "-q").exit_code == 0
    for name in ("pairs.jsonl", "rejected.jsonl"):
        assert (there / name).read_bytes() == (here / name).read_bytes() != b""
    counters = [[step["counters"] for step in read_run(folder)["steps"]] for folder in (here, there)]
    assert counters[0] == counters[1]


def test_missing_numpy_is_one_line(spark: SparkOnYarn, tmp_path: Path) -> None:
    with without_numpy(spark.task_python):
        failed = spark.lookalike(DATA / "articles.jsonl", "--out", tmp_path / "out")
    assert failed.exit_code == 1 and not (tmp_path / "out").exists()
    assert re.search(r"^lookalike: gate: numpy is not installed for .*\n\Z", failed.stderr, re.MULTILINE), failed.stderr


def test_a_configuration_that_nobody_names_is_told_in_sparks_words(spark: SparkOnYarn, tmp_path: Path) -> None:
    conf = tmp_path / "my.conf"
    conf.write_text(json.dumps({"include": str(spark.conf), "runners": {
        "spark": {"spark_tmp_dir": str(tmp_path / "spark")}}}))
    command = spark.pairs_command(DATA / "articles.jsonl", "--out", tmp_path / "out")
    failed = spark.run("env", "-u", "HADOOP_CONF_DIR", *command, "--conf", conf)
    assert failed.exit_code == 1 and not (tmp_path / "out").exists()
    (line,) = failed.stderr.splitlines()
    assert line.startswith("lookalike: gate: ") and "HADOOP_CONF_DIR or YARN_CONF_DIR must be set" in line
