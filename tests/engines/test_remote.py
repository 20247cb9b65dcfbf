"""Inputs and results at addresses, in a real HDFS and an emulated S3."""

from __future__ import annotations

import json
import re
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engines.engine import END_SECONDS, RUN_SECONDS, free_port
from tests.engines.hadoop import HadoopCluster
from tests.engines.places import S3, Corpus, Hdfs, Place
from tests.engines.spark import SparkOnYarn, StandaloneBesideHadoop
from tests.helpers import REPOSITORY, lookalike

pytestmark = pytest.mark.engines

NAME_CHARS, NUM_NAMED = 250, 31
"""Of HDFS's names the longest, and as many of them as a path can have."""

RESULTS = ["pairs/part-00000.jsonl", "rejected/part-00000.jsonl", "run.json"]
PARTIAL = """
import sys
from pathlib import Path
from jobs.hadoop_files import HadoopFiles
from mrjob.fs.hadoop import HadoopFilesystem
files = HadoopFiles(HadoopFilesystem([sys.argv[1]]))
with files.complete_folder(sys.argv[2], Path(sys.argv[3])):
    {}
"""


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return Corpus(tmp_path_factory.mktemp("corpus"))


@pytest.fixture(scope="module")
def hdfs(hadoop_cluster: HadoopCluster) -> Hdfs:
    return Hdfs(hadoop_cluster, hadoop_cluster)


@pytest.fixture(scope="module")
def hdfs_of_spark(hadoop_cluster: HadoopCluster) -> Iterator[Hdfs]:
    with SparkOnYarn(hadoop_cluster) as spark:
        yield Hdfs(spark, hadoop_cluster)


@pytest.fixture(scope="module")
def hdfs_of_standalone(hadoop_cluster: HadoopCluster) -> Iterator[Hdfs]:
    with StandaloneBesideHadoop(hadoop_cluster) as spark:
        yield Hdfs(spark, hadoop_cluster)


@pytest.fixture(scope="module", params=["s3", "hdfs", "hdfs_of_spark", "hdfs_of_standalone"])
def place(request: pytest.FixtureRequest, corpus: Corpus) -> Place:
    """Every place in turn, with the corpus in it."""
    found: Place = request.getfixturevalue(request.param)
    found.root += f"/{request.param}"
    if isinstance(found, Hdfs):
        found.fs("-mkdir", "-p", found.root)
    found.put(corpus.folder, f"{found.root}/corpus")
    return found


@pytest.mark.ci_engines
def test_what_is_found_at_an_address_is_what_one_process_finds(place: Place, corpus: Corpus) -> None:
    out = f"{place.root}/new/result"
    done = place.engine.lookalike(f"{place.root}/corpus/*.jsonl", f"{place.root}/corpus/deep", "--out", out + "/")
    assert done.exit_code == 0, f"{done.stderr}\n{place.engine.log_tails()}"
    assert f"The results are in {out}\n" in done.stdout
    assert place.names(out) == [*(["_SUCCESS"] if isinstance(place, S3) else []), *RESULTS]
    assert place.names(f"{place.root}/new") == [f"result/{name}" for name in place.names(out)]
    assert place.read(f"{out}/{RESULTS[0]}") == corpus.pairs
    rejected = place.read(f"{out}/{RESULTS[1]}").splitlines()
    assert [{**json.loads(line), "place": None} for line in rejected] == corpus.rejected
    told = json.loads(place.read(f"{out}/run.json"))["input"]
    assert told["files"] == [f"{place.root}/corpus/{name}" for name in corpus.files]
    assert told["bytes"] == sum(map(len, corpus.files.values()))


@pytest.mark.parametrize("name", ["corpus/*.tsv", "absent", "corpus/_logs", "corpus/_SUCCESS"])
def test_an_input_that_is_missing_or_hidden_is_named(place: Place, name: str, tmp_path: Path) -> None:
    refused = place.engine.lookalike(f"{place.root}/corpus/a.jsonl", f"{place.root}/{name}", "--out", tmp_path / "out")
    assert refused.exit_code == 2
    assert refused.stderr == f"lookalike: cannot read {place.root}/{name}: no such files, or hidden ones only\n"


