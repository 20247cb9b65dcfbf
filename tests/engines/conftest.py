"""Each engine is started once, when the first test asks for it; without -m engines no test that needs one is run."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest

from tests.engines.all_engines import ENGINES
from tests.engines.emr import EmulatedEmr
from tests.engines.engine import Engine
from tests.engines.hadoop import HadoopCluster
from tests.engines.places import S3
from tests.engines.spark import LocalClusterSpark, StandaloneSpark

NOT_ASKED_FOR = "needs real engines: make test-engines installs and runs them"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip what needs real engines, unless it was asked for by its mark."""
    if "engines" not in config.getoption("markexpr"):
        for item in items:
            if item.get_closest_marker("engines"):
                item.add_marker(pytest.mark.skip(reason=NOT_ASKED_FOR))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Where faults were made: a table of how often tasks had to be run again."""
    reports = chain.from_iterable(terminalreporter.stats.values())
    told = [dict(report.user_properties) for report in reports if getattr(report, "when", None) == "call"]
    rows = [(properties["fault"], properties["retries"]) for properties in told if "fault" in properties]
    if rows:
        width = max(len(fault) for fault, _ in rows)
        terminalreporter.section("faults")
        for row in [("lost while a job ran", "retries"), *rows]:
            terminalreporter.write_line(f"{row[0]:{width}}  {row[1]}")


@pytest.fixture(scope="module")
def hadoop_cluster() -> Iterator[HadoopCluster]:
    yield from ENGINES["hadoop"].started()


@pytest.fixture(scope="module")
def local_cluster() -> Iterator[LocalClusterSpark]:
    yield from ENGINES["spark"].started()


@pytest.fixture(scope="module")
def standalone() -> Iterator[StandaloneSpark]:
    yield from ENGINES["spark-standalone"].started()


@pytest.fixture(scope="module")
def emulated_emr() -> Iterator[EmulatedEmr]:
    yield from ENGINES["emr"].started()


@pytest.fixture(scope="module")
def s3(emulated_emr: EmulatedEmr) -> Iterator[S3]:
    place = S3(emulated_emr)
    yield place
    place.clear()


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """A local folder with something to upload."""
    folder = tmp_path / "results"
    (folder / "pairs").mkdir(parents=True)
    (folder / "pairs" / "part-00000.jsonl").write_text("a line\n")
    (folder / "run.json").write_text("{}")
    return folder


@pytest.fixture(scope="session", params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    """Every engine in turn, running."""
    yield from ENGINES[request.param].started()
