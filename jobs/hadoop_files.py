"""Files that Hadoop's client reaches, hdfs:// above all: listed with their sizes, sampled, and written as a whole."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import Any, Optional

from jobs.engine_check import check_program
from jobs.errors import OutputError, RemoteError
from jobs.input_files import RemoteFile, shown

CHECK_SETTINGS = {
    "ipc.client.connect.timeout": 5000,
    "ipc.client.connect.max.retries": 2,
    "ipc.client.connect.max.retries.on.timeouts": 1,
    "ipc.client.rpc-timeout.ms": 30000,
    "dfs.client.failover.max.attempts": 4,
}
"""A NameNode that does not answer is told of in seconds; by default the client tries for a quarter of an hour."""

CHECK = [argument for name, value in CHECK_SETTINGS.items() for argument in ("-D", f"{name}={value}")]

# -rw-r--r--   1 owner group   3276 2010-01-13 14:00 hdfs:///folder/a file
LISTED_FILE = re.compile(r"-\S+ .* (\d+) \d{4}-\d\d-\d\d \d\d:\d\d (.+)")
MISSING = "No such file or directory"
NOT_CONFIGURED = re.compile(r"core-site\.xml not found|no host: ")
NO_CLASS = "FileSystem not found"
COMPLAINT = re.compile(r"^-?[a-z][a-zA-Z]*: (?:Fatal internal error\n)?(.*)", re.MULTILINE)
"""Begins with the name of a command; what Java and its launcher warn of has other names."""

LOG_LINE = re.compile(r"\d{4}-\d\d-\d\d |\d\d/\d\d/\d\d |\s+at |\t|WARNING: ")


class HadoopFiles:
    """Files by way of ``hadoop fs``, a process a call."""

    def __init__(self, file_system: Any, withheld: frozenset[str] = frozenset()) -> None:
        """mrjob's ``HadoopFilesystem`` knows where the program is, which does not get some of the environment."""
        self.file_system, self.withheld = file_system, withheld

    def find(self, pattern: str) -> list[RemoteFile]:
        """All files that match, and those below folders that match; none if nothing does."""
        listed = self._list(pattern, "-R")
        return [] if listed is None else parse_listing(listed)

    def start_of(self, uri: str, num_bytes: int) -> bytes:
        """The first bytes of a file."""
        with self._process("-cat", uri) as process:
            assert process.stdout is not None and process.stderr is not None
            start: bytes = process.stdout.read(num_bytes)
            if len(start) == num_bytes:
                process.kill()
            else:
                _check_end(process, f"cannot read {uri}", process.stderr.read())
        return start

    def check_output(self, uri: str) -> bool:
        """Refuse a file, and a folder that holds something; whether there is an empty one."""
        listed = self._list(uri)
        if listed:
            raise OutputError(f"{shown(uri)} is there already and is not empty; name another folder with --out, "
                              "or remove it")
        return listed is not None

    def make_private_folder(self, uri: str) -> None:
        """Make a folder that nobody else can look into; those above it that are missing are as others are."""
        make = ("-D", "fs.permissions.umask-mode=077", "-mkdir", uri)
        trouble = f"cannot write to {uri}"
        try:
            self._run(trouble, *CHECK, *make)
        except RemoteError as error:
            if not str(error).endswith(MISSING):
                raise
            self._run(trouble, "-mkdir", "-p", uri.rpartition("/")[0])
            self._run(trouble, *make)

    def upload(self, folder: Path, uri: str, known_as: str = "") -> None:
        """Put everything that is in a local folder into one that is there, by one process."""
        paths = [os.path.join(os.path.abspath(folder), name) for name in sorted(os.listdir(folder))]
        self._run(f"cannot write to {known_as or uri}", "-put", *paths, uri)

    @contextmanager
    def complete_folder(self, uri: str, results: Path) -> Iterator[None]:
        """If nothing goes wrong inside, the files of a local folder are uploaded and take their name in one rename."""
        parent, _, name = uri.rpartition("/")
        partial = f"{parent}/.{name}.partial-{token_hex(4)}"
        self._run(f"cannot write to {uri}", *CHECK, "-mkdir", "-p", partial)
        try:
            yield
            self.upload(results, partial, known_as=uri)
            # Another run may have written there meanwhile. Into a folder the client would move, not onto it.
            if self.check_output(uri):
                self._run(f"cannot write to {uri}", "-rmdir", uri)
            self._run(f"cannot write to {uri}", "-mv", partial, uri)
        except BaseException:
            self.remove(partial)
            raise

    def remove(self, uri: str) -> None:
        """Remove a folder with all that is in it, if that can be done: what else is to be told counts more."""
        with suppress(RemoteError):
            self._run(f"cannot remove {uri}", *CHECK, "-rm", "-r", "-f", "-skipTrash", uri)

    def knows(self, uri: str) -> bool:
        """Whether the client has what it takes to reach such addresses, and not only those of HDFS."""
        try:
            self._list(uri)
        except RemoteError as error:
            return not str(error).endswith(NO_CLASS)
        return True

    def _list(self, pattern: str, *options: str) -> Optional[str]:
        """What ``ls`` tells; None if there is nothing of that name."""
        try:
            return self._run(f"cannot reach {pattern}", *CHECK, "-ls", *options, pattern)
        except RemoteError as error:
            if str(error).endswith(MISSING):
                return None
            raise

    def _run(self, trouble: str, *arguments: str) -> str:
        """What the client says, run to its end."""
        with self._process(*arguments) as process:
            try:
                said, complaints = process.communicate()
            except BaseException:
                process.kill()
                raise
            _check_end(process, trouble, complaints)
        return said.decode(errors="surrogateescape")

    def _process(self, *arguments: str) -> subprocess.Popen[bytes]:
        command = [*self.file_system.get_hadoop_bin(), "fs", *arguments]
        check_program(command, "hadoop_bin")
        try:
            return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                    env=without(os.environ, self.withheld))
        except OSError as error:
            raise RemoteError(f"cannot run {command[0]}: {error.strerror}") from error


