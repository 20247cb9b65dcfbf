"""mrjob's Hadoop runner, taught to find what a failed task said and where its logs are, and to end its job with it."""

from __future__ import annotations

import logging
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from jobs.lean_mrjob import stand_ins

with stand_ins():
    from mrjob.hadoop import HadoopJobRunner


RUNNING_JOB = re.compile(r"\s*Running job: (job_\d+_\d+)")
KILL_SECONDS = 60


@contextmanager
def job_ids() -> Iterator[list[str]]:
    """Inside, the jobs that Hadoop's client says it runs."""
    found: list[str] = []

    def hear(record: logging.LogRecord) -> bool:
        found.extend(RUNNING_JOB.findall(record.getMessage()))
        return True

    log = logging.getLogger("mrjob.logs.step")
    log.addFilter(hear)
    try:
        yield found
    finally:
        log.removeFilter(hear)


def make_private_folder(file_system: Any, uri: str) -> None:
    """Make a folder of HDFS, and those above it that are missing, which nobody else may look into."""
    file_system.invoke_hadoop(["fs", "-D", "fs.permissions.umask-mode=077", "-mkdir", "-p", uri])


class ReadsLogs:
    """What runners share that find the words of a failed task in logs of Hadoop."""

    @property
    def failed_task_stderr(self: Any) -> str:
        """What the failed task wrote; where its log is not to be had, what Hadoop says of it."""
        if not self._log_interpretations:
            return ""
        found = self._pick_error(self._log_interpretations[-1], "streaming") or {}
        if "task_error" in found:
            return str(found["task_error"]["message"])
        return str(found.get("hadoop_error", {}).get("message", "")).partition("\n")[0]

    def _ls_task_logs(self, step_type: str, **ids: Any) -> Iterator[dict[str, Any]]:
        # Without a history nobody knows the container of a failed attempt: then all are looked at.
        if not ids.get("attempt_to_container_id"):
            ids["error_attempt_ids"] = None
        matches: Iterator[dict[str, Any]] = super()._ls_task_logs(step_type, **ids)  # type: ignore[misc]
        return matches


class HadoopRunner(ReadsLogs, HadoopJobRunner):  # type: ignore[misc]
    """Runs a job by Hadoop's streaming, on YARN; its temporary files are private."""

    def _upload_local_files(self) -> None:
        make_private_folder(self.fs.hadoop, self._hadoop_tmp_dir)
        super()._upload_local_files()

    def _run_hadoop(self, *args: Any, **kwargs: Any) -> Any:
        """As mrjob's; where it is interrupted, the job ends too, which Hadoop would go on with."""
        with job_ids() as found:
            try:
                return super()._run_hadoop(*args, **kwargs)
            except BaseException:
                for job_id in found:
                    subprocess.run([*self.get_hadoop_bin(), "job", "-kill", job_id], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=KILL_SECONDS)
                raise

    @property
    def log_place(self) -> str:
        """How to get at the logs of the last application."""
        steps = [interpretation.get("step", {}) for interpretation in self._log_interpretations]
        application = steps[-1].get("application_id") if steps else None
        return f"yarn logs -applicationId {application}" if application else ""
