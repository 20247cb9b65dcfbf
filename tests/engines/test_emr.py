"""What is asked of EMR, and what is uploaded: submission to an emulated API."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engines.all_engines import ENGINES
from tests.engines.emr import EmulatedEmr
from tests.engines.emr_steps import parse_options
from tests.helpers import DATA, REPOSITORY, Outcome

pytestmark = pytest.mark.engines

JOBS = ["mr_gate", "mr_pairs"]


@pytest.fixture(scope="module")
def cluster() -> Iterator[EmulatedEmr]:
    yield from ENGINES["emr"].started()


@pytest.fixture(scope="module")
def done(cluster: EmulatedEmr, tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """One run, looked at from all sides."""
    return cluster.lookalike(DATA / "articles.jsonl", "--out", tmp_path_factory.mktemp("emr") / "out")


def test_the_run_succeeds(cluster: EmulatedEmr, done: Outcome) -> None:
    assert done.exit_code == 0, f"{done.stderr}\n{cluster.log_tails()}"


@pytest.mark.usefixtures("done")
def test_each_job_asks_for_the_cluster_of_the_configuration(cluster: EmulatedEmr) -> None:
    clusters = cluster.requests("RunJobFlow")
    assert [arguments["Name"].partition(".")[0] for arguments in clusters] == JOBS
    for arguments in clusters:
        groups = {group["InstanceRole"]: group for group in arguments["Instances"]["InstanceGroups"]}
        assert arguments["ReleaseLabel"] == "emr-7.5.0"
        assert (groups["MASTER"]["InstanceCount"], groups["CORE"]["InstanceCount"]) == (1, 2)
        assert {group["InstanceType"] for group in groups.values()} == {"m5.xlarge"}
        assert not arguments["Instances"].get("KeepJobFlowAliveWhenNoSteps")


@pytest.mark.usefixtures("done")
def test_machines_are_given_numpy_before_they_work(cluster: EmulatedEmr) -> None:
    for arguments in cluster.requests("RunJobFlow"):
        paths = [action["ScriptBootstrapAction"]["Path"] for action in arguments["BootstrapActions"]]
        assert any(b"pip install" in cluster.uploads[path] and b"numpy" in cluster.uploads[path] for path in paths)


@pytest.mark.usefixtures("done")
def test_a_step_has_its_input_its_script_and_the_program(cluster: EmulatedEmr) -> None:
    steps = cluster.steps()
    assert len(steps) == len(JOBS)
    for job, step in zip(JOBS, steps):
        options = parse_options(step["HadoopJarStep"]["Args"][1:])
        files = {name: cluster.uploads[uri] for uri, _, name in
                 (item.partition("#") for item in options["-files"][0].split(","))}
        assert [cluster.uploads[uri] for uri in options["-input"]] == [(DATA / "articles.jsonl").read_bytes()]
        assert files[f"{job}.py"] == (REPOSITORY / "jobs" / f"{job}.py").read_bytes()
        names = zipfile.ZipFile(io.BytesIO(files["lookalike_tasks.zip"])).namelist()
        assert {"lsh_core/settings.py", "jobs/base.py", "jobs/records.py"} <= set(names)


@pytest.mark.usefixtures("done")
def test_nothing_is_left_in_the_buckets(cluster: EmulatedEmr) -> None:
    assert cluster.storage.everything() == {}


def test_a_failing_step_fails_the_run(cluster: EmulatedEmr, tmp_path: Path) -> None:
    numpy = next(cluster.folder.glob("python/lib/python*/site-packages/numpy"))
    numpy.rename(numpy.with_name("not_numpy"))
    try:
        failed = cluster.lookalike(DATA / "articles.jsonl", "--out", tmp_path / "out")
    finally:
        numpy.with_name("not_numpy").rename(numpy)
    assert failed.exit_code == 1 and "\nlookalike: gate: " in failed.stderr and "\nlogs: s3://" in failed.stderr
    assert "numpy is not installed for" in cluster.log_tails()
    assert not (tmp_path / "out").exists()
