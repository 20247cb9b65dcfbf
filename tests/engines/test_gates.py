"""Every form that a gate can take reaches the tasks of every engine, and changes no byte there either."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.engines.engine import Engine
from tests.helpers import DATA, lookalike, read_run

pytestmark = pytest.mark.engines

HOT = ("--threshold", "0.3", "--recall", "0.99", "--max-bucket-docs", "2")
"""Bundles of more than two texts are split in groups."""

BLOOM_IN_SHARDS = """
import jobs.gate_file, jobs.pipeline
from jobs.cli import main
jobs.gate_file.MAX_MEMBERS = 0
jobs.pipeline.num_gate_shards = lambda num_lines, num_bands: 3 * num_bands
main()
"""
"""The command, to which a small corpus is as one of very many lines."""

DRIVERS = {"table": ("-m", "jobs.cli"), "Bloom filter, made in shards": ("-c", BLOOM_IN_SHARDS)}


@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize("kind", ["pairs", "links"])
def test_hot_buckets_and_filters_do_not_show(driver: str, kind: str, engine: Engine, tmp_path: Path) -> None:
    options = (DATA / "articles.jsonl", *HOT, *(["--links"] if kind == "links" else []), "--out")
    done = lookalike("pairs", *options, tmp_path / "here", "-r", "inline", "-q")
    assert done.exit_code == 0, done.stderr
    done = engine.run(sys.executable, *DRIVERS[driver], "pairs", *options, tmp_path / "there",
                      "-r", engine.runner, "--conf", engine.conf)
    assert done.exit_code == 0, f"{done.stderr}\n{engine.log_tails()}"
    here, there = ((tmp_path / folder / f"{kind}.jsonl").read_bytes() for folder in ("here", "there"))
    assert there == here != b""
    # A table knows the lines that have company; a filter lets keys of others pass too.
    shuffled = [read_run(tmp_path / folder)["steps"][1]["shuffle_bytes"] for folder in ("here", "there")]
    assert (shuffled[0] == shuffled[1]) == (driver == "table")