def test_results_that_are_there_are_kept(place: Place, corpus: Corpus) -> None:
    out = f"{place.root}/corpus"
    refused = place.engine.lookalike(f"{out}/a.jsonl", "--out", out)
    assert (refused.exit_code, refused.stderr.count("\n")) == (2, 1)
    assert f"{out} is there already and is not empty" in refused.stderr
    assert set(corpus.files) < set(place.names(out))


# HDFS


@pytest.mark.parametrize("option", ["input", "--out"])
def test_a_namenode_that_does_not_answer_is_named(hdfs: Hdfs, corpus: Corpus, option: str, tmp_path: Path) -> None:
    away = f"hdfs://127.0.0.1:{free_port()}/x"
    arguments = (away, "--out", tmp_path / "out") if option == "input" else (corpus.folder / "a.jsonl", "--out", away)
    refused = hdfs.engine.lookalike(*arguments)
    assert (refused.exit_code, refused.stderr.count("\n")) == (2, 1)
    assert refused.stderr.startswith(f"lookalike: cannot reach {away}: ")
    assert refused.stderr.endswith("Connection refused\n")


@pytest.mark.parametrize("place_name", ["hdfs", "hdfs_of_spark"])
def test_a_namenode_that_would_get_temporary_files_and_does_not_answer_is_named(
    place_name: str, request: pytest.FixtureRequest, corpus: Corpus, tmp_path: Path
) -> None:
    engine = request.getfixturevalue(place_name).engine
    conf, away = tmp_path / "my.conf", f"hdfs://127.0.0.1:{free_port()}/tmp"
    conf.write_text(json.dumps({"include": str(engine.conf), "runners": {
        engine.runner: {f"{engine.runner}_tmp_dir": away}}}))
    command = engine.pairs_command(corpus.folder / "a.jsonl", "--out", tmp_path / "out")
    refused = engine.run(*command, "--conf", conf)
    assert (refused.exit_code, refused.stderr.count("\n")) == (2, 1)
    assert refused.stderr.startswith(f"lookalike: cannot write to {away}/")
    assert refused.stderr.endswith("Connection refused\n")


