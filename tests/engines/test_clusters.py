"""Rounds on every engine end with the clusters that are found in memory."""

from __future__ import annotations

import sys
from itertools import combinations
from pathlib import Path

import pytest

from jobs.clusters import clusters_of_links
from tests.engines.engine import Engine
from tests.helpers import REPOSITORY, JobOutput, job_output
from tests.links import NASTY_IDS, Rounds, chain, links_of
from tests.oracles import clusters
from tests.passes import written

pytestmark = pytest.mark.engines


class EngineRounds(Rounds):
    """Runs each round on an engine."""

    def __init__(self, engine: Engine) -> None:
        super().__init__()
        self.engine = engine

    def run(self, lines: Path) -> JobOutput:
        # mrjob on Spark fails on a flag that is the only option of a job.
        options = ("--counts", "--seed", "1")
        done = self.engine.run(sys.executable, REPOSITORY / "jobs" / "mr_clusters.py", lines, "-q", *options, "-r",
                               self.engine.runner, "--conf-path", self.engine.conf)
        assert done.exit_code == 0, f"{done.stderr}\n{self.engine.log_tails()}"
        found = job_output(done.stdout.encode())
        assert found == super().run(lines)
        return found


def test_rounds_give_the_clusters_of_memory(engine: Engine, tmp_path: Path) -> None:
    if engine.runner == "emr":
        pytest.skip("the emulation runs jobs of one step")
    pairs = [*chain(range(4)), *combinations(NASTY_IDS[1::2], 2), *((NASTY_IDS[0], other) for other in NASTY_IDS[2::2])]
    links, rounds = Path(written(tmp_path / "links.jsonl", links_of(pairs))), EngineRounds(engine)
    by_rounds, in_memory = ([cluster.doc_ids for cluster in clusters_of_links(links, rounds, tmp_path, *limit)]
                            for limit in ((0,), ()))
    assert by_rounds == in_memory == list(clusters(pairs)) and len(by_rounds) == 3
    assert rounds.num_rounds == 3
