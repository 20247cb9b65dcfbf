"""Engines that are not here, and configurations that are none, are told in one line before anything runs."""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import os
import re
import shutil
import socket
import sys
from pathlib import Path
from typing import Optional

import pytest

from jobs.engine_check import check_spark
from jobs.errors import InputError, OutputError, RemoteError
from jobs.job_runner import Run
from jobs.mr_pairs import MRPairs
from jobs.pipeline import find_pairs
from lsh_core.errors import SettingsError
from lsh_core.settings import Settings
from tests.engines.engine import free_port
from tests.helpers import DATA, tree
from tests.passes import QUIET

ARTICLES = str(DATA / "articles.jsonl")
THIS_PYTHON = {"python_bin": [sys.executable]}


@pytest.mark.parametrize(("runner", "option"), [("hadoop", "hadoop_bin"), ("spark", "spark_submit_bin")])
def test_an_engine_whose_program_is_missing(runner: str, option: str, tmp_path: Path) -> None:
    conf = tmp_path / "my.conf"
    conf.write_text(f"runners: {{{runner}: {{{option}: [/nowhere/program]}}}}")
    with pytest.raises(RemoteError, match=f"cannot run /nowhere/program: .*{option} in the file of --conf names it"):
        find_pairs(Run([ARTICLES], tmp_path / "out", runner, conf=conf), Settings(), QUIET)
    assert tree(tmp_path) == ["my.conf"]


@pytest.mark.parametrize(("options", "what"), [("", "the jar of streaming"), (
    ", hadoop_streaming_jar: /nowhere/streaming.jar", "/nowhere/streaming.jar")])
def test_a_hadoop_without_its_streaming(
    options: str, what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in os.environ if name.startswith("HADOOP_")]:
        monkeypatch.delenv(name)
    conf = tmp_path / "my.conf"
    conf.write_text(f"runners: {{hadoop: {{hadoop_bin: [/usr/bin/true]{options}}}}}")
    with pytest.raises(RemoteError, match=f"^cannot find {what}; hadoop_streaming_jar in the file of --conf names it"):
        find_pairs(Run([ARTICLES], tmp_path / "out", "hadoop", conf=conf), Settings(), QUIET)
    assert tree(tmp_path) == ["my.conf"]


@pytest.mark.parametrize(("addresses", "why"), [
    ("[::1]:{0},127.0.0.1:{0}", "refused"), ("nowhere", "'nowhere' is not HOST:PORT")])
def test_a_master_of_spark_that_does_not_answer(addresses: str, why: str, tmp_path: Path) -> None:
    conf, master = tmp_path / "my.conf", "spark://" + addresses.format(free_port())
    conf.write_text(json.dumps({"runners": {"spark": {
        **THIS_PYTHON, "spark_submit_bin": ["true"], "spark_master": master, "spark_tmp_dir": "/shared"}}}))
    with pytest.raises(RemoteError, match=f"^cannot reach {re.escape(master)}: .*{why}; spark_master in the file of"):
        find_pairs(Run([ARTICLES], tmp_path / "out", "spark", conf=conf), Settings(), QUIET)
    assert tree(tmp_path) == ["my.conf"]


def test_what_spark_on_yarn_needs(tmp_path: Path) -> None:
    conf = tmp_path / "my.conf"
    conf.write_text(json.dumps({"runners": {"spark": {
        **THIS_PYTHON, "spark_submit_bin": ["true"], "spark_master": "yarn", "hadoop_bin": ["no-hadoop"]}}}))
    with pytest.raises(RemoteError, match=r"^cannot run no-hadoop: it is not on PATH; hadoop_bin in the file"):
        find_pairs(Run([ARTICLES], tmp_path / "out", "spark", conf=conf), Settings(), QUIET)
    assert tree(tmp_path) == ["my.conf"]


@pytest.mark.parametrize(("python", "why"), [
    (["/nowhere/python"], "cannot run /nowhere/python: it is no program here; python_bin in the file of --conf"),
    (["no-python"], "cannot run no-python: it is not on PATH; python_bin in the file of --conf names it$"),
    (["sh", "-c", "exec sleep 60"], "cannot use sh for Spark's driver, .*: .* timed out after"),
    ([sys.executable, "-I", "-S"], "cannot use .* for Spark's driver, .*: numpy is not installed for "),
    (["false"], "cannot use false for Spark's driver, .* names no other: code 1$")])
