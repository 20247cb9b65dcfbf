"""mrjob's EMR runner, taught to tell what AWS refuses, to cancel its steps, and to find what a failed task said."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from jobs.hadoop_runner import ReadsLogs
from jobs.lean_mrjob import stand_ins
from jobs.s3_files import told

with stand_ins():
    from mrjob.emr import EMRJobRunner


NO_USE = "cannot use -r emr"
END_SECONDS = 120
"""In which a cluster that ends by itself begins to do so after its last step."""


class EmrRunner(ReadsLogs, EMRJobRunner):  # type: ignore[misc]
    """Runs a job by steps of a cluster of EMR."""

    @told(NO_USE)
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)

    @told(NO_USE)
    def check_access(self) -> None:
        """Refuse missing and wrong keys, of which mrjob, where its folders are named, hears when it uploads."""
        self.fs.exists(self._cloud_tmp_dir)

    @told(NO_USE)
    def _run(self) -> None:
        """As mrjob's; where it is interrupted, its steps end too, also on a cluster that goes on."""
        try:
            super()._run()
        except BaseException:
            if self._step_ids:
                # Whatever comes of it, what ended the run is told.
                with suppress(Exception):
                    self.make_emr_client().cancel_steps(ClusterId=self._cluster_id, StepIds=self._step_ids)
            raise

    def cat_output(self) -> Iterator[bytes]:
        with told(NO_USE):
            yield from super().cat_output()

    def _pick_counters(self, log_interpretation: dict[str, Any], step_type: str) -> Any:
        """As mrjob's, which waits ten minutes for logs of a cluster that goes on: for counters alone nobody does."""
        if self._read_logs() and not self._is_ending():
            return {}
        return super()._pick_counters(log_interpretation, step_type)

    def _is_ending(self) -> bool:
        """Whether the cluster ends after its last step, as soon as it does; then its logs come to S3."""
        deadline = time.monotonic() + END_SECONDS
        while (cluster := self._describe_cluster())["AutoTerminate"] and time.monotonic() < deadline:
            if str(cluster["Status"]["State"]).startswith("TERMINAT"):
                return True
            time.sleep(self._opts["check_cluster_every"])
        return False

    @property
    def log_place(self) -> str:
        """The cluster, and the folder of its logs in S3, if it has one."""
        if not self._cluster_id:
            return ""
        return f"{self._s3_log_dir() or 'none in S3'}, of cluster {self._cluster_id}"