def without(env: Mapping[str, str], names: frozenset[str]) -> dict[str, str]:
    """An environment without some variables."""
    return {name: value for name, value in env.items() if name not in names}


def _check_end(process: subprocess.Popen[bytes], trouble: str, said: bytes) -> None:
    """Refuse to go on where the client failed; what it complains of becomes the end of the message."""
    if code := process.wait():
        why = complaint(said.decode(errors="replace")) or f"hadoop ended with code {code}"
        if NOT_CONFIGURED.search(why):
            why += "; HADOOP_CONF_DIR names the folder of Hadoop's configuration"
        raise RemoteError(shown(f"{trouble}: {why}"))


def parse_listing(listed: str) -> list[RemoteFile]:
    """The files of what ``hadoop fs -ls`` tells; folders are left out.

    >>> parse_listing("-rw-r--r--   1 me us         10 2026-01-02 15:19 hdfs:///a b.jsonl")
    [RemoteFile(uri='hdfs:///a b.jsonl', num_bytes=10)]
    """
    found = map(LISTED_FILE.fullmatch, listed.splitlines())
    return [RemoteFile(match[2], int(match[1])) for match in found if match]


def complaint(said: str) -> str:
    r"""What the client complains of, among all that it says.

    >>> complaint("2026-01-02 WARN x: y\nls: Call failed: refused; For more details see:  http://x\nUsage: ...")
    'Call failed: refused'
    """
    found = COMPLAINT.search(said)
    if found:
        text = found[1].partition("; For more details")[0].strip()
        # So the client tells of a time that has run out.
        return "no answer in time" if text == "Interrupted" else text
    lines = [line for line in said.splitlines() if line.strip() and not LOG_LINE.match(line)]
    return lines[-1].strip() if lines else ""
