"""What containers of YARN have written, by YARN's own client: where machines keep their logs, or bring them to HDFS."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from typing import Callable

# Container: container_1_0001_01_000002 on host_45454
# LogAggregationType: AGGREGATED
# ...
# LogContents:
# what it wrote
# End of LogType:stderr
CONTAINER = re.compile(r"^Container: .*?^LogContents:\n(.*?)^End of LogType:", re.MULTILINE | re.DOTALL)
LOG_SECONDS = 30
"""In which logs are brought together once an application has ended."""

PAUSE_SECONDS = 2


def logs_of_containers(told: str) -> list[str]:
    r"""What each container wrote, of what ``yarn logs`` tells.

    >>> logs_of_containers("Container: c on h_1\nLogType:stderr\nLogContents:\nnot so\n\nEnd of LogType:stderr\n**")
    ['not so\n\n']
    """
    return CONTAINER.findall(told)


def words_of(application_id: str, hadoop_bin: list[str], log_name: str, pick: Callable[[list[str]], str]) -> str:
    """What is picked of the logs of an application that has failed; empty if YARN's client or the logs are not here."""
    yarn = shutil.which("yarn", path=os.path.dirname(hadoop_bin[0])) or shutil.which("yarn")
    if not (application_id and yarn):
        return ""
    command = [yarn, "logs", "-applicationId", application_id, "-log_files", log_name]
    deadline, words = time.monotonic() + LOG_SECONDS, ""
    while not words and (left := deadline - time.monotonic()) > 0:
        try:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=left)
        except subprocess.TimeoutExpired:
            break
        words = pick(logs_of_containers(done.stdout.decode(errors="replace")))
        time.sleep(0 if words else PAUSE_SECONDS)
    return words
