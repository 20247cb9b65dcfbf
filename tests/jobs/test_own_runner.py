"""Options of a configuration are taken as engines want them, or refused with what they should be."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from jobs.errors import InputError
from jobs.job_runner import Run
from jobs.lean_mrjob import names_of_options
from jobs.mr_pairs import MRPairs
from jobs.own_runner import checked_option
from jobs.pipeline import find_pairs
from lsh_core.settings import Settings
from tests.helpers import DATA, tree
from tests.passes import QUIET

TABLE, NUMBER, TRUTH = "a table of names and values", "a number", "true or false"


@pytest.mark.parametrize(("runner", "name", "value", "wanted"), [
    ("local", "num_cores", "two", NUMBER),
    ("local", "num_cores", True, NUMBER),
    ("local", "cmdenv", "A=1", TABLE),
    ("local", "cmdenv", ["A"], TABLE),
    ("hadoop", "jobconf", "mapreduce.job.reduces=8", TABLE),
    ("hadoop", "hadoop_tmp_dir", 5, "a path or an address"),
    ("hadoop", "hadoop_bin", [1], "a command, or a list of its words"),
    ("spark", "task_python_bin", 3.11, "a command, or a list of its words"),
    ("emr", "num_core_instances", "two", NUMBER),
    ("emr", "max_mins_idle", "ten", NUMBER),
    ("emr", "pool_clusters", "yes, please", TRUTH),
    ("emr", "tags", "project", TABLE),
    ("hadoop", "hadoop_extra_args", "it's", "a list of arguments"),
    ("hadoop", "upload_files", 5, "a path, or a list of paths"),
    ("emr", "cloud_tmp_dir", "tmp/", "an address such as s3://BUCKET/FOLDER/"),
])  # fmt: skip
def test_an_option_of_another_kind_is_refused(
    runner: str, name: str, value: object, wanted: str, tmp_path: Path
) -> None:
    if runner == "emr":
        pytest.importorskip("boto3")
    conf = tmp_path / "my.conf"
    conf.write_text(json.dumps({"runners": {runner: {name: value}}}))
    with pytest.raises(InputError) as caught:
        find_pairs(Run([str(DATA / "articles.jsonl")], tmp_path / "out", runner, conf=conf), Settings(), QUIET)
    assert str(caught.value) == f"{conf}: {name} is {value!r}; it must be {wanted}"
    assert tree(tmp_path) == ["my.conf"]


@pytest.mark.parametrize("name", ["mapreduce.job.reduces", "mapreduce.map.memory.mb"])
def test_what_hadoop_wants_as_a_number_is_one(name: str) -> None:
    for value, taken in ((8, "8"), ("0x8", "0x8"), (-1, "-1"), ("${my.mb}", "${my.mb}"), (None, None)):
        assert checked_option("jobconf", {name: value}, "my.conf") == {name: taken}
    for wrong in ("eight", "8g", 1.5, True, ""):
        with pytest.raises(InputError, match=re.escape(f"my.conf: {name} is {wrong!r}; it must be a whole number")):
            checked_option("jobconf", {name: wrong}, "my.conf")


@pytest.mark.parametrize(("name", "value", "taken"), [
    ("cmdenv", {"A": 1, "B": "x", "C": 0.5, "D": False, "E": None},
     {"A": "1", "B": "x", "C": "0.5", "D": "false", "E": None}),
    ("jobconf", {"mapreduce.job.reduces": 8, "x": True}, {"mapreduce.job.reduces": "8", "x": "true"}),
    ("spark_args", "--queue 'of mine'", ["--queue", "of mine"]),
    ("spark_args", ["--queue", "mine"], ["--queue", "mine"]),
    ("spark_args", ["--num-executors", 4], ["--num-executors", "4"]),
    ("tags", {"year": 2026}, {"year": "2026"}),
    ("extra_cluster_params", {"x": {"y": 1}}, {"x": {"y": 1}}),
    ("pool_wait_minutes", 0.5, 0.5),
    ("cloud_tmp_dir", "s3n://bucket/tmp/", "s3n://bucket/tmp/"),
    ("hadoop_bin", "sudo -u me hadoop", "sudo -u me hadoop"),
    ("ssh_tunnel", True, True),
    ("docker_image", "an/image", "an/image"),
    ("check_cluster_every", 2, 2),
    ("bootstrap", "a command", "a command"),
    ("setup", ["a command"], ["a command"]),
    ("subnet", "subnet-1", "subnet-1"),
])  # fmt: skip
def test_options_are_taken_as_engines_want_them(name: str, value: object, taken: object) -> None:
    assert checked_option(name, value, "my.conf") == taken


@pytest.mark.parametrize("options", [
    "cmdenv: !clear", "hadoop_bin: !clear", "read_logs: !clear",
    "jobconf: {mapreduce.job.reduces: !clear 5}", "jobconf: {mapreduce.job.reduces: !clear }"])
def test_what_an_included_file_says_can_be_taken_back(options: str, tmp_path: Path) -> None:
    included, conf = tmp_path / "base.conf", tmp_path / "my.conf"
    included.write_text("runners: {hadoop: {cmdenv: {A: b}, jobconf: {mapreduce.job.reduces: 8}}}")
    conf.write_text(f"include: {included}\nrunners:\n  hadoop:\n    {options}\n")
    made: Any = MRPairs(["-r", "hadoop", "--conf-path", str(conf)]).make_runner()
    reduces = "8" if "jobconf" not in options else "5" if "5" in options else None
    assert made._opts["jobconf"].get("mapreduce.job.reduces") == reduces
    assert made._opts["cmdenv"].get("A") == (None if "cmdenv" in options else "b")


def test_options_on_a_command_line_are_of_their_kinds() -> None:
    """And mrjob's own defaults: runners of all kinds are made."""
    given = ["--cmdenv", "A=1", "--jobconf", "x=2", "--setup", "true", "--no-read-logs"]
    for runner, more in {"local": ["--num-cores", "2"], "hadoop": ["--hadoop-bin", "true"],
                         "spark": ["--spark-args", "--queue mine"]}.items():
        made: Any = MRPairs(["-r", runner, "--no-conf", *more, *(given if runner == "hadoop" else [])]).make_runner()
        assert set(made._opts) <= names_of_options(runner)


def test_a_run_takes_numbers_where_engines_want_words(tmp_path: Path) -> None:
    conf = tmp_path / "my.conf"
    conf.write_text("runners: {local: {cmdenv: {OPENBLAS_NUM_THREADS: 1}}}")
    run = Run([str(DATA / "articles.jsonl")], tmp_path / "out", "local", conf=conf)
    assert find_pairs(run, Settings(), QUIET).num_pairs == 45
