"""What an engine needs, checked before anything runs: its library or program here, and a master that answers."""

from __future__ import annotations

import importlib.util
import os
import shutil
import socket
import subprocess
from contextlib import closing
from typing import Any

from jobs import task_check
from jobs.errors import RemoteError

STANDALONE = "spark://"
ANSWER_SECONDS = 10
PYTHON_SECONDS = 60


def check_boto3() -> None:
    """Refuse EMR without the library that speaks to it."""
    if importlib.util.find_spec("boto3") is None:
        raise RemoteError("-r emr needs boto3: pip install boto3")


def check_program(command: list[str], option: str, another_way: str = "") -> None:
    """Refuse an engine whose program is not here."""
    if shutil.which(command[0]) is None:
        why = "it is no program here" if os.path.dirname(command[0]) else "it is not on PATH"
        raise RemoteError(f"cannot run {command[0]}: {why}; {option} in the file of --conf names it{another_way}")


def check_hadoop(runner: Any) -> None:
    """Refuse a Hadoop that lacks its program or the jar of its streaming here."""
    check_program(runner.get_hadoop_bin(), "hadoop_bin")
    jar = runner.get_hadoop_streaming_jar()
    if not jar or not os.path.exists(jar):
        raise RemoteError(f"cannot find {jar or 'the jar of streaming'}; hadoop_streaming_jar in the file of --conf "
                          "names it")


def check_driver_python(command: list[str], env: dict[str, str]) -> None:
    """Refuse a Python that Spark's driver could not work with, with some variables besides the environment's."""
    check_program(command, "python_bin")
    try:
        done = subprocess.run([*command, task_check.__file__], stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=PYTHON_SECONDS, env={**os.environ, **env})
        why = (done.stderr.decode(errors="replace").strip().splitlines() or [f"code {done.returncode}"])[-1]
        is_usable = not done.returncode
    except (OSError, subprocess.TimeoutExpired) as error:
        why, is_usable = str(error), False
    if not is_usable:
        raise RemoteError(f"cannot use {command[0]} for Spark's driver, where python_bin in the file of --conf names "
                          f"no other: {why}")


def check_spark(runner: Any) -> None:
    """Refuse a Spark that lacks a program here, or of whose masters none answers.

    Spark itself would try for a minute, and then speak of something else.
    """
    check_program(runner.get_spark_submit_bin(), "spark_submit_bin")
    if runner.driver_python:
        check_driver_python(runner.driver_python, runner.variables)
    if runner.keeps_files_in_hdfs:
        check_program(runner.fs.hadoop.get_hadoop_bin(), "hadoop_bin", ", or spark_tmp_dir a folder outside HDFS")
    master = runner.master
    if not master.startswith(STANDALONE):
        return
    complaints = [_complaint(address) for address in master[len(STANDALONE):].split(",")]
    if all(complaints):
        raise RemoteError(f"cannot reach {master}: {complaints[-1]}; spark_master in the file of --conf names it")


def _complaint(address: str) -> str:
    """Why an address does not answer; nothing if it does."""
    host, _, port = address.rpartition(":")
    try:
        with closing(socket.create_connection((host.strip("[]"), int(port)), ANSWER_SECONDS)):
            return ""
    except ValueError:
        return f"{address!r} is not HOST:PORT"
    except OSError as error:
        return error.strerror or str(error)
