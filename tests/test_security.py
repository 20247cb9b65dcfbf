"""Secrets stay secret, temporary files are private, and names are never more than names."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from jobs.job_runner import default_conf
from tests.helpers import COMMAND, DATA, lookalike, run_command, tree
from tests.hostile import Hostile, make_hostile
from tests.watching import KEYS, SECRETS, SHELL_WITH_UMASK, Watch, files_that_tell, tells

CORPUS = DATA / "articles.jsonl"
IN_ADDRESS = "an-unmistakable-password"


@pytest.fixture
def tmp(tmp_path: Path) -> Path:
    """A folder for all temporary files."""
    (tmp_path / "tmp").mkdir()
    return tmp_path / "tmp"


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Hostile:
    return make_hostile(tmp_path_factory.mktemp("hostile"))


@pytest.mark.parametrize("runner", ["inline", "local"])
def test_no_secret_is_written_anywhere(runner: str, tmp: Path, tmp_path: Path) -> None:
    conf = tmp_path / "my.conf"
    in_conf = "an-unmistakable-secret-of-the-configuration"
    conf.write_text(json.dumps({"include": str(default_conf(runner)),
                                "runners": {"emr": {"aws_secret_access_key": in_conf}}}))
    secrets = [*SECRETS.values(), in_conf]
    with Watch(tmp, secrets) as watch:
        done = run_command(*COMMAND, "pairs", CORPUS, "-r", runner, "-v", "--conf", conf, "--out", tmp_path / "out",
                           env={**os.environ, **KEYS, "TMPDIR": str(tmp)})
    assert done.exit_code == 0 and "mr_pairs" in done.stderr
    assert not tells((done.stdout + done.stderr).encode(), secrets)
    assert {"settings.json", "gate-lines"} <= watch.names and not watch.telling
    assert files_that_tell(tmp_path / "out", secrets) == [] and files_that_tell(tmp_path, [in_conf]) == [conf]


@pytest.mark.parametrize("address", [f"s3://key:{IN_ADDRESS}@bucket/corpus.jsonl", f"s3a://:{IN_ADDRESS}@bucket/x",
                                     f"hdfs://me:{IN_ADDRESS}@host/x.csv"])
def test_an_address_with_a_password_is_refused_and_not_repeated(address: str, tmp_path: Path) -> None:
    done = lookalike("pairs", address, "-r", "hadoop", "--out", tmp_path / "out")
    assert done.exit_code == 2 and "://" in done.stderr and "***@" in done.stderr
    assert IN_ADDRESS not in done.stdout + done.stderr


@pytest.mark.parametrize("runner", ["inline", "hadoop", "spark"])
@pytest.mark.parametrize("options", [("pairs",), ("pairs", "--truth", CORPUS), ("dedup", "--resume"), ("index",)])
def test_results_at_an_address_with_a_password_are_refused(runner: str, options: tuple[str | Path, ...]) -> None:
    done = lookalike(*options, CORPUS, "-r", runner, "--out", f"hdfs://me:{IN_ADDRESS}@host/x")
    assert done.exit_code == 2 and "hdfs://me:***@host/x" in done.stderr
    assert IN_ADDRESS not in done.stdout + done.stderr


def test_no_password_is_kept_with_the_command(tmp_path: Path) -> None:
    folder = tmp_path / f"hdfs:/me:{IN_ADDRESS}@host"
    folder.mkdir(parents=True)
    (folder / "in.jsonl").write_bytes(CORPUS.read_bytes())
    done = run_command(*COMMAND, "pairs", CORPUS, "--tmp", f"{tmp_path}/hdfs://me:{IN_ADDRESS}@host", "--out",
                       tmp_path / "out")
    assert done.exit_code == 0, done.stderr
    assert "hdfs://me:***@host" in json.loads((tmp_path / "out" / "run.json").read_text())["command"]
    assert files_that_tell(tmp_path / "out", [IN_ADDRESS]) == []


@pytest.mark.parametrize("runner", ["inline", "local"])
def test_temporary_files_are_private(runner: str, tmp: Path, tmp_path: Path) -> None:
    with Watch(tmp) as watch:
        done = run_command(*SHELL_WITH_UMASK, *COMMAND, "pairs", CORPUS, "-r", runner, "--out", tmp_path / "out",
                           env={**os.environ, "TMPDIR": str(tmp)})
    assert done.exit_code == 0, done.stderr
    assert {"settings.json", "gate-lines"} <= watch.names
    assert watch.exposed() == []
    assert list(tmp.iterdir()) == []


def test_the_program_for_tasks_is_packed_in_a_private_folder(tmp: Path) -> None:
    pack = "from jobs.shipping import temporary_zip; print(oct(temporary_zip().parent.stat().st_mode), temporary_zip())"
    done = run_command(*SHELL_WITH_UMASK, *COMMAND[:1], "-c", pack, env={**os.environ, "TMPDIR": str(tmp)})
    assert done.stdout.startswith(f"0o40700 {tmp}/")
    assert list(tmp.iterdir()) == []


def test_the_program_for_tasks_is_packed_where_temporary_files_are_to_be(tmp: Path) -> None:
    """Also for a job by itself, whose folder mrjob makes where it is not there yet."""
    options = ["-r", "hadoop", "--no-conf", "--local-tmp-dir", "~/not/there"]
    pack = f"from jobs.mr_pairs import MRPairs; print(MRPairs({options})._runner_kwargs()['py_files'])"
    done = run_command(*COMMAND[:1], "-c", pack, env={**os.environ, "HOME": str(tmp)})
    assert done.stdout.startswith(f"['{tmp}/not/there/lookalike-tasks-") and tree(tmp) == ["not", "not/there"]


@pytest.mark.parametrize("runner", ["inline", "local"])
def test_names_are_only_names(runner: str, hostile: Hostile, tmp: Path, tmp_path: Path) -> None:
    expected = lookalike("pairs", hostile.plain, "-r", "inline", "--out", tmp_path / "expected", "-q")
    # A dash at the start of a name: after "--" it is one, whatever comes.
    names = [path.name for path in hostile.files]
    done = run_command(*COMMAND, "pairs", "-r", runner, "--out", tmp_path / "out", "--tmp", tmp, "--", *names,
                       env={**os.environ, "PYTHONPATH": ""}, cwd=hostile.files[0].parent)
    assert (expected.exit_code, done.exit_code) == (0, 0), done.stderr
    found = (tmp_path / "out" / "pairs.jsonl").read_bytes()
    assert found == (tmp_path / "expected" / "pairs.jsonl").read_bytes()
    assert found.count(b"\n") > len(names) / 2
    assert hostile.traps(tmp_path) == []
