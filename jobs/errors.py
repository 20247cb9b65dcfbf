"""What can go wrong around the jobs, by name: inputs, outputs, engines and extras."""

from __future__ import annotations

from lsh_core.errors import LookalikeError

TRACEBACK = "Traceback (most recent call last):"
"""Where Python begins to tell of an error that nobody expected."""


class InputError(LookalikeError):
    """An input that cannot be read; the message names it."""

    exit_code = 2


class OutputError(LookalikeError):
    """A file or folder that cannot be written; the message names it."""

    exit_code = 2


class RemoteError(LookalikeError):
    """An address that cannot be reached, or cannot be used with the engine; the message names it."""

    exit_code = 2


class JobFailed(LookalikeError):
    """A MapReduce job that ended without its result."""


class InputChanged(JobFailed):
    """An input that was not the same for all jobs of a run."""

    def __init__(self) -> None:
        super().__init__("the input changed while it was read; nothing was written")


class MissingExtra(LookalikeError):
    """A library that is not installed, because only some inputs need it.

    >>> print(MissingExtra("Parquet", "pyarrow"))
    reading Parquet needs pyarrow: pip install pyarrow
    """

    def __init__(self, subject: str, library: str) -> None:
        super().__init__(f"reading {subject} needs {library}: pip install {library}")
