"""What a run leaves lying about while it runs: who may read it, and whether a secret is in it."""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

SECRETS = {
    "AWS_SECRET_ACCESS_KEY": "an-unmistakable-secret-key",
    "AWS_SESSION_TOKEN": "an-unmistakable-session-token",
}
KEYS = {"AWS_ACCESS_KEY_ID": "AKIAUNMISTAKABLE", **SECRETS}
"""As a user's environment has them."""

MAX_BYTES = 1 << 22
PRIVATE_TO = stat.S_IRWXG | stat.S_IRWXO
SHELL_WITH_UMASK = ("sh", "-c", 'umask 022; exec "$@"', "sh")
"""In front of a command: what it does not say of its files, all others may read."""


class Lookout:
    """Looks, over and over, while it is entered."""

    seconds_between = 0.02

    def __init__(self) -> None:
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> Any:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._is_over.wait(self.seconds_between):
            self.look()

    def look(self) -> None:
        """What is done each time."""
        raise NotImplementedError


class Watch(Lookout):
    """Looks at everything below a folder."""

    def __init__(self, folder: Path, secrets: Iterable[str] = ()) -> None:
        super().__init__()
        self.folder, self.secrets = folder, list(secrets)
        self.modes: dict[Path, int] = {}
        self.telling: set[Path] = set()

    @property
    def names(self) -> set[str]:
        """The names of all files that were seen."""
        return {path.name for path in self.modes}

    def exposed(self) -> list[Path]:
        """What others could have read or changed, all folders on the way there included."""
        return [path for path in self.modes if all(self.modes[part] & PRIVATE_TO for part in self._way_to(path))]

    def _way_to(self, path: Path) -> Iterator[Path]:
        return (part for part in (path, *path.parents) if part in self.modes)

    def look(self) -> None:
        for parent, folders, files in os.walk(self.folder):
            for name in (*folders, *files):
                with suppress(OSError):  # it is gone already
                    self._look_at(Path(parent, name))

    def _look_at(self, path: Path) -> None:
        status = path.lstat()
        if not stat.S_ISLNK(status.st_mode):
            self.modes[path] = status.st_mode
        if stat.S_ISREG(status.st_mode) and status.st_size < MAX_BYTES and tells(path.read_bytes(), self.secrets):
            self.telling.add(path)


def tells(content: bytes, secrets: Iterable[str]) -> bool:
    """Whether any of the secrets is in it."""
    return any(secret.encode() in content for secret in secrets)


def files_that_tell(folder: Path, secrets: Iterable[str]) -> list[Path]:
    """The files below a folder that any of the secrets is in."""
    found = []
    for parent, _, files in os.walk(folder):
        for path in map(Path(parent).joinpath, files):
            with suppress(OSError):  # no file, or one of a running program that is gone already
                if tells(path.read_bytes(), secrets):
                    found.append(path)
    return found
