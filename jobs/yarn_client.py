"""What is asked of YARN by clients of its own: what containers have written, and that what runs may end."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from contextlib import suppress
from typing import Callable, NamedTuple, Optional

# Container: container_1_0001_01_000002 on host_45454
# LogAggregationType: AGGREGATED
# ...
# LogContents:
# what it wrote
# End of LogType:stderr
CONTAINER = re.compile(r"^Container: (\S+) .*?^LogContents:\n(.*?)^End of LogType:", re.MULTILINE | re.DOTALL)
LOG_SECONDS = 30
"""In which logs are brought together once an application has ended."""

PAUSE_SECONDS = 2
CALL_SECONDS = 120
END_SECONDS = 60


def exit_code(status: int) -> int:
    """Of a client, by what mrjob takes for it, which has it in its second byte.

    >>> exit_code(256), exit_code(0)
    (1, 0)
    """
    return status >> 8 or status


def try_to_end(command: list[str]) -> None:
    """Run a client that ends what runs; if YARN does not answer, why it should have ended is told all the same."""
    with suppress(OSError, subprocess.TimeoutExpired):
        subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       timeout=END_SECONDS)


class ContainerLog(NamedTuple):
    """What one container wrote to a log."""

    container: str
    text: str

    @property
    def is_of_master(self) -> bool:
        """Whether it is the first of its application, which leads the others."""
        return self.container.endswith("_000001")


def logs_of_containers(told: str) -> list[ContainerLog]:
    r"""What ``yarn logs`` tells, container by container.

    >>> logs_of_containers("Container: c_1 on h\nLogType:stderr\nLogContents:\nnot so\n\nEnd of LogType:stderr\n**")
    [ContainerLog(container='c_1', text='not so\n\n')]
    """
    return [ContainerLog(*found) for found in CONTAINER.findall(told)]


def yarn_program(hadoop_bin: list[str]) -> Optional[str]:
    """YARN's client, which is beside Hadoop's; None if it is not. Others on ``PATH`` may have that name."""
    hadoop = shutil.which(hadoop_bin[0])
    if hadoop is None:
        return None
    return shutil.which("yarn", path=os.pathsep.join(map(os.path.dirname, (os.path.realpath(hadoop), hadoop))))


def words_of(
    application_id: str, hadoop_bin: list[str], log_name: str, pick: Callable[[list[ContainerLog]], str]
) -> str:
    """What is picked of the logs of an application that has failed; empty if YARN's client or the logs are not here."""
    yarn = yarn_program(hadoop_bin)
    if not (application_id and yarn):
        return ""
    command = [yarn, "logs", "-applicationId", application_id, "-log_files", log_name]
    deadline = time.monotonic() + LOG_SECONDS
    while True:
        try:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=CALL_SECONDS)
        except (OSError, subprocess.TimeoutExpired):
            return ""
        words = pick(logs_of_containers(done.stdout.decode(errors="replace")))
        if words or time.monotonic() > deadline:
            return words
        time.sleep(PAUSE_SECONDS)
