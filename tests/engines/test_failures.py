"""A task that fails says why in Python's words, with the place in the input and of the logs, and no Java."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jobs.job_runner import default_conf
from tests.engines.all_engines import ENGINES
from tests.engines.hadoop import HadoopCluster
from tests.engines.task_python import with_modules, without_numpy
from tests.helpers import COMMAND, DATA, Outcome

pytestmark = pytest.mark.engines

BROKEN = "import hashlib\ndel hashlib.blake2b\n"
"""What a mapper cannot do without."""


@pytest.fixture(scope="module", params=["hadoop", "spark", "emr"])
def cluster(request: pytest.FixtureRequest) -> Iterator[Any]:
    """An engine whose tasks' Python can be broken."""
    yield from ENGINES[request.param].started()


def assert_no_java(stderr: str) -> None:
    assert "org.apache" not in stderr and "\tat " not in stderr


def test_missing_numpy_is_one_line(cluster: Any, tmp_path: Path) -> None:
    with without_numpy(cluster.task_python):
        failed = cluster.lookalike(DATA / "articles.jsonl", "--out", tmp_path / "out")
    assert failed.exit_code == 1 and not (tmp_path / "out").exists()
    said = f"lookalike: gate: numpy is not installed for {cluster.task_python}"
    (line,) = [line for line in failed.stderr.splitlines() if line.startswith("lookalike: ")]
    assert line.startswith(said) and "bring an environment along" in line, failed.stderr
    assert_no_java(failed.stderr)


def test_a_defect_has_its_place_and_its_traceback(cluster: Any, tmp_path: Path) -> None:
    with with_modules(cluster.task_python, {"sitecustomize": BROKEN}):
        failed = cluster.lookalike(DATA / "articles.jsonl", "--out", tmp_path / "out")
    assert_told(failed)
    assert not (tmp_path / "out").exists()


def test_yarn_is_asked_where_logs_are_not_here(hadoop_cluster: HadoopCluster, tmp_path: Path) -> None:
    options = {**hadoop_cluster.runner_options(), "hadoop_log_dirs": [str(tmp_path)]}
    conf = tmp_path / "my.conf"
    conf.write_text(json.dumps({"include": str(default_conf("hadoop")), "runners": {"hadoop": options}}))
    with with_modules(hadoop_cluster.task_python, {"sitecustomize": BROKEN}):
        failed = hadoop_cluster.run(*COMMAND, "pairs", DATA / "articles.jsonl", "--out", tmp_path / "out",
                                    "-r", "hadoop", "--conf", conf)
    assert_told(failed)


def assert_told(failed: Outcome) -> None:
    """The place in the input, the traceback of the task, and where there is more to read."""
    assert failed.exit_code == 1, failed
    lines = failed.stderr.splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("lookalike: gate: "))
    assert lines[at].startswith(f"lookalike: gate: while reading {DATA / 'articles.jsonl'} (split from byte "), failed
    assert "AttributeError" in lines[at] and "Traceback (most recent call last):" in lines[at + 1:]
    assert lines[-1].startswith("logs: ")
    assert_no_java(failed.stderr)
