"""mrjob's Spark runner, taught to run our harness and to leave no file behind."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Optional

from jobs.lean_mrjob import stand_ins

with stand_ins():
    from mrjob.spark.runner import SparkMRJobRunner

JOB_ARGS = "--job-args"


class SparkRunner(SparkMRJobRunner):  # type: ignore[misc]
    """Runs a job by ``spark-submit``; temporary files are under ``--local-tmp-dir`` where Spark is on this machine."""

    def _is_here(self) -> bool:
        return str(self._spark_master()).startswith("local")

    def _run(self) -> None:
        """On this machine, keep the blocks that Spark writes to its folders in /tmp to this user."""
        mask = os.umask(0o077) if self._is_here() else None
        try:
            super()._run()
        finally:
            if mask is not None:
                os.umask(mask)

    def _pick_spark_tmp_dir(self) -> str:
        if self._opts["spark_tmp_dir"] or not self._is_here():
            return str(super()._pick_spark_tmp_dir())
        # mrjob would take a folder in /tmp, and leave it there.
        folder = os.path.join(self._get_local_tmp_dir(), "spark")
        os.mkdir(folder)
        return folder

    def _spark_harness_path(self) -> str:
        return str(Path(__file__).with_name("spark_harness.py"))

    def _spark_script_args(self, step_num: int, last_step_num: Optional[int] = None) -> list[str]:
        """As mrjob's; a job's arguments stay one word, else a single option would be taken for one of the harness."""
        args: list[str] = super()._spark_script_args(step_num, last_step_num)
        if JOB_ARGS in args:
            place = args.index(JOB_ARGS)
            args[place : place + 2] = ["=".join(args[place : place + 2])]
        return args

    def _cleanup_hadoop_tmp(self) -> None:
        self.fs.rm(self._spark_tmp_dir)
