"""Runs on an emulated EMR that are refused, or interrupted, or share a cluster."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from tests.engines.emr import EmulatedEmr
from tests.engines.engine import RUN_SECONDS
from tests.helpers import DATA, Outcome, lookalike, read_run

pytestmark = pytest.mark.engines

CORPUS = DATA / "articles.jsonl"


@pytest.mark.parametrize("options", [{}, {"cloud_tmp_dir": "s3://no-bucket/tmp/"}])
@pytest.mark.parametrize("is_local", [False, True])
def test_missing_credentials_are_told(
    emulated_emr: EmulatedEmr, is_local: bool, options: dict[str, str], tmp_path: Path
) -> None:
    conf = tmp_path / "my.conf"
    conf.write_text(json.dumps({"include": str(emulated_emr.conf), "runners": {"emr": options}}))
    source = CORPUS if is_local else "s3://no-bucket/x"
    command = emulated_emr.pairs_command(source, "--out", tmp_path / "out")
    refused = emulated_emr.run(*command, "--conf", conf, AWS_ACCESS_KEY_ID="", AWS_SECRET_ACCESS_KEY="",
                               AWS_SHARED_CREDENTIALS_FILE="/dev/null", AWS_CONFIG_FILE="/dev/null")
    what = "use -r emr" if is_local or not options else f"reach {source}"
    assert (refused.exit_code, refused.stderr) == (
        2, f"lookalike: cannot {what}: Unable to locate credentials; AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in "
           "the environment, or ~/.aws, have them\n")
    assert not (tmp_path / "out").exists()


@pytest.mark.ci_engines
def test_a_cluster_that_is_refused_is_told(emulated_emr: EmulatedEmr, tmp_path: Path) -> None:
    with emulated_emr.refusing_calls("RunJobFlow", "ValidationException", "The subnet\nis not valid"):
        refused = emulated_emr.lookalike(CORPUS, "--out", tmp_path / "out")
    assert_refused(refused, tmp_path, "An error occurred (ValidationException) when calling the RunJobFlow operation: "
                                      "The subnet is not valid")


def test_an_upload_that_is_refused_in_the_middle_of_a_run_is_told(emulated_emr: EmulatedEmr, tmp_path: Path) -> None:
    with emulated_emr.refusing("/wd/gate"):
        refused = emulated_emr.lookalike(CORPUS, "--out", tmp_path / "out")
    assert_refused(refused, tmp_path, "Failed to upload ", "Forbidden")


def test_an_output_that_cannot_be_read_is_told(emulated_emr: EmulatedEmr, tmp_path: Path) -> None:
    with emulated_emr.refusing("/part-00000", "GET"):
        refused = emulated_emr.lookalike(CORPUS, "--out", tmp_path / "out")
    assert_refused(refused, tmp_path, "An error occurred (403) when calling the GetObject operation: Forbidden")


def assert_refused(refused: Outcome, tmp_path: Path, start: str, end: str = "") -> None:
    """The last line tells it, and nothing is written."""
    assert refused.exit_code == 2 and "Traceback" not in refused.stderr, refused.stderr
    told = refused.stderr.splitlines()[-1]
    assert told.startswith(f"lookalike: cannot use -r emr: {start}") and told.endswith(end), refused.stderr
    assert not (tmp_path / "out").exists()


@pytest.fixture
def pool(emulated_emr: EmulatedEmr, tmp_path: Path) -> Path:
    """A configuration by which jobs share a cluster, each test another."""
    conf = tmp_path / "pool.conf"
    conf.write_text(json.dumps({"include": str(emulated_emr.conf), "runners": {
        "emr": {"pool_clusters": True, "pool_name": tmp_path.name, "max_mins_idle": 10}}}))
    return conf


@pytest.mark.parametrize("is_pooled", [False, True])
def test_an_interrupted_run_leaves_no_step(
    emulated_emr: EmulatedEmr, pool: Path, is_pooled: bool, tmp_path: Path
) -> None:
    """It is asked for: the emulation cancels nothing, and here the step has not begun."""
    num_looks, num_clusters = len(emulated_emr.requests("DescribeStep")), len(emulated_emr.requests("RunJobFlow"))
    command = emulated_emr.pairs_command(CORPUS, "--out", tmp_path / "out")
    with emulated_emr.holding():
        run = emulated_emr.start_run(*command, *(("--conf", pool) if is_pooled else ()))
        emulated_emr.wait_until(lambda: len(emulated_emr.requests("DescribeStep")) > num_looks, "a step is waited for")
        run.send_signal(signal.SIGINT)
        _, stderr = run.communicate(timeout=RUN_SECONDS)
    assert run.returncode == 130 and "Traceback" not in stderr, stderr
    looked_at = emulated_emr.requests("DescribeStep")[-1]
    assert emulated_emr.requests("CancelSteps")[-1] == {
        "ClusterId": looked_at["ClusterId"], "StepIds": [looked_at["StepId"]]}
    assert len(emulated_emr.requests("RunJobFlow")) == num_clusters + 1
    ended = [cluster_id for asked in emulated_emr.requests("TerminateJobFlows") for cluster_id in asked["JobFlowIds"]]
    assert (looked_at["ClusterId"] in ended) != is_pooled


def test_what_ends_a_run_is_told_also_where_no_step_can_be_cancelled(emulated_emr: EmulatedEmr, tmp_path: Path) -> None:
    num_asked = len(emulated_emr.requests("CancelSteps"))
    with (emulated_emr.refusing_calls("DescribeStep", "ValidationException", "No looking"),
          emulated_emr.refusing_calls("CancelSteps", "ValidationException", "No cancelling")):
        refused = emulated_emr.lookalike(CORPUS, "--out", tmp_path / "out")
    assert len(emulated_emr.requests("CancelSteps")) == num_asked + 1
    assert_refused(refused, tmp_path, "An error occurred (ValidationException) when calling the DescribeStep ",
                   "No looking")


@pytest.mark.ci_engines
def test_jobs_share_a_cluster_of_a_pool_and_wait_for_no_logs(
    emulated_emr: EmulatedEmr, pool: Path, tmp_path: Path
) -> None:
    num_clusters = len(emulated_emr.requests("RunJobFlow"))
    assert lookalike("pairs", CORPUS, "-r", "inline", "--out", tmp_path / "inline", "-q").exit_code == 0
    pooled = emulated_emr.run(*emulated_emr.pairs_command(CORPUS, "--out", tmp_path / "out"), "--conf", pool)
    assert pooled.exit_code == 0, f"{pooled.stderr}\n{emulated_emr.log_tails()}"
    assert len(emulated_emr.requests("RunJobFlow")) == num_clusters + 1
    assert (tmp_path / "out" / "pairs.jsonl").read_bytes() == (tmp_path / "inline" / "pairs.jsonl").read_bytes()
    assert [step["engine_counters"] for step in read_run(tmp_path / "out")["steps"]] == [{}, {}]
