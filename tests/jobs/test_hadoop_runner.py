"""What the Hadoop runner does differently from mrjob's; Hadoop itself is tried in tests/engines."""

from __future__ import annotations

import json
import logging
import os
import re
import stat
import sys
from pathlib import Path
from typing import Any, Optional

import pytest
from mrjob.hadoop import HadoopJobRunner
from mrjob.logs import history, step, task

from jobs.hadoop_runner import job_ids
from jobs.mr_pairs import MRPairs
from jobs.task_check import EXAMPLE
from tests.helpers import REPOSITORY, run_command
from tests.watching import KEYS, SECRETS, tells

LOG = """\
2026-11-18 15:19:12,501 INFO impl.YarnClientImpl: Submitted application application_1700000000000_12345
2026-11-18 15:19:12,501 INFO mapreduce.Job: Running job: job_1700000000000_12345
2026-11-18 15:19:12,501 INFO mapreduce.Job: Task Id : attempt_1700000000000_12345_m_000000_0, Status : FAILED
"""
CLIENT = """#!/bin/sh
case "$1" in
    fs) {on_files} ;;
    version) echo Hadoop 3.4.2 ;;
    job) echo "$@" >> {told}; exec {on_kill} ;;
    jar) exit 3 ;;
esac
"""
"""Hadoop's program, as far as it is used here."""


def make_client(folder: Path, on_kill: str = "true", on_files: str = "true") -> Path:
    client = folder / "hadoop"
    client.write_text(CLIENT.format(told=folder / "told", on_kill=on_kill, on_files=on_files))
    client.chmod(0o755)
    return client


def runner_of(*options: str) -> Any:
    return MRPairs(["-r", "hadoop", "--no-conf", "--hadoop-bin", "/usr/bin/true", *options]).make_runner()


def test_numbers_of_applications_may_have_more_than_four_digits() -> None:
    found = step._parse_step_syslog(LOG.splitlines())
    assert found["application_id"] == "application_1700000000000_12345"
    assert found["job_id"] == "job_1700000000000_12345"
    assert found["errors"][0]["attempt_id"] == "attempt_1700000000000_12345_m_000000_0"
    patterns = [pattern.pattern for module in (history, step, task) for pattern in vars(module).values()
                if isinstance(pattern, re.Pattern)]
    assert len(patterns) > 10 and not any(r"\d{4}" in pattern for pattern in patterns)
    container = "/logs/userlogs/application_1_12345/container_1_12345_01_000002/stderr"
    assert task._match_task_log_path(container)["application_id"] == "application_1_12345"


@pytest.mark.parametrize("kind", ["hadoop", "local"])
def test_tasks_take_no_lock_and_no_other_python_but_for_commands_of_the_user(kind: str) -> None:
    def wrapper(*options: str) -> str:
        with runner_of("-r", kind, *options) as runner:
            runner._create_setup_wrapper_scripts()
            return Path(runner._setup_wrapper_script_path).read_text()

    ours, of_user = wrapper(), wrapper("--setup", "make -C x")
    assert all("mrjob.zip:$PYTHONPATH" in script for script in (ours, of_user))
    assert ("flock" in ours, "flock" in of_user) == (False, True)
    assert "wrapper.lock" not in ours and "python" not in ours.lower().replace("pythonpath", "")