def test_a_python_that_sparks_driver_cannot_work_with(
    python: list[str], why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jobs.engine_check.PYTHON_SECONDS", 60 if python[0] == sys.executable else 1)
    conf = tmp_path / "my.conf"
    conf.write_text(json.dumps({"runners": {"spark": {"spark_submit_bin": ["true"], "python_bin": python}}}))
    with pytest.raises(RemoteError, match=why):
        find_pairs(Run([ARTICLES], tmp_path / "out", "spark", conf=conf), Settings(), QUIET)
    assert tree(tmp_path) == ["my.conf"]


@pytest.mark.parametrize("options", [
    ("--spark-deploy-mode", "cluster"), ("--cmdenv", "PYSPARK_DRIVER_PYTHON=python3"),
    ("--jobconf", "spark.pyspark.python=python3")])
def test_a_python_of_the_driver_that_python_bin_does_not_name_is_not_looked_at(options: tuple[str, ...]) -> None:
    arguments = ["-r", "spark", "--no-conf", "--spark-submit-bin", "true", "--spark-tmp-dir", "/shared",
                 "--python-bin", "/nowhere/python", *options]
    check_spark(MRPairs(arguments).make_runner())


def test_the_drivers_python_finds_numpy_where_its_environment_says() -> None:
    (numpy,) = importlib.util.find_spec("numpy").submodule_search_locations or ()
    arguments = ["-r", "spark", "--no-conf", "--spark-submit-bin", "true", "--spark-tmp-dir", "/shared",
                 "--python-bin", f"{sys.executable} -S", "--cmdenv", f"PYTHONPATH={os.path.dirname(numpy)}"]
    check_spark(MRPairs(arguments).make_runner())


def test_one_master_of_spark_that_answers_is_enough() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        master = f"spark://127.0.0.1:{free_port()},127.0.0.1:{server.getsockname()[1]}"
        arguments = ["-r", "spark", "--no-conf", "--spark-submit-bin", "true", "--spark-master", master,
                     "--spark-tmp-dir", "/shared", "--python-bin", sys.executable]
        check_spark(MRPairs(arguments).make_runner())


@pytest.mark.parametrize("runner", ["hadoop", "spark", "emr"])
@pytest.mark.parametrize("is_named", [True, False])
def test_a_temporary_folder_that_engines_take_for_more_than_a_name(
    runner: str, is_named: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "my tmp"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    run = Run([ARTICLES], tmp_path / "out", runner, tmp=folder if is_named else None)
    with pytest.raises(OutputError, match=f"^{folder} cannot hold temporary files of -r {runner}: .*; --tmp names"):
        find_pairs(run, Settings(), QUIET)
    assert tree(tmp_path) == ["my tmp"]
    find_pairs(dataclasses.replace(run, runner="local"), Settings(), QUIET)


def test_emr_without_its_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *_: None if name == "boto3" else found(name))
    with pytest.raises(RemoteError, match="-r emr needs boto3: pip install boto3"):
        find_pairs(Run([ARTICLES], tmp_path / "out", "emr"), Settings(), QUIET)


def test_an_engine_that_nobody_knows(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="runner is 'nope'; it must be one of inline, local, hadoop, spark, emr"):
        Run([ARTICLES], tmp_path / "out", "nope")


@pytest.mark.parametrize("content", [
    "id,text\n1,a\n", "[1, 2]", "{", "a: b: c", "\0", "runners: {local: 5}", "runners: {local: abc}"])
def test_a_configuration_that_is_none(content: str, tmp_path: Path) -> None:
    conf = tmp_path / "my.conf"
    conf.write_text(content)
    with pytest.raises(InputError, match=r"my\.conf is no mrjob configuration, "):
        find_pairs(Run([ARTICLES], tmp_path / "out", conf=conf), Settings(), QUIET)


@pytest.mark.parametrize(("content", "why"), [
    ("runners: {hadoop: {task_python_bin: python3}}", "has no options for -r spark, under runners: spark"),
    ("{}", "has no options for -r spark, under runners: spark"),
    ("runners: {spark: {spark_mastre: yarn, 7: 1}}", "7, spark_mastre is no option of mrjob for -r spark"),
    ("runners: {spark: {hadoop_streaming_jar: x.jar}}", "hadoop_streaming_jar is no option of mrjob for -r spark")])
def test_options_that_would_do_nothing(content: str, why: str, tmp_path: Path) -> None:
    conf = tmp_path / "my.conf"
    conf.write_text(content)
    with pytest.raises(InputError, match=rf"my\.conf:? {why}$"):
        find_pairs(Run([ARTICLES], tmp_path / "out", "spark", conf=conf), Settings(), QUIET)
    assert tree(tmp_path) == ["my.conf"]


@pytest.mark.parametrize("runner", [None, "inline", "local"])
def test_a_configuration_of_a_cluster_is_none_of_this_machine(runner: Optional[str], tmp_path: Path) -> None:
    conf = Path(shutil.copy(DATA.parent / "conf" / "hadoop.conf", tmp_path))
    with pytest.raises(InputError, match=rf"hadoop\.conf has no options for -r {runner or 'local'}, under runners: "):
        find_pairs(Run([ARTICLES], tmp_path / "out", runner, conf=conf), Settings(), QUIET)
    own = Path(shutil.copy(DATA.parent / "conf" / "local.conf", tmp_path))
    assert find_pairs(Run([ARTICLES], tmp_path / "out", runner, conf=own), Settings(), QUIET).num_pairs == 45
