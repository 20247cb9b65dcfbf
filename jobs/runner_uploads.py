"""What mrjob's runners upload to HDFS, put there at once, for this user alone."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from jobs.errors import InputError
from jobs.hadoop_files import HadoopFiles


class Staging:
    """Stands in for mrjob's file systems while it uploads below an address: makes a folder of links to what is put."""

    def __init__(self, file_systems: Any, folder: Path, uri: str) -> None:
        self._file_systems, self.folder, self._uri = file_systems, folder, uri
        self._passing_folder = ""
        """Where mrjob keeps a file that it has read from elsewhere until it is put: it is removed at once."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file_systems, name)

    def mkdir(self, uri: str) -> None:
        if uri.startswith(self._uri):
            self._path_of(uri).mkdir(parents=True, exist_ok=True)
        else:
            self._passing_folder = uri
            self._file_systems.mkdir(uri)

    def put(self, path: str, uri: str) -> None:
        if not os.path.exists(path):
            raise InputError(f"cannot read {path}, which is to be uploaded: no such file")
        link = os.link if os.path.dirname(path) == self._passing_folder else os.symlink
        link(os.path.abspath(path), self._path_of(uri))

    def _path_of(self, uri: str) -> Path:
        return self.folder / uri[len(self._uri):].strip("/")


@contextmanager
def uploaded_at_once(runner: Any, uri: str) -> Iterator[None]:
    """What one of mrjob's runners uploads inside comes to HDFS, where only this user sees it, by one process.

    mrjob starts one for each file, which takes longer than most of the files.
    """
    file_systems, files = runner.fs, HadoopFiles(runner.fs.hadoop)
    files.make_private_folder(uri)
    folder = Path(tempfile.mkdtemp("", "upload-", runner._get_local_tmp_dir()))
    runner._fs = Staging(file_systems, folder, uri)
    try:
        yield
    finally:
        runner._fs = file_systems
    files.upload(folder, uri)
