"""What surrounds a run does not show in its answer: locale, hash seed, other JSON libraries, the number of tasks."""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from jobs.lean_mrjob import HERE
from tests.engines.engine import Engine
from tests.engines.nasty import nasty_file
from tests.engines.task_python import with_modules
from tests.helpers import ASCII_LOCALE, COMMAND, lookalike

pytestmark = pytest.mark.engines

HASH_SEEDS = {"driver": "7", "tasks": "11"}

WRONG_LIBRARY = """
class JSONDecodeError(ValueError):
    pass

def loads(*arguments, **options):
    raise AssertionError("engines would differ by the JSON library that they have")

dump = dumps = load = loads
"""
JSON_LIBRARIES = dict.fromkeys(("orjson", "rapidjson", "simplejson", "ujson"), WRONG_LIBRARY)

NUM_TASKS: dict[str, dict[str, Any]] = {
    "local": {"num_cores": 3},
    "hadoop": {"jobconf": {"mapreduce.job.reduces": 5, "mapreduce.input.fileinputformat.split.maxsize": 3_000_000}},
    "spark": {"jobconf": {"mapreduce.job.reduces": 5, "spark.sql.files.maxPartitionBytes": 3_000_000}},
}


def test_surroundings_do_not_show(engine: Engine, tmp_path: Path) -> None:
    corpus, modules, conf = tmp_path / "nasty.jsonl", tmp_path / "modules", tmp_path / "other.conf"
    corpus.write_bytes(nasty_file())
    modules.mkdir()
    for name, content in JSON_LIBRARIES.items():
        (modules / f"{name}.py").write_text(content)
    of_tasks = {**ASCII_LOCALE, "PYTHONHASHSEED": HASH_SEEDS["tasks"]}
    conf.write_text(json.dumps({"include": str(engine.conf), "runners": {
        engine.runner: {"cmdenv": of_tasks, **NUM_TASKS.get(engine.runner, {})}}}))
    expected = lookalike("pairs", corpus, "-r", "inline", "--out", tmp_path / "expected", "-q")
    with nullcontext() if engine.runner in HERE else with_modules(engine.task_python, JSON_LIBRARIES):
        done = engine.run(*COMMAND, "pairs", corpus, "-r", engine.runner, "--conf", conf, "--out", tmp_path / "out",
                          **ASCII_LOCALE, PYTHONHASHSEED=HASH_SEEDS["driver"], PYTHONPATH=str(modules))
    assert (expected.exit_code, done.exit_code) == (0, 0), f"{done.stderr}\n{engine.log_tails()}"
    for name in ("pairs.jsonl", "rejected.jsonl"):
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "expected" / name).read_bytes() != b""
