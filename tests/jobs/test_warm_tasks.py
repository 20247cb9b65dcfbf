"""Warm tasks behave as those that Python starts anew, and know nothing of each other."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from jobs.warm_tasks import WarmTasks
from tests.warm import Outcome, run_warm, task, warm_tasks

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc to find processes")

STDIN = b"one\ntwo\xc3\xa9\n"


def run_cold(code: str, folder: Path, *args: str, stdin: bytes = b"") -> Outcome:
    """Run a script in a new Python."""
    script = task(code, folder)[0]
    done = subprocess.run([sys.executable, script, *args], input=stdin, capture_output=True, cwd=folder, env={})
    return Outcome(done.returncode, done.stdout, done.stderr)


@pytest.fixture(scope="module")
def one_server() -> Iterator[WarmTasks]:
    with warm_tasks(1) as tasks:
        yield tasks


# As Python does it


def test_empty(one_server: WarmTasks, tmp_path: Path) -> None:
    assert run_warm(one_server, "", tmp_path) == (0, b"", b"")


@pytest.mark.parametrize("code", [
    "import sys; sys.exit()", "import sys; sys.exit(3)", "import sys; sys.exit(-1)", "import sys; sys.exit(True)",
    "import os; os._exit(7)", "print('x'); raise ValueError('no')", "print('x'); syntax error",
    "print('x' * 10**5)", "import sys; print('é', file=sys.stderr)",
    "import sys; sys.stdout.buffer.write(sys.stdin.buffer.read()[::-1])",
    "import sys; print(sys.stdin.read(), sys.argv[1:], __name__, __file__)",
    "import os; print(os.getcwd(), sorted(os.listdir()), sorted(set(os.environ) - {'LC_CTYPE'}))",
    "def main():\n    return [len(name) for name in names]\nnames = ['a']\nprint(main())",
    "import json, pickle\nclass Thing: pass\npickle.dumps(Thing())\nprint('fine')",
])
def test_a_task_ends_as_in_a_new_python(code: str, one_server: WarmTasks, tmp_path: Path) -> None:
    warm = run_warm(one_server, code, tmp_path, "--some", "é", stdin=STDIN)
    cold = run_cold(code, tmp_path, "--some", "é", stdin=STDIN)
    assert warm[:2] == cold[:2]
    # A traceback has other frames, and the same end.
    assert warm.stderr.splitlines()[-1:] == cold.stderr.splitlines()[-1:]


def test_an_exception_is_told_with_its_place(one_server: WarmTasks, tmp_path: Path) -> None:
    outcome = run_warm(one_server, "print('before')\ndef fail():\n    raise ValueError('no')\nfail()", tmp_path)
    assert outcome[:2] == (1, b"before\n")
    assert b'script.py", line 3, in fail' in outcome.stderr and outcome.stderr.endswith(b"ValueError: no\n")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGXCPU])
def test_a_task_that_a_signal_ends_has_a_negative_code(
    number: signal.Signals, one_server: WarmTasks, tmp_path: Path
) -> None:
    code = f"import os; os.kill(os.getpid(), {int(number)})"
    assert run_warm(one_server, code, tmp_path).exit_code == -number == run_cold(code, tmp_path).exit_code
    assert run_warm(one_server, "print('next')", tmp_path) == (0, b"next\n", b"")


def test_output_that_cannot_be_written_is_a_failure(one_server: WarmTasks, tmp_path: Path) -> None:
    script, stdin, _, stderr = task("print('x')", tmp_path)
    with open(stdin, "rb") as empty, open("/dev/full", "r+b") as full, open(stderr, "r+b") as errors:
        assert one_server.run([script], empty, full, errors, str(tmp_path), {}) > 0
    assert b"No space left on device" in Path(stderr).read_bytes()


def test_nothing_of_a_task_is_left_for_the_next(one_server: WarmTasks, tmp_path: Path) -> None:
    told = ("import json, os, sys, jobs.mr_pairs\n"
            "print(json.dumps([dict(os.environ), os.getcwd(), sys.argv[1:], sys.path, jobs.mr_pairs.CHECK_BYTES,"
            " os.umask(0), sorted(sys.modules)]))\n")
    before = run_warm(one_server, told, tmp_path, env={"OWN": "1"})
    spoil = ("import colorsys, os, sys, jobs.mr_pairs\nos.environ['LEFT'] = 'x'\nos.chdir('/')\nos.umask(0o77)\n"
             "sys.path.append('/left')\njobs.mr_pairs.CHECK_BYTES = 5\nopen('/dev/null')\nsys.stdout.close()")
    assert run_warm(one_server, spoil, tmp_path, "left", env={"OTHER": "2"}).exit_code != -signal.SIGKILL
    assert run_warm(one_server, told, tmp_path, env={"OWN": "1"}) == before
    assert json.loads(before.stdout)[:3] == [{"OWN": "1"}, str(tmp_path), []]


def test_tasks_have_their_imports_done(one_server: WarmTasks, tmp_path: Path) -> None:
    code = "import sys; print({'numpy', 'mrjob', 'jobs.mr_gate', 'jobs.mr_pairs'} <= set(sys.modules))"
    assert run_warm(one_server, code, tmp_path) == (0, b"True\n", b"")
