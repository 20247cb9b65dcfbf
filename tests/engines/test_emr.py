"""Submission to an emulated EMR API: all that is asked of EMR, and every object that is uploaded.

It cannot show that a real image can be bootstrapped so, or that roles exist.
"""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterator
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import mrjob
import pytest
import yaml

from jobs.job_runner import default_conf
from jobs.shipping import ZIP_NAME, build_zip
from lsh_core.settings import Settings
from tests.engines.all_engines import ENGINES
from tests.engines.emr import EmulatedEmr
from tests.engines.task_python import without_numpy
from tests.helpers import DATA, REPOSITORY, Outcome, lookalike
from tests.passes import write_gate_of

pytestmark = [pytest.mark.engines, pytest.mark.ci_engines]

CORPUS = DATA / "articles.jsonl"
JOBS = ["mr_gate", "mr_pairs"]
ARGUMENTS = {"mr_gate": "--num-shards 1", "mr_pairs": "--gate gate --duplicate-ids refuse"}

BOOTSTRAP = """\
#!/bin/sh -x
set -e

# store $PWD
__mrjob_PWD=$PWD

if [ $__mrjob_PWD = "/" ]; then
  __mrjob_PWD=""
fi

{{
  # download files and mark them executable
  # bootstrap commands
{commands}
}} 1>&2
"""
"""What a machine does before its first task."""

WRAPPER = """\
set -e

# store $PWD
__mrjob_PWD=$PWD

# setup commands
{
  export PYTHONPATH=$__mrjob_PWD/lookalike_tasks.zip:$PYTHONPATH
  export PYTHONPATH=$__mrjob_PWD/mrjob.zip:$PYTHONPATH
} 0</dev/null 1>&2

# run task from the original working directory
cd $__mrjob_PWD
"$@"
"""
"""What a task does before it is Python: mrjob and the program are put on its path."""


class Submitted(NamedTuple):
    """A job as EMR sees it; the address of its folder, which is another in every run, stands as ``JOB``."""

    name: str
    job_key: str
    cluster: dict[str, Any]
    steps: list[dict[str, Any]]
    objects: dict[str, bytes]


@pytest.fixture(scope="module")
def cluster() -> Iterator[EmulatedEmr]:
    yield from ENGINES["emr"].started()


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("emr") / "out"


@pytest.fixture(scope="module")
def done(cluster: EmulatedEmr, out: Path) -> Outcome:
    """One run, looked at from all sides."""
    return cluster.lookalike(CORPUS, "--out", out)


@pytest.fixture(scope="module")
def submitted(cluster: EmulatedEmr, done: Outcome) -> list[Submitted]:
    """The jobs of the run, in their order."""
    assert done.exit_code == 0, f"{done.stderr}\n{cluster.log_tails()}"
    jobs = []
    for asked, added in zip(cluster.requests("RunJobFlow"), cluster.requests("AddJobFlowSteps")):
        job_key = asked["Name"]
        folder = re.escape(job_key).join((r"s3://mrjob-[0-9a-f]{16}/tmp/", "/"))
        without_folder = json.loads(re.sub(folder, "JOB/", json.dumps(added["Steps"])).replace(job_key, "JOB"))
        objects = {re.sub(folder, "", uri): content for uri, content in cluster.uploads.items()
                   if re.match(folder + "files/", uri)}
        jobs.append(Submitted(job_key.partition(".")[0], job_key, asked, without_folder, objects))
    return jobs


def test_the_answer_is_the_one_of_a_single_process(done: Outcome, out: Path, tmp_path: Path) -> None:
    assert done.exit_code == 0, done.stderr
    assert lookalike("pairs", CORPUS, "-r", "inline", "--out", tmp_path / "out", "-q").exit_code == 0
    assert (out / "pairs.jsonl").read_bytes() == (tmp_path / "out" / "pairs.jsonl").read_bytes() != b""


def test_each_job_asks_for_the_cluster_of_the_configuration(submitted: list[Submitted]) -> None:
    assert [job.name for job in submitted] == JOBS
    for job in submitted:
        assert job.cluster["ReleaseLabel"] == "emr-7.5.0"
        assert (job.cluster["JobFlowRole"], job.cluster["ServiceRole"]) == ("an-instance-profile", "a-service-role")
        assert job.cluster["Applications"] == [{"Name": "Hadoop"}]
        # Nothing else: no key to log in with, no subnet, and no cluster that waits for more steps.
        assert job.cluster["Instances"] == {"InstanceGroups": [
            {"Name": name.lower(), "InstanceRole": name, "InstanceType": "m5.xlarge", "InstanceCount": count,
             "Market": "ON_DEMAND"} for name, count in (("MASTER", 1), ("CORE", 2))]}
        assert re.fullmatch(r"s3://mrjob-[0-9a-f]{16}/tmp/logs/", job.cluster["LogUri"])
        assert set(job.cluster) == {
            "Name", "LogUri", "ReleaseLabel", "Instances", "BootstrapActions", "Steps", "StepConcurrencyLevel",
            "VisibleToAllUsers", "JobFlowRole", "ServiceRole", "Applications"}