def test_addresses_may_be_longer_together_than_a_variable_of_a_task(hdfs: Hdfs, corpus: Corpus, tmp_path: Path) -> None:
    lines = [line for content in (corpus.folder / "a.jsonl", corpus.folder / "deep" / "with space.jsonl")
             for line in content.read_bytes().splitlines(True)]
    names = [f"{number:03}" for number in range(2**17 // (NUM_NAMED * NAME_CHARS) + 1)]
    for number, name in enumerate(names):
        (tmp_path / name).write_bytes(b"".join(lines[number :: len(names)]))
    folder = "/".join([hdfs.root, *["d" * NAME_CHARS] * NUM_NAMED])
    hdfs.fs("-mkdir", "-p", folder)
    hdfs.fs("-put", *(tmp_path / name for name in names), folder)
    done = hdfs.engine.lookalike(folder, "--out", tmp_path / "there")
    assert done.exit_code == 0, f"{done.stderr}\n{hdfs.engine.log_tails()}"
    assert lookalike("pairs", *(tmp_path / name for name in names), "-r", "inline", "-q", "--out",
                     tmp_path / "here").exit_code == 0
    found, expected = ((tmp_path / place / "pairs.jsonl").read_bytes() for place in ("there", "here"))
    assert found == expected != b""


def test_a_resource_manager_that_is_away_is_told_and_waited_for(hdfs: Hdfs, corpus: Corpus, tmp_path: Path) -> None:
    cluster = hdfs.cluster
    cluster.kill("resourcemanager")
    run = cluster.start_run(*cluster.pairs_command(corpus.folder / "a.jsonl", "--out", tmp_path / "out"))
    assert run.stderr is not None
    told: list[str] = []
    reader = threading.Thread(target=lambda lines: [told.append(line) for line in lines], args=[run.stderr])
    reader.start()
    try:
        cluster.wait_until(lambda: told, "something is told")
    finally:
        cluster.restart("resourcemanager")
        exit_code = run.wait(RUN_SECONDS)
        reader.join()
    assert exit_code == 0 and (tmp_path / "out" / "pairs.jsonl").exists(), told
    assert re.fullmatch(r"gate: no answer from \S+:\d+, which is tried again\n", told[0])


def test_a_folder_that_may_not_be_written_to_is_named(hdfs: Hdfs, corpus: Corpus) -> None:
    refused = hdfs.engine.run(*hdfs.engine.pairs_command(corpus.folder / "a.jsonl", "--out", f"{hdfs.root}/x/y"),
                              HADOOP_USER_NAME="stranger")
    assert (refused.exit_code, refused.stderr.count("\n")) == (2, 1)
    assert f"cannot write to {hdfs.root}/x/y: Permission denied: user=stranger" in refused.stderr


def test_a_user_without_a_folder_in_hdfs_is_told_so(hdfs: Hdfs, corpus: Corpus, tmp_path: Path) -> None:
    command = hdfs.engine.pairs_command(corpus.folder / "a.jsonl", "--out", tmp_path / "out")
    refused = hdfs.engine.run(*command, HADOOP_USER_NAME="stranger")
    assert refused.exit_code == 2 and refused.stderr.startswith("lookalike: cannot write to hdfs:///user/")
    assert ": Permission denied: user=stranger" in refused.stderr and refused.stderr.count("\n") == 1


def test_a_run_that_is_interrupted_leaves_nothing(hdfs: Hdfs, corpus: Corpus) -> None:
    parent, cluster = f"{hdfs.root}/interrupted", hdfs.cluster
    cluster.start_daemon("run", *cluster.pairs_command(corpus.folder / "a.jsonl", "--out", f"{parent}/out"))
    cluster.wait_until(lambda: ".out.partial-" in cluster.fs("-ls", parent).stdout, "the run has begun")
    run = cluster.daemons.pop("run")
    run.send_signal(signal.SIGTERM)
    assert run.wait(END_SECONDS) == 128 + signal.SIGTERM
    assert hdfs.fs("-ls", parent) == ""


@pytest.mark.parametrize(("inside", "said", "found"), [
    ("raise KeyboardInterrupt", "KeyboardInterrupt", []),
    ("Path(sys.argv[3], 'run.json').unlink(); Path(sys.argv[3], 'run.json').symlink_to('nowhere')",
     "RemoteError: cannot write to {uri}: ", []),
    ("files._run('', '-mkdir', '-p', sys.argv[2] + '/of another')", "OutputError: {uri} is there already",
     ["out/of another"]),
    ("files._run('', '-mkdir', sys.argv[2])", "", ["out/pairs/part-00000.jsonl", "out/run.json"]),
])  # fmt: skip
def test_results_in_hdfs_are_complete_or_absent(
    hdfs: Hdfs, results: Path, inside: str, said: str, found: list[str]
) -> None:
    hdfs.fs("-rm", "-r", "-f", "-skipTrash", f"{hdfs.root}/whole")
    uri = f"{hdfs.root}/whole/out"
    done = hdfs.cluster.run(sys.executable, "-c", PARTIAL.format(inside), hdfs.cluster.hadoop, uri, results)
    assert (done.exit_code != 0) == bool(said) and said.format(uri=uri) in done.stderr
    assert hdfs.names(f"{hdfs.root}/whole") == found


def test_the_job_alone_reads_and_writes_as_mrjob_does(hdfs: Hdfs, corpus: Corpus) -> None:
    source, out = f"{hdfs.root}/plain.jsonl", f"{hdfs.root}/plain"
    hdfs.fs("-put", "-f", corpus.folder / "a.jsonl", source)
    done = hdfs.engine.run(sys.executable, REPOSITORY / "jobs" / "mr_pairs.py", source, "-q", "-r", "hadoop",
                           "--conf-path", hdfs.engine.conf, "--output-dir", out)
    assert done.exit_code == 0, done.stderr
    pairs = [json.loads(line) for line in hdfs.read(f"{out}/part-*").splitlines()]
    assert pairs and {(pair["a"], pair["b"]) for pair in pairs} <= {
        (pair["a"], pair["b"]) for pair in map(json.loads, corpus.pairs.splitlines())}


# S3


@pytest.mark.parametrize("option", ["input", "--out"])
def test_a_bucket_that_is_not_there_is_named(s3: S3, corpus: Corpus, option: str, tmp_path: Path) -> None:
    away = "s3://no-such-bucket/x"
    arguments = (away, "--out", tmp_path / "out") if option == "input" else (corpus.folder / "a.jsonl", "--out", away)
    refused = s3.engine.lookalike(*arguments)
    assert (refused.exit_code, refused.stderr.count("\n")) == (2, 1)
    assert refused.stderr.startswith(f"lookalike: cannot reach {away}: ") and "NoSuchBucket" in refused.stderr
