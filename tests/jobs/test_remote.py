"""What is seen at addresses, and results cut in parts; tests/engines/test_remote.py has real file systems."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Optional

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.errors import InputError, RemoteError
from jobs.hadoop_files import HadoopFiles, complaint, parse_listing
from jobs.input_files import RemoteFile
from jobs.job_runner import Run
from jobs.mr_rejects import MRRejects
from jobs.readers import Source
from jobs.remote import Remote, cut_in_parts, is_hidden
from jobs.runner_uploads import Staging
from jobs.s3_files import S3Files, matches
from tests.helpers import tree
from tests.watching import KEYS, tells

LISTING = """\
Found 4 items
drwxr-xr-x   - me supergroup          0 2026-11-18 15:18 hdfs:///corpus/sub
-rw-r--r--   3 me supergroup         10 2026-11-18 15:19 hdfs:///corpus/sub/b.jsonl
-rw-r--r--+  1 me domain users  123456789012 2026-11-18 15:19 hdfs:///corpus/12 2026-11-18 15:19 x
-rw-rw-rw-   1          0 2026-11-18 15:19 s3://bucket/part-00000
"""

USAGE = """\
2026-11-18 15:19:12,501 WARN fs.FileSystem: Failed to initialize filesystem hdfs://nohost:9/x
-ls: java.net.UnknownHostException: nohost
Usage: hadoop fs [generic options]
\t[-appendToFile [-n] <localsrc> ... <dst>]
"""

FATAL = """\
-ls: Fatal internal error
java.lang.RuntimeException: Class org.apache.hadoop.fs.s3a.S3AFileSystem not found
\tat org.apache.hadoop.conf.Configuration.getClass(Configuration.java:2737)
"""


def test_a_listing_is_read_with_sizes_and_without_folders() -> None:
    assert parse_listing("") == []
    assert parse_listing(LISTING) == [
        RemoteFile("hdfs:///corpus/sub/b.jsonl", 10),
        RemoteFile("hdfs:///corpus/12 2026-11-18 15:19 x", 123456789012),
        RemoteFile("s3://bucket/part-00000", 0),
    ]


@pytest.mark.parametrize(("said", "found"), [
    ("", ""),
    ("2026-11-18 15:19:12,501 WARN x: y\nls: `hdfs:///none': No such file or directory\n",
     "`hdfs:///none': No such file or directory"),
    ("ls: Interrupted\n", "no answer in time"),
    (USAGE, "java.net.UnknownHostException: nohost"),
    (FATAL, "java.lang.RuntimeException: Class org.apache.hadoop.fs.s3a.S3AFileSystem not found"),
    ("26/11/18 15:19:12 WARN x: y\nJAVA_HOME is not set\n", "JAVA_HOME is not set"),
    ("ERROR: JAVA_HOME is not set and could not be found.\n", "ERROR: JAVA_HOME is not set and could not be found."),
    ("WARNING: HADOOP_PREFIX has been replaced by HADOOP_HOME. Using value of HADOOP_PREFIX.\n"
     "mkdir: `hdfs:///a/b': No such file or directory\n", "`hdfs:///a/b': No such file or directory"),
    ("no program\nWARNING: An illegal reflective access operation has occurred\n", "no program"),
])  # fmt: skip
def test_the_complaint_is_found_in_what_the_client_says(said: str, found: str) -> None:
    assert complaint(said) == found


def test_what_is_put_below_an_address_is_a_folder_of_links(tmp_path: Path) -> None:
    """And what is asked of other places is asked of the file systems."""
    (tmp_path / "gate of today").write_text("gate")
    (tmp_path / "staged").mkdir()
    asked: list[str] = []
    file_systems = SimpleNamespace(mkdir=asked.append, cat=lambda uri: [uri])
    staging = Staging(file_systems, tmp_path / "staged", "hdfs:///tmp/key")
    for uri in ("hdfs:///tmp/key/files/", "hdfs:///tmp/key/files/wd", "/elsewhere"):
        staging.mkdir(uri)
    staging.put(str(tmp_path / "gate of today"), "hdfs:///tmp/key/files/wd/gate")
    # So mrjob renames a file that is at an address.
    staging.mkdir(str(tmp_path / "passing"))
    (tmp_path / "passing").mkdir()
    (tmp_path / "passing" / "env.file").write_text("env")
    staging.put(str(tmp_path / "passing" / "env.file"), "hdfs:///tmp/key/files/wd/env.file")
    (tmp_path / "passing" / "env.file").unlink()
    assert tree(tmp_path / "staged") == ["files", "files/wd", "files/wd/env.file", "files/wd/gate"]
    found = [(tmp_path / "staged" / "files" / "wd" / name).read_text() for name in ("gate", "env.file")]
    assert found == ["gate", "env"] and asked == ["/elsewhere", str(tmp_path / "passing")]
    assert staging.cat("hdfs:///x") == ["hdfs:///x"]


@pytest.mark.parametrize(("pattern", "uri", "is_left_out"), [
    ("hdfs:///corpus", "hdfs:///corpus/a.jsonl", False),
    ("hdfs:///corpus/", "hdfs:///corpus/_SUCCESS", True),
    ("hdfs:///corpus", "hdfs:///corpus/_logs/a.jsonl", True),
    ("hdfs:///corpus/*", "hdfs:///corpus/.a.jsonl.crc", True),
    ("hdfs:///_corpus/*.jsonl", "hdfs:///_corpus/a.jsonl", False),
    ("hdfs:///_corpus/_a.jsonl", "hdfs:///_corpus/_a.jsonl", True),
])  # fmt: skip
def test_hidden_files_are_left_out(pattern: str, uri: str, is_left_out: bool) -> None:
    assert is_hidden(uri, pattern) == is_left_out


@pytest.mark.parametrize(("pattern", "key", "is_match"), [
    ("", "corpus/a.jsonl", True),
    ("", "corpus/", False),
    ("corpus", "corpus", True),
    ("corpus", "corpus/deep/a.jsonl", True),
    ("corpus/", "corpus/a.jsonl", True),
    ("corpus", "corpus2/a.jsonl", False),
    ("corpus", "corpus/", False),
    ("corpus/*.jsonl", "corpus/deep/a.jsonl", False),
    ("corpus/*/*.jsonl", "corpus/deep/a.jsonl", True),
    ("corpus/part-0000[12]", "corpus/part-00003", False),
    ("Corpus", "corpus", False),
])  # fmt: skip
def test_patterns_match_keys_folder_by_folder(pattern: str, key: str, is_match: bool) -> None:
    assert matches(pattern, key) == is_match


def remote_of(runner: Optional[str], folder: Path, **options: Any) -> Remote:
    conf = folder / f"{runner}.conf"
    conf.write_text(json.dumps({"runners": {runner: options}}))
    return Remote(Run([], folder / "out", runner, conf=conf), folder)


@pytest.mark.parametrize(("runner", "options", "num_files"), [
    ("spark", {"spark_master": "yarn"}, 5000), ("spark", {"spark_master": "local-cluster[2,1,1024]"}, 10_000)])
def test_more_files_than_a_command_can_name_are_refused(
    runner: str, options: dict[str, str], num_files: int, tmp_path: Path
) -> None:
    paths = [f"/data/{number:07}" for number in range(num_files)]
    sources = [Source(path, path) for path in paths]
    remote = remote_of(runner, tmp_path, **options)
    for taken in ("inline", "hadoop"):
        remote_of(taken, tmp_path).check_number_of_files(sources)
    # On this machine they are read where they are.
    remote.check_number_of_files(sources[: 5000 if "local" in options["spark_master"] else 500])
    with pytest.raises(InputError, match=f"-r spark cannot be told of {num_files:,} files"):
        remote.check_number_of_files(sources)


@pytest.mark.parametrize("runner", ["hadoop", "spark"])
@pytest.mark.parametrize("name", ["/x/{:07}", "/folder/é/{:07}", "hdfs:///x/{:07}", "hdfs:///é/{:07}"])
def test_a_command_that_names_all_files_that_are_taken_can_be_run(runner: str, name: str, tmp_path: Path) -> None:
    options = {"owner": "n" * 32, **({"spark_master": "yarn"} if runner == "spark" else {})}
    remote = remote_of(runner, tmp_path, **options)
    remote_bytes = 1 if "://" in name else None
    paths = list(map(name.format, range(100_000)))
    sources = [Source(path, path, remote_bytes=remote_bytes) for path in paths]
    taken, refused = 500, len(paths)
    while refused - taken > 1:
        middle = (taken + refused) // 2
        try:
            remote.check_number_of_files(sources[:middle])
        except InputError:
            refused = middle
        else:
            taken = middle
    arguments = ["-r", runner, "--conf-path", str(remote.run.conf), "--no-check-input-paths"]
    with MRRejects([*arguments, *paths[:taken]]).make_runner() as job:
        job._add_input_files_for_upload()
        uris = job._step_input_uris(0)
        job._upload_mgr, job._hadoop_tmp_dir, job._spark_tmp_dir = None, "", ""
    words = [",".join(uris)] if runner == "spark" else [part for uri in uris for part in ("-input", uri)]
    assert len(uris) == taken
    subprocess.run(["true", *words], check=True, env={**os.environ, "LARGE": "x" * 100_000})


@given(st.lists(st.binary(max_size=20).map(lambda line: line.replace(b"\n", b"") + b"\n")), st.integers(1, 60))
def test_parts_together_are_the_file_and_hold_whole_lines(lines: list[bytes], part_bytes: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "pairs.jsonl").write_bytes(b"".join(lines))
        (folder / "kept.tsv").write_bytes(b"a\tone\nb\ttwo\n")
        (folder / "run.json").write_text("{}")
        cut_in_parts(folder, part_bytes)
        parts = sorted((folder / "pairs").iterdir())
        contents = [part.read_bytes() for part in parts]
        assert b"".join(contents) == b"".join(lines)
        assert [part.name for part in parts] == [f"part-{i:05}.jsonl" for i in range(len(parts))]
        assert all(content.endswith(b"\n") and len(content) < part_bytes + 21 for content in contents if lines)
        assert len(parts) >= sum(map(len, lines)) / (part_bytes + 21)
        assert [found for found in tree(folder) if "/" not in found] == ["kept", "pairs", "run.json"]
        assert b"".join(part.read_bytes() for part in sorted((folder / "kept").glob("part-*.tsv"))) == (
            b"a\tone\nb\ttwo\n")


@pytest.mark.parametrize(("runner", "options"), [
    ("spark", {"spark_master": "yarn"}), ("spark", {"spark_master": "spark://host:1"}), ("hadoop", {})])
def test_the_client_is_not_told_keys_that_tasks_do_not_get(
    runner: str, options: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, key in KEYS.items():
        monkeypatch.setenv(name, key)
    client = ["sh", "-c", f'env > {tmp_path}/told; echo "-rw-r--r-- 1 10 2026-11-18 15:19 hdfs:///x"']
    assert remote_of(runner, tmp_path, hadoop_bin=client, **options).find("hdfs:///x") == [RemoteFile("hdfs:///x", 10)]
    assert tells((tmp_path / "told").read_bytes(), KEYS.values()) == (options != {"spark_master": "yarn"})


@pytest.mark.parametrize(("uri", "why"), [
    ("hdfs:///x", "-r emr cannot reach hdfs:///x; -r hadoop and spark do"),
    ("gs://b/x", "-r emr cannot reach gs://b/x"),
    ("s3:///x", "cannot reach s3:///x: it names no bucket")])
def test_addresses_that_emr_does_not_take(uri: str, why: str, tmp_path: Path) -> None:
    pytest.importorskip("boto3")
    with pytest.raises(RemoteError, match=f"^{why}$"):
        remote_of("emr", tmp_path, cloud_tmp_dir="s3://bucket/tmp/", region="us-east-1").find(uri)


@pytest.mark.parametrize("said", [
    'Exception in thread "main" java.lang.RuntimeException: core-site.xml not found',
    "-ls: Incomplete HDFS URI, no host: hdfs:///x"])
def test_a_hadoop_that_is_not_configured(said: str, tmp_path: Path) -> None:
    client = ["sh", "-c", f"echo '{said}' >&2; exit 1"]
    with pytest.raises(RemoteError, match=r"^cannot reach hdfs:///x: .*; HADOOP_CONF_DIR names the folder of Hadoop's"):
        remote_of("hadoop", tmp_path, hadoop_bin=client).find("hdfs:///x")


def test_what_is_not_there_is_not_uploaded(tmp_path: Path) -> None:
    staging = Staging(SimpleNamespace(), tmp_path, "hdfs:///x")
    with pytest.raises(InputError, match=r"^cannot read /nowhere/env\.tar\.gz, which is to be uploaded: no such file$"):
        staging.put("/nowhere/env.tar.gz", "hdfs:///x/env.tar.gz")


@pytest.mark.parametrize(("hadoop_bin", "files"), [
    (["true"], HadoopFiles), (["/nowhere/hadoop"], S3Files),
    (["sh", "-c", f"echo '{FATAL}' >&2; exit 255"], S3Files)])
def test_spark_reads_s3_by_hadoop_where_that_can(hadoop_bin: list[str], files: type, tmp_path: Path) -> None:
    pytest.importorskip("boto3")
    remote = remote_of("spark", tmp_path, hadoop_bin=hadoop_bin)
    assert isinstance(remote._files("s3a://bucket/corpus"), files)
