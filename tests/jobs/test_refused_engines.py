"""Engines that are not here, and configurations that are none, are told in one line before anything runs."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path

import pytest

from jobs.errors import InputError, RemoteError
from jobs.job_runner import Run
from jobs.pipeline import find_pairs
from lsh_core.errors import SettingsError
from lsh_core.settings import Settings
from tests.helpers import DATA, tree
from tests.passes import QUIET

ARTICLES = str(DATA / "articles.jsonl")


@pytest.mark.parametrize(("runner", "option"), [("hadoop", "hadoop_bin"), ("spark", "spark_submit_bin")])
def test_an_engine_whose_program_is_missing(runner: str, option: str, tmp_path: Path) -> None:
    conf = tmp_path / "my.conf"
    conf.write_text(f"runners: {{{runner}: {{{option}: [/nowhere/program]}}}}")
    with pytest.raises(RemoteError, match=f"cannot run /nowhere/program: .*{option} in the file of --conf names it"):
        find_pairs(Run([ARTICLES], tmp_path / "out", runner, conf=conf), Settings(), QUIET)
    assert tree(tmp_path) == ["my.conf"]


def test_emr_without_its_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *_: None if name == "boto3" else found(name))
    with pytest.raises(RemoteError, match="-r emr needs boto3: pip install boto3"):
        find_pairs(Run([ARTICLES], tmp_path / "out", "emr"), Settings(), QUIET)


def test_an_engine_that_nobody_knows(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="runner is 'nope'; it must be one of inline, local, hadoop, spark, emr"):
        Run([ARTICLES], tmp_path / "out", "nope")


@pytest.mark.parametrize("content", ["id,text\n1,a\n", "[1, 2]", "{", "a: b: c", "\0"])
def test_a_configuration_that_is_none(content: str, tmp_path: Path) -> None:
    conf = tmp_path / "my.conf"
    conf.write_text(content)
    with pytest.raises(InputError, match=r"my\.conf is no mrjob configuration, "):
        find_pairs(Run([ARTICLES], tmp_path / "out", conf=conf), Settings(), QUIET)


@pytest.mark.parametrize("name", ["local.conf", "hadoop.conf", "spark.conf", "emr.conf"])
def test_the_configurations_that_are_shipped_are_some(name: str, tmp_path: Path) -> None:
    conf = shutil.copy(DATA.parent / "conf" / name, tmp_path)
    assert find_pairs(Run([ARTICLES], tmp_path / "out", "inline", conf=Path(conf)), Settings(), QUIET).num_pairs == 45
