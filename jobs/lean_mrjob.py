"""mrjob as the jobs use it: with the runners and Spark's harness the only place that imports or patches mrjob.

Import. mrjob 0.7.4 takes two names from distutils and one from pipes: modules that Python 3.12
and 3.13 no longer have, and that are slow to load through setuptools. While mrjob is imported,
small stand-ins with these names take their place. So does one for urllib.request, which is slow to load and
hardly used, and in a task one for yaml.

Speed. What numpy has to know before it is imported is said first: job files import this module, by
way of ``base``, before numpy.

Travel. On a cluster the program itself goes along, as a zip on the tasks' path.

Lines. mrjob ends a line at LF and strips any CR before it; Hadoop and Spark end lines at LF,
CR or CRLF. ``MRJob`` here does as they do.

Pieces. mrjob copies its input to a file for each task; a task of the runners here reads its piece of the input itself.
"""

from __future__ import annotations

import logging
import os
import re
import shlex
import shutil
import sys
import types
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cached_property
from importlib import import_module
from types import MappingProxyType
from typing import Any, BinaryIO, Callable

from jobs.splits import PIECE, open_piece

M_TRIM_THRESHOLD, M_TOP_PAD, M_MMAP_THRESHOLD = -1, -2, -3
"""Names of malloc.h."""


def prepare_numpy() -> None:
    """Tell numpy, before it is imported, how to be fast here."""
    _keep_freed_memory()
    # One thread: the tasks themselves are what runs in parallel.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # On AMD's Zen 3 and 4 (family 25) numpy sorts three times as fast with AVX2 as with AVX-512, whose
    # compressing stores are microcoded there. The feature has another name before numpy 2.4.
    with suppress(OSError), open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
        if re.search(r"AuthenticAMD\s+cpu family\s*: 25\s", file.read(1000)):
            os.environ.setdefault("NPY_DISABLE_CPU_FEATURES", "X86_V4 AVX512_SKX")


def _keep_freed_memory() -> None:
    """Where the C library is glibc, let arrays of some megabytes be made again of the memory of former ones.

    It would give that back to the system and take it anew, page by page, which takes a third of a reducer's time.
    """
    with suppress(ImportError, OSError, AttributeError):
        import ctypes

        mallopt = ctypes.CDLL(None).mallopt
        for parameter, num_bytes in ((M_TRIM_THRESHOLD, 1 << 28), (M_MMAP_THRESHOLD, 1 << 25), (M_TOP_PAD, 1 << 24)):
            mallopt(parameter, num_bytes)


IS_NUMPY_PREPARED = "numpy" not in sys.modules
prepare_numpy()


IS_TASK = bool({"--mapper", "--reducer", "--combiner"} & set(sys.argv))


class LooseVersion:
    """As much of distutils' class as mrjob uses: version strings that compare number by number."""

    def __init__(self, text: str) -> None:
        self.numbers = [int(part) for part in re.findall(r"\d+", str(text))]

    def __lt__(self, other: LooseVersion) -> bool:
        return self.numbers < other.numbers

    def __ge__(self, other: LooseVersion) -> bool:
        return self.numbers >= other.numbers


def loaded_when_called(module: str, name: str) -> Callable[..., Any]:
    """A function of a module that is loaded only if there is a call."""
    return lambda *args, **options: getattr(import_module(module), name)(*args, **options)


SLOW_MODULES: dict[str, dict[str, Any]] = {
    "urllib.request": {name: loaded_when_called("urllib.request", name) for name in ("pathname2url", "urlopen")},
    **({"yaml": {}} if IS_TASK else {}),
}


@contextmanager
def stand_ins(slow_modules: Mapping[str, dict[str, Any]] = MappingProxyType({})) -> Iterator[None]:
    """Inside, mrjob's modules can be imported on every Python, without setuptools."""
    modules: dict[str, dict[str, Any]] = {
        "distutils": {},
        "distutils.spawn": {"find_executable": shutil.which},
        "distutils.version": {"LooseVersion": LooseVersion},
        "pipes": {"quote": shlex.quote},
        **slow_modules,
    }
    added = [name for name in modules if name not in sys.modules]
    for name in added:
        sys.modules[name] = types.ModuleType(name)
        vars(sys.modules[name]).update(modules[name])
    try:
        yield
    finally:
        for name in added:
            del sys.modules[name]


# Runners are imported without these: their libraries need the real ones.
with stand_ins(SLOW_MODULES):
    from mrjob.compat import jobconf_from_env
    from mrjob.conf import load_opts_from_mrjob_conf
    from mrjob.job import MRJob as StockMRJob
    from mrjob.protocol import BytesProtocol, BytesValueProtocol
    from mrjob.step import MRStep, StepFailedException
    from mrjob.util import expand_path

__all__ = [
    "BytesProtocol",
    "BytesValueProtocol",
    "MRJob",
    "MRStep",
    "StepFailedException",
    "jobconf_from_env",
    "load_opts_from_mrjob_conf",
    "names_of_options",
    "stand_ins",
    "upload_prefix",
    "uploaded_files",
]


def hides_environment(record: logging.LogRecord) -> bool:
    """Let no record pass in which mrjob, told to log everything, shows the environment, where keys may be."""
    return "with environment: " not in str(record.msg)


for module in ("bin", "hadoop"):
    logging.getLogger(f"mrjob.{module}").addFilter(hides_environment)


def uploaded_files(runner: Any) -> dict[str, str]:
    """The URIs of the local files that a runner has uploaded, by path."""
    return runner._upload_mgr.path_to_uri() if runner._upload_mgr else {}


def upload_prefix(runner: Any) -> str:
    """What the URIs of files that a runner uploads begin with; empty if it uploads none."""
    return str(runner._upload_mgr.prefix) if runner._upload_mgr else ""


def names_of_options(runner: str) -> set[str]:
    """What may stand under the name of a runner in a configuration."""
    return set(MRJob(["-r", runner])._runner_class().OPT_NAMES)


HERE = (None, "inline", "local")
"""Runners whose tasks find the program installed."""


class MRJob(StockMRJob):  # type: ignore[misc]
    """mrjob's job with travel and lines as above, and the runners of ``runners.py``."""

    @cached_property
    def stdin(self) -> BinaryIO:
        """The input of a task, or the piece of it that is the task's."""
        stdin: BinaryIO = super().stdin
        piece = jobconf_from_env(PIECE)
        return open_piece(stdin, *map(int, piece.split())) if piece else stdin

    def _read_input(self) -> Iterator[bytes]:
        for line in super()._read_input():
            if b"\r" in line:
                yield from line.splitlines()
            else:
                yield line

    def _runner_kwargs(self) -> dict[str, Any]:
        kwargs: dict[str, Any] = super()._runner_kwargs()
        if self.options.runner not in HERE:
            from jobs.shipping import temporary_zip

            program = temporary_zip(expand_path(self.options.local_tmp_dir))
            kwargs["py_files"] = [*(kwargs.get("py_files") or ()), str(program)]
        return kwargs

    def _runner_class(self) -> Any:
        with stand_ins():
            if self.options.runner in HERE:
                from jobs import runners

                return runners.LocalRunner if self.options.runner == "local" else runners.InlineRunner
            if self.options.runner == "spark":
                from jobs.spark_runner import SparkRunner

                return SparkRunner
            if self.options.runner == "hadoop":
                from jobs.hadoop_runner import HadoopRunner

                return HadoopRunner
            if self.options.runner == "emr":
                from jobs.emr_runner import EmrRunner

                return EmrRunner
            return super()._runner_class()