def test_machines_are_bootstrapped_as_the_configuration_says_and_no_further(submitted: list[Submitted]) -> None:
    commands = yaml.safe_load(default_conf("emr").read_text())["runners"]["emr"]["bootstrap"]
    assert commands == ['sudo python3 -m pip install "numpy<2.1"']
    for job in submitted:
        (action,) = job.cluster["BootstrapActions"]
        assert action["ScriptBootstrapAction"]["Args"] == []
        assert action["ScriptBootstrapAction"]["Path"].endswith(f"/{job.job_key}/files/b.sh")
        script = BOOTSTRAP.format(commands="\n".join(f"  {command}" for command in commands))
        assert job.objects["files/b.sh"].decode() == script


def test_every_argument_of_every_step(submitted: list[Submitted]) -> None:
    for job in submitted:
        names = sorted([ZIP_NAME, f"{job.name}.py", "mrjob.zip", "settings.json", "setup-wrapper.sh",
                        *(["gate"] if job.name == "mr_pairs" else [])])
        task = f"/bin/sh -x setup-wrapper.sh python3 {job.name}.py --step-num=0 --%s --settings settings.json --counts "
        (step,) = job.steps
        assert step == {
            "Name": "JOB: Step 1 of 1",
            "ActionOnFailure": "TERMINATE_CLUSTER",
            "HadoopJarStep": {"Jar": "command-runner.jar", "Args": [
                "hadoop-streaming",
                "-files", ",".join(f"JOB/files/wd/{name}#{name}" for name in names),
                "-D", "stream.jobconf.truncate.limit=20000",
                "-D", "stream.reduce.output=keyonlytext",
                "-cmdenv", "OPENBLAS_NUM_THREADS=1",
                "-input", "JOB/files/articles.jsonl",
                "-output", "JOB/output/",
                "-mapper", task % "mapper" + ARGUMENTS[job.name],
                "-reducer", task % "reducer" + ARGUMENTS[job.name],
            ]},
        }


def test_every_uploaded_object_is_what_it_should_be(submitted: list[Submitted], tmp_path: Path) -> None:
    program = build_zip(tmp_path).read_bytes()
    gate = Path(write_gate_of(CORPUS.read_bytes().splitlines(), tmp_path / "gate", Settings())).read_bytes()
    for job in submitted:
        mrjob_zip = job.objects["files/mrjob.zip"]
        expected = {
            "files/articles.jsonl": CORPUS.read_bytes(),
            "files/b.sh": job.objects["files/b.sh"],  # the bootstrap's text: see above
            # mrjob uploads what goes on Python's path for the step itself and, under wd/, for its tasks.
            f"files/{ZIP_NAME}": program,
            f"files/wd/{ZIP_NAME}": program,
            "files/mrjob.zip": mrjob_zip,  # module by module: see below
            "files/wd/mrjob.zip": mrjob_zip,
            f"files/wd/{job.name}.py": (REPOSITORY / "jobs" / f"{job.name}.py").read_bytes(),
            "files/wd/settings.json": json.dumps(Settings().to_json()).encode(),
            "files/wd/setup-wrapper.sh": WRAPPER.encode(),
            **({"files/wd/gate": gate} if job.name == "mr_pairs" else {}),
        }
        assert hashes(job.objects) == hashes(expected)


def hashes(objects: dict[str, bytes]) -> dict[str, str]:
    return {name: sha256(content).hexdigest() for name, content in objects.items()}


def test_mrjob_travels_as_it_is_installed(submitted: list[Submitted]) -> None:
    installed = Path(mrjob.__file__).parent
    for job in submitted:
        with zipfile.ZipFile(BytesIO(job.objects["files/mrjob.zip"])) as archive:
            modules = {name: archive.read(name) for name in archive.namelist()}
        assert "mrjob/job.py" in modules
        assert hashes(modules) == hashes({name: (installed.parent / name).read_bytes() for name in modules})


def test_nothing_else_was_uploaded_and_nothing_is_left(cluster: EmulatedEmr, submitted: list[Submitted]) -> None:
    own = [uri for uri in cluster.uploads if any(f"/tmp/{job.job_key}/files/" in uri for job in submitted)]
    assert set(own) == set(cluster.uploads)
    assert cluster.storage.everything() == {}


def test_a_failing_step_fails_the_run(cluster: EmulatedEmr, tmp_path: Path) -> None:
    with without_numpy(cluster.task_python):
        failed = cluster.lookalike(CORPUS, "--out", tmp_path / "out")
    assert failed.exit_code == 1 and "\nlookalike: gate: numpy is not installed for " in failed.stderr
    assert not (tmp_path / "out").exists()
