"""mrjob runs on every Python without setuptools, and ends lines as Hadoop and Spark do."""

from __future__ import annotations

import ctypes
import os
import platform
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mrjob
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.lean_mrjob import BytesValueProtocol, LooseVersion, MRJob, prepare_numpy, stand_ins
from jobs.runners import InlineRunner, LocalRunner
from tests.helpers import run_command, run_job


class MRLines(MRJob):
    """Its input, a line of output each, with marks around it."""

    INPUT_PROTOCOL = OUTPUT_PROTOCOL = BytesValueProtocol

    def configure_args(self) -> None:
        super().configure_args()
        self.add_passthru_arg("--counts", action="store_true")

    def mapper(self, _: None, line: bytes) -> Iterator[tuple[None, bytes]]:
        yield None, b"<" + line + b">"


def lines_of(content: bytes, num_cores: int) -> list[bytes]:
    """The lines that a job sees of a file, sorted."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(content)
        file.flush()
        lines = run_job(MRLines, [], "--num-cores", str(num_cores), file.name).lines
    return sorted(line[1:-1] for line in lines)


def test_empty() -> None:
    assert run_job(MRLines, []).lines == []


@pytest.mark.parametrize(("content", "lines"), [
    (b"a\nb\n", [b"a", b"b"]),
    (b"a\nb", [b"a", b"b"]),
    (b"a\r\nb\r\n", [b"a", b"b"]),
    (b"a\rb\rc", [b"a", b"b", b"c"]),
    (b"a\r\rb\n", [b"a", b"", b"b"]),
    (b"a\r\r\nb\n", [b"a", b"", b"b"]),
    (b"\n\r\n\r", [b"", b"", b""]),
    (b"a\x0bb\x0cc\x1cd\xc2\x85e\xe2\x80\xa8f\n", [b"a\x0bb\x0cc\x1cd\xc2\x85e\xe2\x80\xa8f"]),
])
@pytest.mark.parametrize("num_cores", [1, 4])
def test_lines_end_at_lf_cr_and_crlf(content: bytes, lines: list[bytes], num_cores: int) -> None:
    assert lines_of(content, num_cores) == sorted(lines)


@given(st.lists(st.sampled_from([b"a", b"bc", b"\r", b"\n", b"\r\n"])).map(b"".join), st.integers(1, 4))
@settings(max_examples=40)
def test_lines_are_those_of_a_plain_pattern(content: bytes, num_cores: int) -> None:
    *lines, rest = re.split(rb"\r\n|\r|\n", content)
    assert lines_of(content, num_cores) == sorted([*lines, rest] if rest else lines)


def test_runners_are_those_that_tell_progress() -> None:
    for options, runner_class in [([], InlineRunner), (["-r", "inline"], InlineRunner), (["-r", "local"], LocalRunner)]:
        with MRLines(["--no-conf", *options]).make_runner() as runner:
            assert type(runner) is runner_class


@pytest.mark.parametrize(("smaller", "greater"), [
    ("0.9", "0.10"), ("2.9.9", "3.0"), ("1.2", "1.2.1"), ("2.x", "2.0.1"), ("2.7.1-amzn", "2.8.0")])
def test_versions_compare_number_by_number(smaller: str, greater: str) -> None:
    assert LooseVersion(smaller) < LooseVersion(greater)
    assert LooseVersion(greater) >= LooseVersion(smaller)
    assert LooseVersion(greater) >= LooseVersion(greater)
    assert not LooseVersion(greater) < LooseVersion(smaller)


def test_stand_ins_go_away_and_leave_others_alone() -> None:
    before = dict(sys.modules)
    with stand_ins():
        from distutils.spawn import find_executable

        assert find_executable("sh")
    assert {name: sys.modules.get(name) for name in before} == before
    assert ("distutils" in sys.modules) == ("distutils" in before)


def test_tasks_load_neither_setuptools_nor_the_command_line() -> None:
    code = ("import sys, jobs.mr_pairs; print([name for name in "
            "('setuptools', 'distutils', '_distutils_hack.override', 'pipes', 'click', 'rich', 'boto3') "
            "if name in sys.modules])")
    outcome = run_command(sys.executable, "-c", code)
    assert (outcome.stdout, outcome.stderr) == ("[]\n", "")


def test_a_slow_module_is_loaded_when_mrjob_calls_for_it() -> None:
    code = ("import sys, jobs.base; print('urllib.request' in sys.modules); import mrjob.parse; "
            "print(mrjob.parse.to_uri('/a b'), sys.modules['urllib.request'].urlopen.__module__)")
    outcome = run_command(sys.executable, "-c", code)
    assert (outcome.stdout, outcome.stderr) == ("False\nfile:///a%20b urllib.request\n", "")


# Memory

NUM_PAGE_FAULTS = """
import resource
import numpy as np

def num_faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

before = num_faults()
for _ in range(50):
    arrays = [np.ones(1 << 20) for _ in range(4)]
    del arrays
print(num_faults() - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries have memory of their own kind")
def test_memory_of_former_arrays_is_used_again() -> None:
    with_it, without = (int(run_command(sys.executable, "-c", first + NUM_PAGE_FAULTS).stdout)
                        for first in ("import jobs.lean_mrjob", ""))
    assert 10 * with_it < without


def no_library(name: None) -> Any:
    raise OSError("no library")


@pytest.mark.parametrize("library", [lambda name: object(), no_library], ids=["no mallopt", "no library"])
def test_another_c_library_does_no_harm(library: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patches:
        patches.setattr(ctypes, "CDLL", library)
        patches.delenv("OPENBLAS_NUM_THREADS", raising=False)
        prepare_numpy()
        # What comes after it is done all the same.
        assert os.environ["OPENBLAS_NUM_THREADS"] == "1"


# Patches


@pytest.mark.parametrize(("module", "needs"), [
    ("util", "from distutils.spawn import find_executable"),
    ("compat", "from distutils.version import LooseVersion"),
    ("util", "import pipes"),
    ("py2", "from urllib.request import urlopen"),
    ("job", r"read(line.rstrip(b'\r\n'))"),
    ("local", "pool = Pool(processes=self._opts['num_cores'])"),
    ("local", "falling back to in-memory sort"),
    ("sim", "split_size = self._pick_mapper_split_size(input_paths, step_num)"),
    ("sim", "for records in _split_records(src, split_size, reducer_key):"),
    ("sim", "for chunk in decompress(src, path):"),
])
def test_mrjob_still_needs_each_patch(module: str, needs: str) -> None:
    """A new mrjob that fails here has made a patch of lean_mrjob or runners unneeded, or wrong."""
    assert needs in (Path(mrjob.__file__).parent / f"{module}.py").read_text(encoding="utf-8")
