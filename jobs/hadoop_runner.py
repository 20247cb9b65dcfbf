"""mrjob's Hadoop runner, taught to find what a failed task said and where its logs are, and to end its job with it."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from jobs.errors import TRACEBACK
from jobs.hadoop_files import HadoopFiles
from jobs.lean_mrjob import stand_ins
from jobs.own_runner import OwnRunner
from jobs.runner_uploads import uploaded_at_once
from jobs.task_check import EXAMPLE
from jobs.yarn_client import ContainerLog, exit_code, try_to_end, words_of

with stand_ins():
    from mrjob.hadoop import HadoopJobRunner
    from mrjob.logs import history, step, task

FOUR_DIGITS = r"\d{4}"

COMMAND = "+ "
"""Before the commands that a shell is told to show, as the one is that starts tasks."""

SUBPROCESS_FAILED = "subprocess failed with code"
"""What Hadoop says of a task that ended by itself; of others, such as those that took too much memory, it knows why."""

NOT_LAUNCHED = "Exception from container-launch"
WRITTEN = "bytes of stderr :"
WHEN = re.compile(r"^\[\d{4}-\d\d-\d\d [\d:.]+\]")

RUNNING_JOB = re.compile(r"\s*Running job: (job_\d+_\d+)")


@contextmanager
def job_ids() -> Iterator[list[str]]:
    """Inside, the jobs that Hadoop's client says it runs."""
    found: list[str] = []

    def hear(record: logging.LogRecord) -> bool:
        found.extend(RUNNING_JOB.findall(record.getMessage()))
        return True

    log = logging.getLogger("mrjob.logs.step")
    level = log.level
    # The job by itself may be told to be quiet.
    log.setLevel(min(log.getEffectiveLevel(), logging.INFO))
    log.addFilter(hear)
    try:
        yield found
    finally:
        log.removeFilter(hear)
        log.setLevel(level)


def know_long_numbers() -> None:
    """YARN writes the numbers of its applications in four digits or, from the 10,000th on, more; mrjob knows four."""
    for module in (history, step, task):
        for name, pattern in vars(module).items():
            if isinstance(pattern, re.Pattern):
                setattr(module, name, re.compile(pattern.pattern.replace(FOUR_DIGITS, FOUR_DIGITS[:-1] + ",}"),
                                                 pattern.flags))


know_long_numbers()


class ReadsLogs(OwnRunner):
    """What runners share that find the words of a failed task in logs of Hadoop."""

    @property
    def failed_task_stderr(self) -> str:
        """What the failed task wrote; empty where its log is not to be had, or Hadoop ended it."""
        # mrjob takes the newest log, which may be of Java, or of a task that was killed since another failed.
        said = words_of_tasks([self._words("task_error")]) or words_of_tasks(self._all_words())
        return said if said or self.engine_reason else self._words_elsewhere()

    @property
    def engine_reason(self) -> str:
        """Why Hadoop ended a task; empty where the task ended by itself."""
        said = self._words("hadoop_error")
        return "" if SUBPROCESS_FAILED in said else told_of_container(said)

    def _words(self: Any, kind: str) -> str:
        """What mrjob finds to be the cause of a failure."""
        if not self._log_interpretations:
            return ""
        found = self._pick_error(self._log_interpretations[-1], "streaming") or {}
        return str(found.get(kind, {}).get("message", ""))

    def _all_words(self: Any) -> list[str]:
        """All that mrjob finds in logs of tasks."""
        if not self._log_interpretations:
            return []
        found = self._log_interpretations[-1]
        self._interpret_task_logs(found, "streaming", partial=False)
        errors = found.get("task", {}).get("errors", [])
        return [error["task_error"]["message"] for error in errors if "task_error" in error]

    def _words_elsewhere(self) -> str:
        """What the failed task wrote, where mrjob does not find it."""
        return ""

    def _ls_task_logs(self, step_type: str, **ids: Any) -> Iterator[dict[str, Any]]:
        # Without a history nobody knows the container of a failed attempt: then all are looked at.
        if not ids.get("attempt_to_container_id"):
            ids["error_attempt_ids"] = None
        matches: Iterator[dict[str, Any]] = super()._ls_task_logs(step_type, **ids)  # type: ignore[misc]
        return matches


