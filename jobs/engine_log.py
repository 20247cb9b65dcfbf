"""What mrjob logs of Hadoop, Spark and EMR while a job runs becomes progress, addresses to look at, reasons."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Callable

from jobs.hadoop_files import complaint
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
JAVA_CLASS = re.compile(r"(?:[a-z]\w*\.)+[A-Z][\w$]*: ")
UNCAUGHT = re.compile(rf'Exception in thread "main" {JAVA_CLASS.pattern}(.+)')
UNKNOWN_OPTION = re.compile(r"(?:Error: )?(Unrecognized option: \S+)")
JOB_ENDED = re.compile(r"Job \S+ failed with state (\w+) due to: (.*)")
JOB_DONE = re.compile(r"Job \S+ completed successfully")
KILLED = "KILLED"
TASK_ENDED = re.compile(r".*subprocess failed with code (\d+)$")
NOT_STARTED = ("126", "127")
"""Codes of a shell that cannot run a program."""

CLUSTER_ENDED = re.compile(r"Cluster \S+ (?:was|is) \w+: .+")
FROM_CLIENT = "STDERR: "
"""Before each line that Hadoop's client has written to its standard error, where it failed."""


class EngineLog(logging.Handler):
    """Hears mrjob's log, tells a listener of tasks and where to look for more, and keeps why a job failed."""

    def __init__(self, listener: Listener, tell_address: Callable[[str], None]) -> None:
        super().__init__()
        self._listener, self._tell_address, self._addresses = listener, tell_address, set[str]()
        self._errors, self._ends, self._said_by_client = list[str](), list[str](), list[str]()
        self._code = ""

    def emit(self, record: logging.LogRecord) -> None:
        message = record.getMessage()
        if record.levelno >= logging.ERROR:
            self._hear_error(message)
        for line in map(str.strip, message.splitlines()):
            self._hear_progress(line)
            self._hear_end(line)
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

    def _hear_error(self, message: str) -> None:
        if message.startswith(FROM_CLIENT):
            self._said_by_client.append(message[len(FROM_CLIENT):])
        else:
            first, *others = message.splitlines() or [""]
            # Java's exception stands in the second line, where the first tells what was being done.
            cause = JAVA_CLASS.sub("", others[0], count=1) if others and JAVA_CLASS.match(others[0]) else ""
            if said := ": ".join(filter(None, [JAVA_CLASS.sub("", first).rstrip(".: "), cause])):
                self._errors.append(said)

    def _hear_end(self, line: str) -> None:
        if found := UNCAUGHT.match(line) or UNKNOWN_OPTION.match(line):
            self._ends.append(found[1])
        elif found := TASK_ENDED.match(line):
            hint = ", as where task_python_bin names no program" if found[1] in NOT_STARTED else ""
            self._code = f"a task ended with code {found[1]}{hint}"
        elif JOB_DONE.match(line):
            self._code = ""
        elif found := JOB_ENDED.match(line):
            self._ends.append(": ".join(filter(None, found.groups())))
        elif CLUSTER_ENDED.match(line):
            self._ends.append(line)

    @property
    def reason(self) -> str:
        """Why a job failed, in the engine's words; empty if it has not said."""
        # After a failure mrjob looks for logs by the client too, in many places, most of which are not there.
        said_by_client = complaint("\n".join(self._said_by_client))
        reasons = [*self._ends[-1:], *self._errors[-1:], said_by_client]
        # Tasks of a job that is killed end for that; else what ended one says more than that the job did.
        is_killed = reasons[0].startswith(KILLED)
        return next(filter(None, reasons if is_killed else [self._code, *reasons]), "")

    def _hear_address(self, address: str) -> None:
        if address not in self._addresses:
            self._addresses.add(address)
            self._tell_address(address)


@contextmanager
def heard(listener: Listener, tell_address: Callable[[str], None]) -> Iterator[EngineLog]:
    """While an engine works, what is logged of it is told."""
    handler = EngineLog(listener, tell_address)
    logging.getLogger(MRJOB).addHandler(handler)
    try:
        yield handler
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
