"""What mrjob logs of Hadoop, Spark and EMR while a job runs becomes progress, and addresses to look at."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Callable

from jobs.silence import Listener

MRJOB = "mrjob"

HADOOP_PROGRESS = re.compile(r"map +(\d+)% +reduce +(\d+)%")
TOTAL_PROGRESS = re.compile(r"(\d+)(?:\.\d+)?% complete")
SPARK_STAGE = re.compile(r"Submitting (\d+) missing tasks from \w+Stage (\d+) ")
SPARK_TASK = re.compile(r"Finished task \S+ in stage (\d+)\..*\((\d+)/(\d+)\)")
STATE = re.compile(r"(?:Application report for \S+ \(state: )?(PENDING|ACCEPTED|RUNNING|TERMINATING)\b")
"""Of a step or cluster of EMR, or of a driver of Spark that runs on YARN."""
ADDRESSES = (
    (re.compile(r"(?:The url to track the job|tracking URL): (\S+)"), "{}"),
    (re.compile(r"Bound SparkUI to \S+, and started at (\S+)"), "{}"),
    (re.compile(r"Successfully started service 'SparkUI' on port (\d+)"), "http://localhost:{}"),
    (re.compile(r"Created new cluster (\S+)"), "EMR's cluster {}"),
    (re.compile(r"Waiting for .* \((s-\S+)\) to complete"), "EMR's step {}"),
    (re.compile(r"(Waiting \d+ minutes for logs to transfer to S3\.\.\. \(ctrl-c to skip\))"), "{}"),
    # Hadoop's clients do so for up to a quarter of an hour.
    (re.compile(r"Retrying connect to server: (\S+?)\.? Already tried"), "no answer from {}, which is tried again"),
)


class EngineLog(logging.Handler):
    """Hears mrjob's log and tells a listener of tasks, and where to look for more."""

    def __init__(self, listener: Listener, tell_address: Callable[[str], None]) -> None:
        super().__init__()
        self._listener, self._tell_address, self._addresses = listener, tell_address, set[str]()

    def emit(self, record: logging.LogRecord) -> None:
        for line in map(str.strip, record.getMessage().splitlines()):
            self._hear_progress(line)
            for pattern, address in ADDRESSES:
                if found := pattern.match(line):
                    self._hear_address(address.format(found[1]))

    def _hear_progress(self, line: str) -> None:
        if found := HADOOP_PROGRESS.match(line):
            of_maps, of_reduces = map(int, found.groups())
            self._listener("map", of_maps, 100, "%")
            if of_reduces or of_maps == 100:
                self._listener("reduce", of_reduces, 100, "%")
        elif found := TOTAL_PROGRESS.match(line):
            self._listener("running", int(found[1]), 100, "%")
        elif found := SPARK_STAGE.match(line):
            self._listener(f"stage {found[2]}", 0, int(found[1]))
        elif found := SPARK_TASK.match(line):
            self._listener(f"stage {found[1]}", int(found[2]), int(found[3]))
        elif found := STATE.match(line):
            self._listener(found[1].lower(), 0, 100, "%")

    def _hear_address(self, address: str) -> None:
        if address not in self._addresses:
            self._addresses.add(address)
            self._tell_address(address)


@contextmanager
def heard(listener: Listener, tell_address: Callable[[str], None]) -> Iterator[None]:
    """While an engine works, what is logged of it is told."""
    handler = EngineLog(listener, tell_address)
    logging.getLogger(MRJOB).addHandler(handler)
    try:
        yield
    finally:
        logging.getLogger(MRJOB).removeHandler(handler)


def show_log(verbose: bool, is_heard: bool) -> None:
    """Let mrjob's log be seen, be heard only, or not be written at all."""
    log = logging.getLogger(MRJOB)
    log.setLevel(logging.INFO if verbose or is_heard else logging.CRITICAL)
    log.propagate = verbose
    if not log.handlers:
        # Without any, warnings would be shown.
        log.addHandler(logging.StreamHandler() if verbose else logging.NullHandler())
