"""The documentation is true: its commands run, and it leaves no option, module or reason out."""

from __future__ import annotations

import doctest
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest

from jobs.cli import cli
from lsh_core.errors import REJECT_REASONS

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BIN = Path(sys.executable).parent


def readme_commands() -> list[str]:
    blocks = re.findall(r"```console\n(.*?)```", README, re.S)
    return [line[2:] for block in blocks for line in block.splitlines() if line.startswith("$ ")]


def run(command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
    return subprocess.run(["bash", "-euo", "pipefail", "-c", command], cwd=cwd, env=env, capture_output=True, text=True)


def test_readme_commands_run_in_their_order(tmp_path: Path) -> None:
    for name in ("data", "jobs"):
        (tmp_path / name).symlink_to(ROOT / name)
    commands = [command for command in readme_commands() if not command.startswith("make ")]
    assert len(commands) >= 10
    outputs = {}
    for command in commands:
        done = run(command, tmp_path)
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        outputs[command] = done.stdout
    shown = re.findall(r"\$ (head [^\n]*)\n```\n\n```json\n(.*?)```", README, re.S)
    assert len(shown) == 2
    assert {command: outputs[command] for command, _ in shown} == dict(shown)
    told = json.loads((tmp_path / "clean_out" / "run.json").read_text(encoding="utf-8"))["cleaning"]
    assert "{clusters} clusters are found, {kept} are kept and {removed} removed".format(**told) in README
    assert "were removed, here {chained}.".format(**told) in README


def test_make_demo_shows_the_pairs_and_where_they_are(tmp_path: Path) -> None:
    assert "make demo" in readme_commands()
    done = run(f"make demo BIN={BIN} READY=README.md DEMO_OUT={tmp_path}/out", ROOT)
    assert done.returncode == 0, done.stderr
    for line in re.search(r"```text\n(.*?)```", README, re.S).group(1).splitlines():
        if "..." not in line:
            assert line.strip() in " ".join(map(str.strip, done.stdout.split("\n"))), line
    assert f"The results are in {tmp_path}/out" in done.stdout


def test_make_growth_and_bench_run(tmp_path: Path) -> None:
    assert {"make growth", "make bench"} <= set(readme_commands())
    made_ready = f"BIN={BIN} READY=README.md BENCH_READY=README.md CLEANERS_READY=README.md"
    done = run(f"make growth {made_ready} GROWTH_ARGS='--docs 200 --hot-docs 0 --results {tmp_path}'", ROOT)
    assert done.returncode == 0 and (tmp_path / "growth.json").exists(), done.stderr
    pytest.importorskip("matplotlib")
    sizes = "--short-docs 200 --long-docs 20 --runs 1 --only lookalike"
    done = run(f"make bench {made_ready} BENCH_ARGS='{sizes} --results {tmp_path}'", ROOT)
    assert done.returncode == 0 and "64,000" not in done.stdout, done.stderr


def test_ci_calls_the_commands_of_the_readme() -> None:
    script = (ROOT / ".ci" / "run").read_text()
    for command in ("make demo", "make test"):
        assert command in readme_commands()
        assert re.search(rf"^{command}$", script, re.M)


def test_ci_runs_a_part_of_the_engine_tests() -> None:
    assert re.search(r"^make test-engines ENGINES_MARK=ci_engines$", (ROOT / ".ci" / "run").read_text(), re.M)


def test_every_make_command_is_there() -> None:
    commands = [command for command in readme_commands() if command.startswith("make ")]
    assert {"make hadoop", "make spark", "make test-engines", "make faults"} <= set(commands)
    for command in commands:
        assert run(f"{command} --dry-run", ROOT).returncode == 0, command


def test_commands_for_clusters_are_understood() -> None:
    (block,) = re.findall(r"```sh\n(.*?)```", README, re.S)
    commands = [shlex.split(line, comments=True) for line in block.splitlines() if line.startswith("lookalike ")]
    assert commands
    for _, name, *arguments in commands:
        cli.commands[name].make_context(name, arguments)


def test_python_of_the_readme() -> None:
    failed, tried = doctest.testfile(str(ROOT / "README.md"), module_relative=False)
    assert tried > 3
    assert not failed


@pytest.mark.parametrize("name", cli.commands)
def test_every_option_is_in_the_readme(name: str) -> None:
    command = cli.commands[name]
    assert f"lookalike {name}" in README
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            for option in parameter.opts:
                assert f"`{option}" in README or f" {option} " in README, option


@pytest.mark.parametrize("reason", REJECT_REASONS)
def test_every_reject_reason_is_in_the_readme(reason: str) -> None:
    assert f"`{reason}`" in README


@pytest.mark.parametrize("package", ["lsh_core", "jobs"])
def test_every_module_is_on_the_tour(package: str) -> None:
    for module in (ROOT / package).glob("*.py"):
        if module.stem != "__init__" and not re.match("sample_", module.stem):
            assert f"]({package}/{module.name})" in README or module.stem == "errors", module


def test_changelog_names_every_command() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    for name in cli.commands:
        assert f"`lookalike {name}`" in changelog
