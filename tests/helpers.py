"""What tests share: jobs and commands that run on a few lines, and made-up documents with near-duplicates."""

from __future__ import annotations

import io
import json
import logging
import random
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

from jobs.cli import main
from jobs.lean_mrjob import MRJob
from jobs.records import decode_counts
from lsh_core.settings import Settings

REPOSITORY = Path(__file__).parents[1]
DATA = REPOSITORY / "data"
LOCAL = ("-r", "local", "--conf-path", str(REPOSITORY / "conf" / "local.conf"))

Pairs = dict[tuple[str, str], float]


# Jobs


class JobOutput(NamedTuple):
    """The lines of a job's output, sorted, and the sums of the counts that its tasks wrote."""

    lines: list[bytes]
    counts: dict[str, int]

    def pairs(self) -> Pairs:
        """The reported pairs; one that is reported twice, or as (b, a), is an error."""
        return pairs_of_lines(self.lines)


def run_job(job_class: type[MRJob], lines: Iterable[bytes], *options: str) -> JobOutput:
    """Run a job on lines, or on the files among its options, in this process if they do not say otherwise."""
    job = job_class(["-r", "inline", "--no-conf", "--cleanup-on-failure", "ALL", "--counts", *options])
    job.sandbox(stdin=io.BytesIO(b"".join(line + b"\n" for line in lines)))
    with job.make_runner() as runner:
        runner.run()
        return job_output(b"".join(runner.cat_output()))


def job_output(content: bytes) -> JobOutput:
    """What a job has written, told apart."""
    counts: Counter[str] = Counter()
    found = []
    for line in content.splitlines():
        told = decode_counts(line)
        if told is None:
            found.append(line)
        else:
            counts.update(told)
    return JobOutput(sorted(found), dict(counts))


def pairs_of_lines(lines: Iterable[bytes]) -> Pairs:
    """Pairs of lines of ``pairs.jsonl``, each found to be once there and in order."""
    pairs: Pairs = {}
    for line in lines:
        record = json.loads(line)
        assert list(record) == ["a", "b", "similarity"]
        assert record["a"] < record["b"]
        assert (record["a"], record["b"]) not in pairs
        pairs[record["a"], record["b"]] = record["similarity"]
    return pairs


def json_lines(documents: Mapping[str, str]) -> list[bytes]:
    """Documents as JSON Lines."""
    return [json.dumps({"id": doc_id, "text": text}).encode() for doc_id, text in documents.items()]


def assert_as_promised(found: Pairs, truth: Pairs, settings: Settings) -> None:
    """Nothing but the truth is found, with its similarities, and as much of it as the settings promise."""
    assert set(found) <= set(truth)
    assert all(abs(similarity - truth[pair]) <= 1e-12 for pair, similarity in found.items())
    promised = settings.recall_promised
    standard_error = (promised * (1 - promised) / max(len(truth), 1)) ** 0.5
    assert len(found) >= (promised - 3 * standard_error) * len(truth)


# Commands


class Outcome(NamedTuple):
    """How a command ended, and what it said."""

    exit_code: int
    stdout: str
    stderr: str


def lookalike(*arguments: object, stdin: bytes = b"") -> Outcome:
    """Run the command line in this process."""
    stdout, stderr = io.StringIO(), io.StringIO()
    before, exit_code = (sys.argv, sys.stdin), 0
    handler, log_level = signal.getsignal(signal.SIGTERM), logging.getLogger("mrjob").level
    sys.argv, sys.stdin = ["lookalike", *map(str, arguments)], io.TextIOWrapper(io.BytesIO(stdin))
    try:
        with redirect_stdout(stdout), redirect_stderr(stderr):
            main()
    except SystemExit as end:
        exit_code = int(end.code or 0)
    finally:
        sys.argv, sys.stdin = before
        signal.signal(signal.SIGTERM, handler)
        logging.getLogger("mrjob").setLevel(log_level)
    return Outcome(exit_code, stdout.getvalue(), stderr.getvalue())


def run_command(*command: object, stdin: bytes = b"", encoding: str = "utf-8", **options: Any) -> Outcome:
    """Run a program from the repository's folder, or another, in a process of its own."""
    options = {"cwd": REPOSITORY, **options}
    done = subprocess.run([*map(str, command)], input=stdin, capture_output=True, **options)
    return Outcome(done.returncode, done.stdout.decode(encoding), done.stderr.decode(encoding))


COMMAND = (sys.executable, "-m", "jobs.cli")

ASCII_LOCALE = {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii"}
"""The surroundings in which Python takes files and terminals for ASCII."""


def read_json_lines(path: Path) -> list[dict[str, Any]]:
    """The objects of a file of JSON Lines."""
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def read_run(folder: Path) -> dict[str, Any]:
    """The ``run.json`` of a folder of results, with all its lines accounted for."""
    run: dict[str, Any] = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    told = run["input"]
    assert told["lines"] == told["documents"] + told["copies"] + told["rejected"]
    return run


def read_pairs(folder: Path) -> Pairs:
    """The pairs of a folder of results, found to be sorted."""
    lines = (folder / "pairs.jsonl").read_bytes().splitlines()
    assert lines == sorted(lines)
    return pairs_of_lines(lines)


def tree(folder: Path) -> list[str]:
    """Everything below a folder."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def session_commands(session_id: int) -> dict[int, str]:
    """Command lines of the processes of a session that have not ended, by process id."""
    return {process_id: command for process_id, session, command, _ in _processes() if session == session_id}


def commands_with(variable: str) -> dict[int, str]:
    """Command lines of the processes that had NAME=value in their environment when they started, by process id."""
    return {process_id: command for process_id, _, command, variables in _processes() if variable in variables}


def _processes() -> Iterator[tuple[int, int, str, list[str]]]:
    """Id, session, command line and environment of all processes that have not ended."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state, _, _, session = (folder / "stat").read_text().rpartition(")")[2].split()[:4]
            command, variables = ((folder / name).read_text(errors="replace") for name in ("cmdline", "environ"))
        except OSError:
            continue  # it has ended meanwhile, or is none of ours
        if state not in "ZX":
            yield int(folder.name), int(session), command.replace("\0", " "), variables.split("\0")


# Documents

SYLLABLES = ("ba", "den", "ki", "lor", "mu", "na", "pel", "ri", "sto", "tu", "ver", "zé", "wø", "ан", "猫")
EDIT_RATES = (0.0, 0.01, 0.02, 0.04, 0.08, 0.3)


def made_up_documents(num_documents: int, seed: int = 1, num_words: int = 40) -> dict[str, str]:
    """Texts of made-up words, in families that are edited copies of one text: from equal to hardly alike."""
    choose = random.Random(seed)
    words = ["".join(choose.choices(SYLLABLES, k=choose.randint(1, 4))) for _ in range(2000)]
    texts: list[str] = []
    while len(texts) < num_documents:
        original = choose.choices(words, k=choose.randint(num_words // 2, num_words))
        for _ in range(choose.randint(1, 5)):
            rate = choose.choice(EDIT_RATES)
            texts.append(" ".join(choose.choice(words) if choose.random() < rate else word for word in original))
    texts = texts[:num_documents]
    choose.shuffle(texts)
    return {f"d{number:05}": text for number, text in enumerate(texts)}

