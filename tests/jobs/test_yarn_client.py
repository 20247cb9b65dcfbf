"""What is asked of YARN by the client that is beside Hadoop's; YARN itself is tried in tests/engines."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from jobs.yarn_client import ContainerLog, words_of, yarn_program

LOGS = "Container: c_2 on host\nLogType:stderr\nLogContents:\nnot so\n\nEnd of LogType:stderr\n"


def make_program(path: Path, script: str) -> str:
    path.parent.mkdir(exist_ok=True)
    path.write_text(script)
    path.chmod(0o755)
    return str(path)


def pick_all(logs: list[ContainerLog]) -> str:
    return " ".join(log.text.strip() for log in logs)


def test_no_other_program_of_the_name_is_taken_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    of_node = make_program(tmp_path / "node" / "yarn", "#!/bin/sh\n")
    hadoop = make_program(tmp_path / "hadoop" / "hadoop", "#!/bin/sh\n")
    monkeypatch.setenv("PATH", os.pathsep.join([os.path.dirname(of_node), os.path.dirname(hadoop)]))
    assert yarn_program(["hadoop"]) is yarn_program([hadoop]) is yarn_program(["nowhere"]) is None
    yarn = make_program(tmp_path / "hadoop" / "yarn", "#!/bin/sh\n")
    (tmp_path / "node" / "linked").symlink_to(hadoop)
    assert yarn_program(["linked"]) == yarn
    assert yarn_program(["hadoop"]) == yarn_program([hadoop]) == yarn


def test_words_are_picked_of_the_logs_of_an_application(tmp_path: Path) -> None:
    hadoop = make_program(tmp_path / "hadoop", "#!/bin/sh\n")
    make_program(tmp_path / "yarn", f"#!/bin/sh\necho \"$@\" > {tmp_path}/asked\ncat <<END\n{LOGS}END\n")
    assert words_of("application_1_1", [hadoop], "stderr", pick_all) == "not so"
    assert (tmp_path / "asked").read_text() == "logs -applicationId application_1_1 -log_files stderr\n"
    assert words_of("", [hadoop], "stderr", pick_all) == ""


def test_without_words_it_is_asked_again_until_logs_can_have_come(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jobs.yarn_client.LOG_SECONDS", 1)
    monkeypatch.setattr("jobs.yarn_client.PAUSE_SECONDS", 0.01)
    hadoop = make_program(tmp_path / "hadoop", "#!/bin/sh\n")
    make_program(tmp_path / "yarn", f"#!/bin/sh\necho >> {tmp_path}/asked\n")
    assert words_of("application_1_1", [hadoop], "stderr", pick_all) == ""
    assert (tmp_path / "asked").read_text().count("\n") > 1


@pytest.mark.parametrize("script", ["#!/nowhere/sh\n", "#!/bin/sh\nexec sleep 60\n"])
def test_a_client_that_does_not_do_its_work_says_nothing(
    script: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jobs.yarn_client.CALL_SECONDS", 0.2)
    hadoop = make_program(tmp_path / "hadoop", "#!/bin/sh\n")
    make_program(tmp_path / "yarn", script)
    assert words_of("application_1_1", [hadoop], "stderr", pick_all) == ""
