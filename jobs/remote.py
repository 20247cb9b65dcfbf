"""Inputs and results at addresses: which files an input stands for, and results that are complete or absent."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Any, BinaryIO, Optional, Union

from jobs.engine_check import check_boto3, check_hadoop, check_spark
from jobs.errors import InputError, OutputError, RemoteError
from jobs.hadoop_files import HadoopFiles
from jobs.input_files import NO_PASSWORD, PASSWORD, RemoteFile, other_engines, refuse_address, shown
from jobs.job_runner import Run, default_conf
from jobs.lean_mrjob import HERE, MRJob, upload_prefix
from jobs.outputs import check_output_folder, complete_folder
from jobs.readers import Source
from jobs.s3_files import S3Files
from jobs.splits import copied_ranges, line_ranges

PART_BYTES = 128 * 2**20
FOLDER_URI = re.compile("[^:/]+://[^/]*(/[^/]+)+")
S3_URI = re.compile("s3[an]?://", re.IGNORECASE)

# Engines see patterns and lists in these.
SPECIAL_CHARS = re.compile(r"[*?\[\]{}\\,]")

MAX_COMMAND_BYTES = {"hadoop": 1_500_000, "emr": 1_500_000, "spark": 120_000}
"""An engine is told of all files by one command, of which Linux takes 2 MiB, what is in the environment included; Spark
even by one argument, of which Linux takes 128 KiB."""

BYTES_OF_FILE = {"hadoop": len("-input  ") + 16, "emr": len("-input  ") + 16, "spark": len(",")}
"""What a command has for a file besides its address; of each argument Linux counts an end and a pointer too."""

LONGEST_JOB = "mr_clusters"
"""Its name is a part of the address that local files are uploaded to."""


class Remote:
    """What an engine can reach, by way of mrjob's file systems; nothing is asked before there is a need."""

    def __init__(self, run: Run, tmp_dir: Path) -> None:
        self.run, self.tmp_dir = run, tmp_dir
        self._is_s3_known: Optional[bool] = None

    def check_engine(self) -> None:
        """Refuse an engine that lacks something here, or does not answer."""
        if self.run.runner == "emr":
            self._runner.check_access()
        elif self.run.runner == "hadoop":
            check_hadoop(self._runner)
        elif self.run.runner == "spark":
            check_spark(self._runner)

    def find(self, pattern: str) -> list[RemoteFile]:
        """The files that an address stands for, sorted; like engines, it does not see those that are hidden."""
        files = sorted(file for file in self._files(pattern).find(pattern) if not is_hidden(file.uri, pattern))
        if not files:
            raise InputError(f"cannot read {shown(pattern)}: no such files, or hidden ones only")
        for file in files:
            if SPECIAL_CHARS.search(file.uri):
                raise InputError(f"cannot read {shown(file.uri)}: engines take * ? [ ] {{ }} , and \\ in a name for a "
                                 "pattern; give the file another one")
        return files

    def start_of(self, uri: str, num_bytes: int) -> bytes:
        """The first bytes of a file."""
        return self._files(uri).start_of(uri, num_bytes)

    def check_output(self, out: Union[Path, str]) -> None:
        """Refuse a folder that holds something, cannot be made, or cannot be reached."""
        if isinstance(out, Path):
            check_output_folder(out)
            return
        if PASSWORD.search(out):
            raise OutputError(f"cannot write to {shown(out)}: {NO_PASSWORD}")
        if SPECIAL_CHARS.search(out) or not FOLDER_URI.fullmatch(out):
            raise OutputError(f"{shown(out)} is not the address of a folder, such as hdfs:///folder/results")
        self._files(out).check_output(out)

    def check_number_of_files(self, sources: Sequence[Source]) -> None:
        """Refuse more files than can be named in a command."""
        runner = self.run.runner
        if runner is None or runner in HERE:
            return
        prefix = upload_prefix(self._runner)
        num_bytes = sum(_address_bytes(source, prefix) + BYTES_OF_FILE[runner] for source in sources)
        if num_bytes > MAX_COMMAND_BYTES[runner]:
            raise InputError(f"-r {runner} cannot be told of {len(sources):,} files at once: join them, or name fewer")

    @contextmanager
    def complete_folder(self, out: Union[Path, str]) -> Iterator[Path]:
        """A local folder to write into; if nothing goes wrong, its content is found at ``out`` in the end."""
        if isinstance(out, Path):
            with complete_folder(out) as folder:
                yield folder
            return
        results = self.tmp_dir / "results"
        results.mkdir()
        with self._files(out).complete_folder(out, results):
            yield results
            cut_in_parts(results)

    def _files(self, uri: str) -> Union[HadoopFiles, S3Files]:
        if self.run.runner in HERE:
            refuse_address(uri)
        file_systems = vars(self._runner.fs)
        s3, hadoop = file_systems.get("s3"), file_systems.get("hadoop")
        if s3 and S3_URI.match(uri) and not self._reads_by_client(hadoop, uri):
            return S3Files(s3)
        if hadoop and hadoop.can_handle_path(uri):
            return HadoopFiles(hadoop, self._runner.withheld)
        raise RemoteError(f"-r {self.run.runner} cannot reach {shown(uri)}{other_engines(uri)}")

    def _reads_by_client(self, hadoop: Any, uri: str) -> bool:
        """Whether Hadoop's client knows Spark's addresses of S3: it has the keys of a configuration that both read."""
        if self.run.runner != "spark" or shutil.which(hadoop.get_hadoop_bin()[0]) is None:
            return False
        if self._is_s3_known is None:
            self._is_s3_known = HadoopFiles(hadoop, self._runner.withheld).knows(uri)
        return self._is_s3_known

    @cached_property
    def _runner(self) -> Any:
        if self.run.runner == "emr":
            check_boto3()
        runner = str(self.run.runner)
        return MRJob(["-r", runner, "--conf-path", str(self.run.conf or default_conf(runner)),
                      "--local-tmp-dir", str(self.tmp_dir)]).make_runner()


def is_hidden(uri: str, pattern: str) -> bool:
    """Whether a file, or a folder above it that the pattern does not name, has a name that engines leave out.

    >>> is_hidden("hdfs:///_mine/a/_SUCCESS", "hdfs:///_mine/*"), is_hidden("hdfs:///_mine/a/b", "hdfs:///_mine/*")
    (True, False)
    """
    named = SPECIAL_CHARS.split(pattern.rstrip("/"))[0].rpartition("/")[0]
    return any(name.startswith(("_", ".")) for name in uri[len(named):].split("/"))


def _address_bytes(source: Source, prefix: str) -> int:
    """How long an engine's name of a file may be: a local one is uploaded, or, without that, read where it is."""
    path = source.path
    if source.remote_bytes is None:
        path = f"{prefix}{LONGEST_JOB}/{os.path.basename(path)}" if prefix else f"file://{path}"
    return len(os.fsencode(path))


def cut_in_parts(folder: Path, part_bytes: int = PART_BYTES) -> None:
    """Each file of lines becomes a folder of parts, which in the order of their names are the file again."""
    for path in sorted(path for path in folder.iterdir() if path.suffix != ".json"):
        parts = path.with_suffix("")
        parts.mkdir()
        new_files = (_new_file(parts / f"part-{number:05}{path.suffix}") for number in count())
        with open(path, "rb") as file:
            for _ in copied_ranges(file, line_ranges(file, part_bytes), new_files):
                pass
        path.unlink()


def _new_file(path: Path) -> BinaryIO:
    return open(path, "wb")
