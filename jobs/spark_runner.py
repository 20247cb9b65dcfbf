"""mrjob's Spark runner, taught to run our harness and to leave no file behind."""

from __future__ import annotations

import os
import re
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any, Callable, Optional

from jobs.errors import TRACEBACK
from jobs.hadoop_files import HadoopFiles, without
from jobs.lean_mrjob import stand_ins
from jobs.own_runner import OwnRunner
from jobs.runner_uploads import uploaded_at_once
from jobs.task_check import EXAMPLE
from jobs.yarn_client import ContainerLog, exit_code, try_to_end, words_of, yarn_program

with stand_ins():
    from mrjob.spark.runner import SparkMRJobRunner
    from mrjob.step import StepFailedException

HDFS = ("hdfs://", "viewfs://")
JOB_ARGS = "--job-args"
OF_TASK = f"PythonException: {TRACEBACK}"
OF_JAVA = "Py4JJavaError: "
CAUSE = re.compile(r"^(?:Caused by)?: (?:[a-z]\w*\.)+[A-Z][\w$]*: (.+?)(?=\n\tat |\nCaused by|\n\nDriver stack|\Z)",
                   re.MULTILINE | re.DOTALL)
APPLICATION = re.compile(r"\bapp(lication_\d+_\d+|-\d+-\d+)\b")
"""As YARN and standalone masters number them."""

OTHER_PYTHON = frozenset(["PYSPARK_DRIVER_PYTHON", "PYSPARK_PYTHON", "spark.pyspark.driver.python",
                          "spark.pyspark.python"])
"""Variables and options that name a Python instead of ``python_bin``."""

ON_YARN = "application"
YARN = "yarn"

AWS_KEYS = frozenset(["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"])
"""Spark takes these of the environment for Hadoop's configuration, which it uploads for an application of YARN."""

AWS_OPTIONS = frozenset(map(str.lower, AWS_KEYS))


