"""The configurations load, also with every option on that is off, and mrjob knows each of their options."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from jobs.job_runner import default_conf
from jobs.lean_mrjob import stand_ins

with stand_ins():
    from mrjob.conf import load_opts_from_mrjob_conf
    from mrjob.emr import EMRJobRunner
    from mrjob.hadoop import HadoopJobRunner
    from mrjob.local import LocalMRJobRunner
    from mrjob.spark.runner import SparkMRJobRunner

RUNNER_CLASSES = {"local": LocalMRJobRunner, "hadoop": HadoopJobRunner, "spark": SparkMRJobRunner, "emr": EMRJobRunner}
WANTED = {
    "hadoop": {"task_python_bin", "hadoop_bin", "hadoop_streaming_jar", "hadoop_tmp_dir", "upload_archives"},
    "spark": {"python_bin", "spark_master", "spark_deploy_mode", "spark_args", "spark_tmp_dir", "jobconf"},
    "emr": {"region", "instance_type", "core_instance_type", "subnet", "iam_service_role", "iam_instance_profile",
            "task_instance_bid_price", "cloud_log_dir", "cleanup", "jobconf"},
    "local": {"num_cores"},
}


def with_all_options(runner: str) -> str:
    """A configuration with the # taken away from all options that are off."""
    return re.sub(r"(?m)^( *)#(?! )", r"\1", default_conf(runner).read_text(encoding="utf-8"))


def loaded(path: Path, runner: str) -> dict[str, Any]:
    """The options as mrjob reads them."""
    ((_, options),) = load_opts_from_mrjob_conf(runner, str(path))
    assert isinstance(options, dict)
    return options


@pytest.mark.parametrize("runner", RUNNER_CLASSES)
def test_mrjob_knows_every_option(runner: str, tmp_path: Path) -> None:
    (tmp_path / "all.conf").write_text(with_all_options(runner))
    known = RUNNER_CLASSES[runner].OPT_NAMES
    options, all_options = loaded(default_conf(runner), runner), loaded(tmp_path / "all.conf", runner)
    assert set(options) < set(all_options) <= known
    assert WANTED[runner] <= set(all_options)


@pytest.mark.parametrize("runner", RUNNER_CLASSES)
def test_options_that_are_on_stay_as_they_are(runner: str) -> None:
    given = yaml.safe_load(default_conf(runner).read_text(encoding="utf-8"))["runners"][runner]
    everything = yaml.safe_load(with_all_options(runner))["runners"][runner]
    alternatives = {"spark": {"spark_master"}}.get(runner, set())
    tables = ("jobconf", "cmdenv")
    for name in set(given) - alternatives - set(tables):
        assert everything[name] == given[name]
    for name in tables:
        assert given.get(name, {}).items() <= everything.get(name, {}).items()


@pytest.mark.parametrize("runner", RUNNER_CLASSES)
def test_options_are_explained(runner: str) -> None:
    lines = default_conf(runner).read_text(encoding="utf-8").splitlines()
    is_explained = False
    for line in map(str.strip, lines[lines.index("runners:") + 2 :]):
        if line.startswith("# "):
            is_explained = True
        elif line.endswith(":"):
            is_explained = line == "bootstrap:"
        elif line != "inline: {}":
            assert is_explained, line


def test_no_configuration_holds_a_key() -> None:
    for runner in RUNNER_CLASSES:
        assert not re.search("(?i)secret|access_key|token", default_conf(runner).read_text(encoding="utf-8"))
