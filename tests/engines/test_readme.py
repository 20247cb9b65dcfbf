"""What README tells a person with a cluster to do does what it says, on a real one."""

from __future__ import annotations

import gzip
import os
import re
import sys
from pathlib import Path

import pytest

from tests.engines.hadoop import HadoopCluster
from tests.helpers import DATA, REPOSITORY, lookalike, run_command

pytestmark = pytest.mark.engines

BIN = Path(sys.executable).parent


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """What one process finds in the corpus of the demo."""
    out = tmp_path_factory.mktemp("expected") / "out"
    assert lookalike("pairs", DATA / "articles.jsonl", "-r", "inline", "--out", out, "-q").exit_code == 0
    return (out / "pairs.jsonl").read_bytes()


@pytest.mark.parametrize("target", ["hadoop", "spark"])
def test_make_runs_the_demo_on_an_engine(target: str, pairs: bytes, tmp_path: Path) -> None:
    # Everything is installed already.
    done = run_command("make", "-o", ".venv/.ready-engines", target, f"BIN={BIN}", f"DEMO_OUT={tmp_path / 'out'}")
    assert done.exit_code == 0, done.stderr
    assert f"{target} is running; processes: " in done.stdout and "45 of the 45 known pairs" in done.stdout
    assert (tmp_path / "out" / "pairs.jsonl").read_bytes() == pairs


def test_the_commands_for_a_cluster(hadoop_cluster: HadoopCluster, pairs: bytes, tmp_path: Path) -> None:
    (block,) = re.findall(r"```sh\n(.*?)```", (REPOSITORY / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    copy, *others = [line for line in block.splitlines() if not line.startswith(("git ", "export "))]
    lines = (DATA / "articles.jsonl").read_bytes().splitlines(True)
    (tmp_path / "articles.jsonl").write_bytes(b"".join(lines[:200]))
    (tmp_path / "more.jsonl.gz").write_bytes(gzip.compress(b"".join(lines[200:])))
    (tmp_path / "lookalike").symlink_to(REPOSITORY)
    # What has to be set first, as the table below the commands says.
    set_python = f"sed -i 's|task_python_bin: python3|task_python_bin: {hadoop_cluster.task_python}|' my.conf"
    script = "\n".join([f"cd {tmp_path}", copy, set_python, *others])
    done = hadoop_cluster.run("sh", "-ec", script, HADOOP_HOME=str(hadoop_cluster.home),
                              PATH=f"{BIN}:{hadoop_cluster.hadoop.parent}:{os.environ['PATH']}")
    assert done.exit_code == 0, f"{done.stderr}\n{hadoop_cluster.log_tails()}"
    assert done.stdout.encode().endswith(b"".join(pairs.splitlines(True)[:10]))