class SparkRunner(OwnRunner, SparkMRJobRunner):  # type: ignore[misc]
    """Runs a job by ``spark-submit``; temporary files are under ``--local-tmp-dir`` where Spark is on this machine."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._tracebacks: list[str] = []
        self._application = ""
        self._exit_code = 0

    @property
    def master(self) -> str:
        """What leads the executors: an address, or ``yarn``, or ``local-cluster`` for this machine."""
        return str(self._spark_master())

    @property
    def keeps_files_in_hdfs(self) -> bool:
        """Whether what is uploaded, and what steps hand on, is there."""
        return str(self._spark_tmp_dir).startswith(HDFS)

    @property
    def withheld(self) -> frozenset[str]:
        return AWS_KEYS if self.master == YARN else frozenset()

    @property
    def has_driver_here(self) -> bool:
        """Whether the driver runs on this machine."""
        return bool(self._opts["spark_deploy_mode"] != "cluster")

    @property
    def variables(self) -> dict[str, str]:
        """What the environment of driver and tasks has besides."""
        return dict(self._cmdenv())

    @property
    def driver_python(self) -> list[str]:
        """The command of the driver's Python; empty where the driver is elsewhere, or Spark's own options name it."""
        if not self.has_driver_here or OTHER_PYTHON & {*self.variables, *(self._opts["jobconf"] or ())}:
            return []
        return list(self._python_bin())

    def _is_here(self) -> bool:
        return self.master.startswith("local")

    def _obfuscate_opt(self, opt_key: str, opt_value: Any) -> Any:
        """What the log of a job that logs everything shows of an option."""
        return "..." if opt_key in AWS_OPTIONS and opt_value else opt_value

    def _run(self) -> None:
        """On this machine, keep the blocks that Spark writes to its folders in /tmp to this user."""
        mask = os.umask(0o077) if self._is_here() else None
        try:
            super()._run()
        finally:
            if mask is not None:
                os.umask(mask)

    def _upload_local_files(self) -> None:
        with uploaded_at_once(self, self._spark_tmp_dir) if self.keeps_files_in_hdfs else nullcontext():
            super()._upload_local_files()

    def _pick_spark_tmp_dir(self) -> str:
        if self._opts["spark_tmp_dir"] or not self._is_here():
            return str(super()._pick_spark_tmp_dir())
        # mrjob would take a folder in /tmp, and leave it there.
        folder = os.path.join(self._get_local_tmp_dir(), "spark")
        os.mkdir(folder)
        return folder

    def _run_spark_submit(self, args: list[str], env: dict[str, str], record_callback: Callable[[Any], None]) -> Any:
        def keep_errors(record: dict[str, Any]) -> None:
            if TRACEBACK in record["message"]:
                self._tracebacks.append(record["message"])
            elif self._tracebacks and not record["level"]:
                # Before Spark logs anything each line is a record.
                self._tracebacks[-1] += "\n" + record["message"]
            if found := APPLICATION.search(record["message"]):
                self._application = found[0]
            record_callback(record)

        try:
            status, interpretation = super()._run_spark_submit(args, without(env, self.withheld), keep_errors)
        except BaseException:
            self._end_application()
            raise
        self._exit_code = exit_code(status)
        return self._exit_code, interpretation

    def _end_application(self) -> None:
        """End what YARN would go on with, a driver in the cluster above all."""
        if not self._application.startswith(ON_YARN):
            return
        if yarn := yarn_program(self.fs.hadoop.get_hadoop_bin()):
            try_to_end([yarn, "application", "-kill", self._application])

    def _run_step_on_spark(self, step: Any, step_num: int, last_step_num: Optional[int] = None) -> None:
        """As mrjob's, which looks for counters even of a step that failed, and stumbles where HDFS has none."""
        try:
            super()._run_step_on_spark(step, step_num, last_step_num)
        except OSError as error:
            if not self._exit_code:
                raise
            raise StepFailedException(f"spark-submit ended with code {self._exit_code}", step_num,
                                      self._num_steps()) from error

    @property
    def failed_task_stderr(self) -> str:
        """The Python traceback of the task that failed last, or else of Spark's driver, which may run on YARN."""
        if self.engine_reason:
            return ""
        said = last_traceback(self._tracebacks)
        if said or self.has_driver_here or not self._application.startswith(ON_YARN):
            return said
        return words_of(self._application, self.fs.hadoop.get_hadoop_bin(), "stdout", words_of_driver)

    @property
    def engine_reason(self) -> str:
        """What Java says it failed of, where no Python has failed."""
        said = last_traceback(self._tracebacks)
        return cause_of(said) if OF_JAVA in said else ""

    @property
    def log_place(self) -> str:
        """Where executors write theirs."""
        if self._application.startswith(ON_YARN):
            return f"yarn logs -applicationId {self._application}"
        return f"{self._application} in the work folder of each of Spark's workers" if self._application else ""

    def _spark_harness_path(self) -> str:
        return str(Path(__file__).with_name("spark_harness.py"))

    def _spark_script_args(self, step_num: int, last_step_num: Optional[int] = None) -> list[str]:
        """As mrjob's; a job's arguments stay one word, else a single option would be taken for one of the harness."""
        args: list[str] = super()._spark_script_args(step_num, last_step_num)
        if JOB_ARGS in args:
            place = args.index(JOB_ARGS)
            args[place : place + 2] = ["=".join(args[place : place + 2])]
        return args

    def _spark_submit_args(self, step_num: int) -> list[str]:
        """As mrjob's; what Spark uploads for YARN goes to the folder of the run, since a killed driver leaves it."""
        args: list[str] = super()._spark_submit_args(step_num)
        if self.master == YARN and self.keeps_files_in_hdfs:
            # A jobconf that says otherwise comes later, and wins.
            args[:0] = ["--conf", f"spark.yarn.stagingDir={self._spark_tmp_dir}"]
        return args

    def _cleanup_hadoop_tmp(self) -> None:
        if self.keeps_files_in_hdfs:
            HadoopFiles(self.fs.hadoop).remove(self._spark_tmp_dir)
        else:
            with suppress(OSError):
                self.fs.rm(self._spark_tmp_dir)


def last_traceback(messages: list[str]) -> str:
    """The last of what tasks of Spark have said, or else of what its driver has."""
    of_tasks = [message for message in messages if OF_TASK in message]
    of_driver = [message for message in messages if TRACEBACK in message]
    message = (of_tasks or of_driver or [""])[-1]
    # The driver's own comes first, where it tells of a task's too.
    return TRACEBACK + message.rpartition(OF_TASK if of_tasks else TRACEBACK)[2] if message else ""


def cause_of(said: str) -> str:
    r"""The last cause in a stack of Java's, or the one before if it says the same and more; empty if there is none.

    >>> stack = ': a.SparkException: Job aborted\n\tat a.X\nCaused by: b.IOException: Cannot run "x": error=2\n\tat b.X'
    >>> cause_of(stack), cause_of(f"{stack}\nCaused by: b.IOException: error=2")
    ('Cannot run "x": error=2', 'Cannot run "x": error=2')
    """
    *before, last = ["", *(" ".join(cause.split()) for cause in CAUSE.findall(said))]
    return before[-1] if before and last in before[-1] else last


def words_of_driver(logs: list[ContainerLog]) -> str:
    """What a driver said that ran in the first container of an application of YARN; Java may have spoken there too.

    >>> missing = "numpy is not installed for python on host: see conf/hadoop.conf"
    >>> words_of_driver([ContainerLog("c_000001", f"Java\\n{missing}\\nJava\\n"), ContainerLog("c_000002", "no\\n")])
    'numpy is not installed for python on host: see conf/hadoop.conf'
    """
    said = [log.text for log in logs if log.is_of_master]
    return last_traceback(said) or next((line for text in said for line in text.splitlines() if EXAMPLE in line), "")
