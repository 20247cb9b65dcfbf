"""Machines that have no numpy are given it by an archive, as the configuration shows."""

from __future__ import annotations

import importlib.util
import json
import tarfile
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.engines.all_engines import ENGINES
from tests.helpers import COMMAND, DATA, lookalike

pytestmark = pytest.mark.engines


@pytest.fixture(scope="module", params=["hadoop", "spark"])
def cluster(request: pytest.FixtureRequest) -> Iterator[Any]:
    yield from ENGINES[request.param].started()


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What ``pip install --target`` would bring, packed."""
    spec = importlib.util.find_spec("numpy")
    assert spec is not None and spec.origin is not None
    path = tmp_path_factory.mktemp("archive") / "env.tar.gz"
    with tarfile.open(path, "w:gz", compresslevel=1) as tar:
        for name in ("numpy", "numpy.libs"):
            package = Path(spec.origin).parents[1] / name
            if package.exists():
                tar.add(package, name)
    return path


def test_an_archive_brings_numpy_along(cluster: Any, archive: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "bare", symlinks=True)
    shipped: dict[str, Any] = {"upload_archives": [f"{archive}#env"]}
    if cluster.runner == "spark":
        shipped = {"jobconf": {"spark.archives": f"{archive}#env"}}
    conf = tmp_path / "archive.conf"
    conf.write_text(json.dumps({"include": str(cluster.conf), "runners": {cluster.runner: {
        **shipped, "task_python_bin": str(tmp_path / "bare" / "bin" / "python"), "cmdenv": {"PYTHONPATH": "env"}}}}))
    done = cluster.run(*COMMAND, "pairs", DATA / "articles.jsonl", "-r", cluster.runner, "--conf", conf,
                       "--out", tmp_path / "out")
    assert done.exit_code == 0, f"{done.stderr}\n{cluster.log_tails()}"
    assert lookalike("pairs", DATA / "articles.jsonl", "-r", "inline", "--out", tmp_path / "here", "-q").exit_code == 0
    assert (tmp_path / "out" / "pairs.jsonl").read_bytes() == (tmp_path / "here" / "pairs.jsonl").read_bytes()
