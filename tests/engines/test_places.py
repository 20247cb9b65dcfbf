"""A rejected line has the place that the user knows it by, on every engine."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tests.engines.engine import Engine
from tests.helpers import json_lines, lookalike, made_up_documents, read_json_lines

pytestmark = pytest.mark.engines

BAD_NUMBERS = (1, 777, 1500)


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Some files with bad lines in each; a name has what engines take for a pattern."""
    folder = tmp_path_factory.mktemp("inputs")
    paths = [folder / "one.jsonl", folder / "two [2].jsonl", folder / "three.jsonl.gz", folder / "empty.jsonl"]
    for seed, path in enumerate(paths[:3]):
        documents = made_up_documents(1500, seed, num_words=8)
        lines = json_lines({f"{seed}-{doc_id}": text for doc_id, text in documents.items()})
        for number in BAD_NUMBERS:
            lines[number - 1] = b"bad line %d of file %d" % (number, seed)
        content = b"\r\n".join(lines)
        path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    paths[3].touch()
    return paths


def test_places_are_files_and_lines(engine: Engine, inputs: list[Path], tmp_path: Path) -> None:
    done = engine.lookalike(*inputs, "--out", tmp_path / "out")
    assert done.exit_code == 0, f"{done.stderr}\n{engine.log_tails()}"
    rejected = tmp_path / "out" / "rejected.jsonl"
    assert [record["place"] for record in read_json_lines(rejected)] == [
        f"{path}:{number}" for path in inputs[:3] for number in BAD_NUMBERS]
    assert lookalike("pairs", *inputs, "-r", "inline", "--out", tmp_path / "here", "-q").exit_code == 0
    assert rejected.read_bytes() == (tmp_path / "here" / "rejected.jsonl").read_bytes()
