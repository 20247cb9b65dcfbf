"""All engines by name, each with a function that says why it cannot be used here, if it cannot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Callable, NamedTuple, Optional

import pytest

from tests.engines import emr, hadoop, spark
from tests.engines.engine import Engine


class Inline(Engine):
    """One process, as a first engine to compare with."""

    runner = "inline"


class Local(Engine):
    """Processes on this machine."""

    runner = "local"


class Entry(NamedTuple):
    """An engine that can be started, unless it is missing."""

    engine_class: type[Engine]
    missing: Callable[[], Optional[str]]

    def started(self) -> Iterator[Any]:
        """The engine while it runs, as a fixture gives it; a failure where it was asked for and is not installed."""
        if reason := self.missing():
            pytest.fail(reason, pytrace=False)
        with self.engine_class() as engine:
            yield engine


ENGINES: Mapping[str, Entry] = {
    "inline": Entry(Inline, lambda: None),
    "local": Entry(Local, lambda: None),
    "emr": Entry(emr.EmulatedEmr, emr.missing),
    "spark": Entry(spark.LocalClusterSpark, spark.missing),
    "spark-standalone": Entry(spark.StandaloneSpark, spark.missing),
    "hadoop": Entry(hadoop.HadoopCluster, hadoop.missing),
}
