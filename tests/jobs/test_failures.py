"""What a failed job says: the task's last words, the user's name of the input, and where there is more to read."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, Optional

from jobs.base import BatchFailed
from jobs.failures import TRACEBACK, failure, last_words
from jobs.input_split import InputSplit
from jobs.lean_mrjob import StepFailedException
from jobs.mr_pairs import HotBucket
from jobs.readers import Source

SOURCES = [Source("mine.jsonl", "/tmp/mine.jsonl"), Source("-", "/tmp/input")]
FIRST = f"{TRACEBACK}\n  File \"x.py\", line 1, in x\n    1 / 0\n    ~~^~~\nZeroDivisionError: division by zero\n"
FAILED = BatchFailed(InputSplit("hdfs://host:1/files/mine.jsonl", 77), 10, 5, ZeroDivisionError("division by zero"))
SECOND = ("\nThe above exception was the direct cause of the following exception:\n\n"
          f"{TRACEBACK}\n  File \"y.py\", line 2, in y\njobs.base.BatchFailed: {FAILED}\n")
JAVA = "\n\tat org.apache.spark.api.python.BasePythonRunner.read(PythonRunner.scala:1)\n\tat org.apache.spark.X\n"


def told(
    said: str, logs: str = "", error: Optional[Exception] = None, reason: str = "", engine_reason: str = ""
) -> str:
    uris = {"/tmp/mine.jsonl": "hdfs:///files/mine.jsonl"}
    manager = SimpleNamespace(path_to_uri=lambda: uris)
    runner: Any = SimpleNamespace(failed_task_stderr=said, engine_reason=engine_reason, log_place=logs,
                                  _upload_mgr=manager)
    return failure("pairs", runner, error or StepFailedException(step_num=0, num_steps=1), SOURCES, reason)


def test_nothing_said() -> None:
    assert told("") == "pairs: Step 1 of 1 failed"
    assert told("", "there") == "pairs: Step 1 of 1 failed\nlogs: there"
    assert told("", "there", reason="no such queue") == "pairs: no such queue\nlogs: there"
    failed = StepFailedException("Command '['hadoop', 'jar']' returned non-zero exit status 256.", 0, 1)
    assert told("", error=failed) == "pairs: Step 1 of 1 failed: the command returned non-zero exit status 256."


def test_what_an_engine_says_of_a_task_comes_with_the_logs() -> None:
    limit = "Container is beyond its limits"
    assert told("", "there", reason="FAILED", engine_reason=limit) == f"pairs: {limit}\nlogs: there"
    assert told("no numpy", "there", reason="FAILED", engine_reason=limit) == "pairs: no numpy"


def test_where_no_step_has_failed_no_task_is_asked() -> None:
    error = OSError("Could not stream hdfs:///x")
    for reason, found in (("", "Could not stream hdfs:///x"), ("Connection refused", "Connection refused")):
        assert told(FIRST, "there", error, reason, "Container is beyond its limits") == f"pairs: {found}\nlogs: there"


def test_what_users_can_mend_is_one_line() -> None:
    for name in ("jobs.errors.InputError", f"__main__.{HotBucket.__name__}", "SystemExit"):
        said = f"{TRACEBACK}\n  File \"x.py\", line 1, in x\n{name}: a bucket: use a gate\n"
        assert told(said, "there") == told(said + JAVA, "there") == "pairs: a bucket: use a gate"
    assert told("numpy is not installed for python on host: install it there\n", "there") == (
        "pairs: numpy is not installed for python on host: install it there")


def test_a_defect_comes_with_its_place_its_traceback_and_its_logs() -> None:
    place = ("pairs: while reading mine.jsonl (split from byte 77, lines 11 to 15 of it): "
             "ZeroDivisionError: division by zero")
    assert told(FIRST + SECOND) == place
    lines = told("noise\n" + FIRST + SECOND + JAVA, "there").splitlines()
    assert (lines[0], lines[1], lines[-1]) == (place, TRACEBACK, "logs: there")
    assert "    1 / 0" in lines and "noise" not in lines and not any("org.apache" in line for line in lines)
    assert told((FIRST + SECOND).replace("files/mine", "my own/mine")).partition("(")[0] == (
        "pairs: while reading hdfs://host:1/my own/mine.jsonl ")
    assert told(FIRST, reason="a task failed") == "pairs: ZeroDivisionError: division by zero"


def test_last_words_are_those_of_the_last_traceback() -> None:
    assert last_words(FIRST + SECOND) == (str(FAILED), False)
    assert last_words(f"{TRACEBACK}\n  File\nKeyboardInterrupt") == ("KeyboardInterrupt", False)
