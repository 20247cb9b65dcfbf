"""Each engine is started once, when the first test asks for it; without -m engines no test that needs one is run."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.engines.all_engines import ENGINES
from tests.engines.engine import Engine

NOT_ASKED_FOR = "needs real engines: make test-engines installs and runs them"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip what needs real engines, unless it was asked for by its mark."""
    if "engines" not in config.getoption("markexpr"):
        for item in items:
            if item.get_closest_marker("engines"):
                item.add_marker(pytest.mark.skip(reason=NOT_ASKED_FOR))


@pytest.fixture(scope="session", params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    """Every engine in turn, running; a skip where it is not installed."""
    yield from ENGINES[request.param].started()