@pytest.mark.parametrize(("on_kill", "seconds"), [("true", 60), ("sleep 60", 2)])
def test_what_interrupts_a_run_is_told_whether_or_not_its_job_could_be_killed(
    on_kill: str, seconds: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also of a job by itself that is told to be quiet, whose log nobody else hears."""
    monkeypatch.setattr("jobs.yarn_client.END_SECONDS", seconds)

    def interrupted(runner: Any, *args: Any, **kwargs: Any) -> None:
        logging.getLogger("mrjob.logs.step").info("  Running job: job_1_0001")
        raise KeyboardInterrupt

    monkeypatch.setattr(HadoopJobRunner, "_run_hadoop", interrupted)
    monkeypatch.setattr(logging.getLogger("mrjob"), "level", logging.CRITICAL)
    with runner_of("--hadoop-bin", str(make_client(tmp_path, on_kill))) as runner, pytest.raises(KeyboardInterrupt):
        runner._run_hadoop([], {}, None)
    assert (tmp_path / "told").read_text() == "job -kill job_1_0001\n"


@pytest.mark.parametrize("kind", ["inline", "local", "hadoop", "spark", "emr"])
def test_the_temporary_folder_of_a_job_by_itself_is_private(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {"emr": ["--cloud-tmp-dir", "s3://bucket/tmp", "--region", "us-east-1"],
               "spark": ["--spark-master", "local"]}
    if kind == "emr":
        pytest.importorskip("boto3")
    # What is kept in S3 is nothing that this test looks at.
    monkeypatch.setattr("mrjob.emr.EMRJobRunner._cleanup_cloud_tmp", lambda _: None)
    umask = os.umask(0o022)
    try:
        with runner_of("-r", kind, "--local-tmp-dir", str(tmp_path), *options.get(kind, [])) as runner:
            folder = Path(runner._get_local_tmp_dir())
            assert folder.parent == tmp_path and stat.S_IMODE(folder.stat().st_mode) == 0o700
            assert runner._get_local_tmp_dir() == str(folder)
    finally:
        os.umask(umask)


def test_ids_are_heard_while_they_are_listened_to() -> None:
    log = logging.getLogger("mrjob.logs.step")
    level = log.level
    with job_ids() as found:
        log.info("  Running job: job_1_0001")
    log.info("  Running job: job_1_0002")
    assert found == ["job_1_0001"] and log.level == level


@pytest.mark.parametrize("runner", ["hadoop", "spark"])
def test_a_job_that_logs_everything_keeps_secrets(runner: str, tmp_path: Path) -> None:
    conf = tmp_path / "my.conf"
    conf.write_text(json.dumps({"runners": {runner: {} if runner == "hadoop" else {
        name.lower(): f"{key}-of-the-configuration" for name, key in KEYS.items()}}}))
    options = {"hadoop": ["--hadoop-bin", make_client(tmp_path), "--hadoop-streaming-jar", "x.jar"],
               "spark": ["--spark-submit-bin", "false", "--spark-master", "local"]}
    job = (sys.executable, REPOSITORY / "jobs" / "mr_pairs.py", "data/articles.jsonl", "-r", runner, "-v")
    said = run_command(*job, "--conf-path", conf, *options[runner], env={"PATH": "/usr/bin:/bin", **KEYS})
    assert said.exit_code and "Running step 1 of 1" in said.stderr and "returned non-zero exit status" in said.stderr
    assert not tells((said.stdout + said.stderr).encode(), SECRETS.values())


@pytest.mark.parametrize(("found", "elsewhere", "said", "reason"), [
    ({"task_error": {"message": "+ x\nno numpy"}, "hadoop_error": {"message": "x"}}, "other", "+ x\nno numpy", "x"),
    ({"task_error": {"message": f"no numpy: see {EXAMPLE}"}}, "other", f"no numpy: see {EXAMPLE}", ""),
    ({"task_error": {"message": "INFO: Java"}, "hadoop_error": {"message": "x"}}, "other", "", "x"),
    ({"task_error": {"message": "INFO: Java"}}, "no numpy", "no numpy", ""),
    ({"hadoop_error": {"message": "subprocess failed with code 1"}}, "no numpy", "no numpy", ""),
    # A code alone is told by what has heard it.
    ({"hadoop_error": {"message": "x: subprocess failed with code 127\n\tat y"}}, "", "", ""),
    ({"hadoop_error": {"message": "Container is beyond limits\n\tat y"}}, "other", "", "Container is beyond limits"),
    ({"task_error": {"message": "+ x"}, "all": ["+ x", "+ y\nwhy", "INFO: Java"]}, "other", "+ y\nwhy", ""),
    (None, "", "", ""),
])  # fmt: skip
def test_what_a_failed_task_said_and_hadoop_of_it(
    found: Optional[dict[str, Any]], elsewhere: str, said: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with runner_of() as runner:
        assert (runner.failed_task_stderr, runner.engine_reason, runner.log_place) == ("", "", "")
        runner._log_interpretations.append({"step": {"application_id": "application_1_0001"}})
        monkeypatch.setattr(runner, "_pick_error", lambda *_: found)
        errors = [{"task_error": {"message": message}} for message in (found or {}).get("all", ())]
        monkeypatch.setattr(runner, "_interpret_task_logs", lambda interpretation, *_, **__: interpretation.update(
            task={"errors": [*errors, {"hadoop_error": {"message": "y"}}]}))
        monkeypatch.setattr(runner, "_words_elsewhere", lambda: elsewhere)
        assert (runner.failed_task_stderr, runner.engine_reason) == (said, reason)
        assert runner.log_place.startswith("yarn logs -applicationId application_1_0001; or, where YARN does not")


def test_a_job_by_itself_that_cannot_write_says_so_in_one_line(tmp_path: Path) -> None:
    job = (sys.executable, REPOSITORY / "jobs" / "mr_pairs.py", "data/articles.jsonl", "-r", "hadoop", "-q")
    client = make_client(tmp_path, on_files='echo "mkdir: Permission denied: user=me" >&2; exit 1')
    done = run_command(*job, "--no-conf", "--hadoop-bin", client, "--hadoop-streaming-jar", "x.jar")
    assert done.exit_code == 1 and done.stdout == ""
    assert done.stderr.startswith("mr_pairs.py: cannot write to hdfs:///user/") and done.stderr.count("\n") == 1
    assert done.stderr.endswith(": Permission denied: user=me\n")


@pytest.mark.parametrize(("arguments", "said"), [
    (("nowhere.jsonl",), "Input path nowhere.jsonl does not exist!"),
    (("data/articles.jsonl", "-r", "hadoop", "--hadoop-bin", "/nowhere/hadoop"), "/nowhere/hadoop"),
    (("data/articles.jsonl", "--conf-path", "/nowhere/my.conf"), "/nowhere/my.conf")])
def test_a_job_by_itself_tells_in_one_line_what_is_missing(arguments: tuple[str, ...], said: str) -> None:
    done = run_command(sys.executable, REPOSITORY / "jobs" / "mr_pairs.py", "-q", *arguments)
    assert done.exit_code == 1 and done.stdout == "" and done.stderr.count("\n") == 1
    assert done.stderr.startswith("mr_pairs.py: ") and said in done.stderr
