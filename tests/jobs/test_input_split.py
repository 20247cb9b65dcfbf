"""Whatever an engine calls a file, it is known as the one that the user named."""

from __future__ import annotations

from urllib.parse import quote, urlsplit

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from jobs.errors import InputError
from jobs.input_files import RemoteFile, find_inputs, refuse_shared
from jobs.input_split import input_split, numbers_of_files, reads_one_of
from jobs.spark_harness import told_lines
from lsh_core.settings import Settings

HOSTS = ("", "nn", "nn:8020", "table")
names = st.builds(
    "{}://{}{}".format, st.sampled_from(["hdfs", "viewfs", "s3"]), st.sampled_from(HOSTS),
    st.sampled_from(["/a", "/a b", "/a%20b", "/a%2520b", "/b/a", "/nn/a", "/é"]))


@given(st.lists(names, unique=True), st.integers(0, 3), st.sampled_from(HOSTS[1:]))
def test_each_name_of_an_engine_leads_back_to_its_own_file(uris: list[str], num_own: int, default_host: str) -> None:
    own, against = uris[:num_own], uris[num_own:]
    try:
        refuse_shared(*(find_inputs(part, Settings(), one_file) if part else [] for part in (own, against)))
    except InputError:
        assume(False)
    uploaded = ["hdfs:///user/me/files/a", "hdfs:///user/me/files/made-up"]
    number_of = numbers_of_files([uri] for uri in (*uris, *uploaded))
    for number, uri in enumerate((*uris, *uploaded)):
        there = with_host(uri, default_host)
        for told in (there, told_by_spark(there)):
            assert number_of(told) == number
            with pytest.MonkeyPatch.context() as patches:
                patches.setenv("mapreduce_map_input_file", told)
                assert reads_one_of([*against, "made-up"]) == (uri in (*against, uploaded[1]))


def one_file(uri: str) -> list[RemoteFile]:
    return [RemoteFile(uri, 7)]


def with_host(uri: str, host: str) -> str:
    """As a file system calls its file that was named without its host."""
    return uri if urlsplit(uri).netloc else uri.replace("://", f"://{host}")


def told_by_spark(uri: str) -> str:
    """What tasks of Spark are told, which has addresses as URIs have them."""
    with pytest.MonkeyPatch.context() as patches:
        patches.setenv("mapreduce_map_input_file", "")
        patches.setenv("mapreduce_map_input_start", "")
        list(told_lines(iter([(b"line", quote(uri, safe=":/é"), 0)])))
        return input_split().file


@pytest.mark.parametrize("told", ["file:///tmp/a.jsonl", "file:/tmp/a.jsonl", "/tmp/a.jsonl", "hdfs://nn/tmp/a.jsonl"])
def test_a_local_file_is_known_where_it_is_and_where_it_was_uploaded(told: str) -> None:
    assert numbers_of_files([["/tmp/b.jsonl", "b.jsonl"], ["/tmp/a.jsonl", "a.jsonl"]])(told) == 1
    assert numbers_of_files([["/tmp/b.jsonl", "b.jsonl"]])(told) == 1
    assert numbers_of_files([])(told) == 0


def test_a_table_of_mounts_may_have_no_name() -> None:
    assert numbers_of_files([["viewfs:///a"]])("viewfs:/a") == 0
