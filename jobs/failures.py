"""What a user is told of a job that failed: what its task said, about which input, and where there is more to read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from jobs.base import BatchFailed
from jobs.errors import TRACEBACK
from jobs.lean_mrjob import StepFailedException, uploaded_files
from jobs.places import Places
from jobs.readers import Source
from lsh_core.errors import LookalikeError

JAVA_FRAME = "\n\tat "
EXCEPTION = re.compile(r"(?P<name>[A-Za-z_][\w.]*): (?P<message>.*)", re.DOTALL)
COMMAND = re.compile(r"Command '\[.*\]'", re.DOTALL)
READING = re.compile(r"(?<=while reading ).+?(?= \(split from)")


def failure(name: str, runner: Any, error: Exception, sources: Sequence[Source], reason: str = "") -> str:
    """The failing task's last words, in one line if they were meant for the user, else with all that led to them.

    Where no task has said anything, it is the reason that the engine gives. Where no step has failed, as when what one
    has written cannot be read, no task is asked.
    """
    said, logs = "", getattr(runner, "log_place", "")
    if isinstance(error, StepFailedException):
        said = getattr(runner, "failed_task_stderr", "").partition(JAVA_FRAME)[0].strip()
        reason = getattr(runner, "engine_reason", "") or reason
    if not said:
        return "\n".join([f"{name}: {reason or COMMAND.sub('the command', str(error))}", *_where(logs)])
    number_of = Places(sources, uploaded_files(runner)).number_of
    names = [source.place(None) for source in sources]
    said = READING.sub(lambda found: [*names, found[0]][number_of(found[0])], said)
    message, is_expected = last_words(said)
    if is_expected or not logs:
        return f"{name}: {message}"
    return "\n".join([f"{name}: {message}", said[said.find(TRACEBACK) :], *_where(logs)])


def _where(logs: str) -> list[str]:
    return [f"logs: {logs}"] if logs else []


def last_words(said: str) -> tuple[str, bool]:
    """The message of the exception that ended a task, or its last line; whether it was written for users.

    >>> last_words(f"{TRACEBACK}\\n  File ...\\njobs.errors.InputError: cannot read x: no such file")
    ('cannot read x: no such file', True)
    >>> last_words(f"{TRACEBACK}\\n  File ...\\nZeroDivisionError: division by zero")
    ('ZeroDivisionError: division by zero', False)
    """
    _, header, last_traceback = said.rpartition(TRACEBACK)
    lines = last_traceback.strip("\n").splitlines()
    last = next((line for line in lines if not line.startswith(" ")), "") if header else lines[-1]
    found = EXCEPTION.fullmatch(last)
    if not header or found is None:
        return last, not header
    class_name = found["name"].rpartition(".")[2]
    is_expected = class_name in {"SystemExit", *_names_of_subclasses(LookalikeError)}
    return (found["message"] if is_expected or class_name == BatchFailed.__name__ else last), is_expected


def _names_of_subclasses(parent: type) -> Iterator[str]:
    yield parent.__name__
    children: list[type] = parent.__subclasses__()
    for child in children:
        yield from _names_of_subclasses(child)