class HadoopRunner(ReadsLogs, HadoopJobRunner):  # type: ignore[misc]
    """Runs a job by Hadoop's streaming, on YARN; its temporary files are private."""

    def _upload_local_files(self) -> None:
        with uploaded_at_once(self, self._hadoop_tmp_dir):
            super()._upload_local_files()

    def _cleanup_hadoop_tmp(self) -> None:
        HadoopFiles(self.fs.hadoop).remove(self._hadoop_tmp_dir)

    def _run_hadoop(self, *args: Any, **kwargs: Any) -> Any:
        """As mrjob's; where it is interrupted, the job ends too, which Hadoop would go on with."""
        with job_ids() as found:
            try:
                status, interpretation = super()._run_hadoop(*args, **kwargs)
            except BaseException:
                for job_id in found:
                    try_to_end([*self.get_hadoop_bin(), "job", "-kill", job_id])
                raise
        return exit_code(status), interpretation

    def _words_elsewhere(self) -> str:
        return words_of(self._last_application, self.get_hadoop_bin(), "stderr", words_of_containers)

    @property
    def _last_application(self) -> str:
        """The last application, if there was one."""
        steps = [interpretation.get("step", {}) for interpretation in self._log_interpretations]
        return steps[-1].get("application_id") or "" if steps else ""

    @property
    def log_place(self) -> str:
        """How to get at the logs of the last application."""
        if not self._last_application:
            return ""
        return (f"yarn logs -applicationId {self._last_application}; or, where YARN does not bring logs together, on "
                "the job's page and in userlogs on the task's machine")


def told_of_container(said: str) -> str:
    r"""Why a container ended, of what Hadoop says of it: the first words of its Java, if that could not start.

    >>> told_of_container("[2026-01-02 15:19:12.5]Container is beyond its limits\nDump of x")
    'Container is beyond its limits'
    >>> told_of_container("[2026-01-02 15:19:12.5]Exception from container-launch.\nLast bytes of stderr :\nNo heap\n")
    'No heap'
    """
    first, *others = WHEN.sub("", said).splitlines() or [""]
    if first.startswith(NOT_LAUNCHED):
        written = "\n".join(others).rpartition(WRITTEN)[2].strip()
        return written.partition("\n")[0] or first
    return first


def is_of_failed_task(said: str) -> bool:
    """Whether a log is of a task that told why it failed, and not of Java, or of one that only began."""
    lines = said.splitlines() or [""]
    is_told = lines[0].startswith(COMMAND) and not lines[-1].startswith(COMMAND)
    return is_told or TRACEBACK in said or EXAMPLE in said


def words_of_tasks(logs: list[str]) -> str:
    """What a failed task said, of what was written: a traceback, or else more than the commands that started it."""
    said = [log for log in map(str.strip, logs) if is_of_failed_task(log)]
    return next((log for log in said if TRACEBACK in log), said[-1] if said else "")


def words_of_containers(logs: list[ContainerLog]) -> str:
    r"""What a failed task said, of what containers wrote.

    >>> killed, failed, java = "+ python x.py\n", "+ cd x\n+ python x.py\nno numpy\n", "INFO: Binding x.AMWebServices\n"
    >>> words_of_containers([ContainerLog("c_2", killed), ContainerLog("c_3", failed), ContainerLog("c_1", java)])
    '+ python x.py\nno numpy'
    """
    found = [task._parse_task_stderr(log.text.splitlines()) for log in logs]
    return words_of_tasks([error["message"] for error in found if error])
