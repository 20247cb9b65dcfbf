"""mrjob's EMR runner, taught to find what a failed task said, and where its logs are."""

from __future__ import annotations

from jobs.hadoop_runner import ReadsLogs
from jobs.lean_mrjob import stand_ins

with stand_ins():
    from mrjob.emr import EMRJobRunner


class EmrRunner(ReadsLogs, EMRJobRunner):  # type: ignore[misc]
    """Runs a job by steps of a cluster of EMR."""

    @property
    def log_place(self) -> str:
        """The cluster, and the folder of its logs in S3, if it has one."""
        if not self._cluster_id:
            return ""
        return f"{self._s3_log_dir() or 'none in S3'}, of cluster {self._cluster_id}"
