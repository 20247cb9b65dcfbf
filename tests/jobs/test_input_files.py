"""Names on the command line and the files that they stand for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from jobs.errors import InputError, RemoteError
from jobs.input_files import Found, RemoteFile, find_inputs, refuse_shared, shown
from lsh_core.settings import Settings


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def fill(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x")


def one_file(uri: str) -> list[RemoteFile]:
    """What an engine would find at an address that names a file."""
    return [RemoteFile(uri, 7)]


def found_paths(*inputs: str) -> list[str]:
    return [path for item in find_inputs(inputs, Settings()) for _, path in item.files()]


def test_no_inputs_are_refused() -> None:
    with pytest.raises(InputError, match="no input"):
        find_inputs([], Settings())


@pytest.mark.parametrize("given", ["absent.jsonl", "", "absent/", "absent*.jsonl", "absent/**"])
def test_names_of_nothing_are_refused(here: Path, given: str) -> None:
    fill(here, "present.jsonl")
    with pytest.raises(InputError) as caught:
        find_inputs(["present.jsonl", given], Settings())
    assert repr(given) in str(caught.value)


def test_patterns_are_expanded_in_order(here: Path) -> None:
    fill(here, "b.jsonl", "a.jsonl", "c.txt", ".hidden.jsonl", "deep/er/d.jsonl")
    assert found_paths("*.jsonl") == ["a.jsonl", "b.jsonl"]
    assert found_paths("c.txt", "[ab].jsonl") == ["c.txt", "a.jsonl", "b.jsonl"]
    assert found_paths("**/*.jsonl") == ["a.jsonl", "b.jsonl", "deep/er/d.jsonl"]
    assert found_paths("deep/**") == ["deep/er/d.jsonl"]


def test_what_an_interrupted_run_left_is_no_input(here: Path) -> None:
    fill(here, "a.jsonl", "b.partial/b.jsonl", "out.partial/state.json", "out.partial/result/kept.jsonl")
    assert found_paths(".") == ["./a.jsonl", "./b.partial/b.jsonl"]
    assert found_paths("*.jsonl") == ["a.jsonl"]
    assert found_paths("*") == found_paths("**") == found_paths("**/*.jsonl") == ["a.jsonl", "b.partial/b.jsonl"]
    for given in ("out.partial", "out.partial/", "out.partial/result", "out.partial/result/kept.jsonl"):
        with pytest.raises(InputError, match=f"^{given} is left of an interrupted run, and is no input; --resume"):
            find_inputs([given], Settings())
    with pytest.raises(InputError, match="nothing matches"):
        find_inputs(["out.part*"], Settings())


def test_a_file_whose_name_looks_like_a_pattern_is_itself(here: Path) -> None:
    fill(here, "a[1].jsonl", "a1.jsonl")
    assert found_paths("a[1].jsonl") == ["a[1].jsonl"]


def test_a_file_uri_is_a_local_path(here: Path) -> None:
    fill(here, "a b.csv")
    assert found_paths(f"file://{here}/a%20b.csv") == [f"{here}/a b.csv"]


@pytest.mark.parametrize("inputs", [
    ["a.jsonl", "a.jsonl"],
    ["a.jsonl", "./a.jsonl"],
    ["a.jsonl", "*.jsonl"],
    ["a.jsonl", "link.jsonl"],
    ["a.jsonl", "."],
    ["folder", "folder/note.txt"],
    ["folder", "folder/"],
    ["-", "-"],
    ["hdfs:///x", "hdfs:///x"],
])  # fmt: skip
def test_the_same_file_twice_is_refused(here: Path, inputs: list[str]) -> None:
    fill(here, "a.jsonl", "folder/note.txt")
    if "link.jsonl" in inputs:
        (here / "link.jsonl").symlink_to("a.jsonl")
    with pytest.raises(InputError, match=r"named twice|same file"):
        find_inputs(inputs, Settings(), one_file)


@pytest.mark.parametrize(("one", "other"), [
    ("hdfs:///x", "hdfs://nn:8020/x"), ("hdfs://nn2/x", "hdfs:///x"), ("viewfs:///x", "viewfs://table/x")])
def test_a_file_that_may_be_named_twice_is_refused(one: str, other: str) -> None:
    said = f"^{one} and {other} may be the same file: name both with their host$"
    with pytest.raises(InputError, match=said):
        find_inputs([one, other], Settings(), one_file)
    found, against = (find_inputs([uri], Settings(), one_file) for uri in (one, other))
    with pytest.raises(InputError, match=said):
        refuse_shared(found, against)


def test_files_of_other_hosts_are_others() -> None:
    inputs = ["hdfs://nn/x", "hdfs://nn2/x", "hdfs:///y", "viewfs:///x", "s3://a/x", "s3://b/x"]
    assert len(find_inputs(inputs, Settings(), one_file)) == len(inputs)
    refuse_shared(find_inputs(inputs[::2], Settings(), one_file), find_inputs(inputs[1::2], Settings(), one_file))


@pytest.mark.parametrize("uri", [
    "hdfs:///corpus", "hdfs://host/a/*.jsonl", "s3://bucket/a.jsonl.gz", "S3A://bucket/a.bz2", "gs://b/a.txt",
])  # fmt: skip
def test_an_address_becomes_the_files_that_an_engine_finds(uri: str) -> None:
    files = [RemoteFile(f"{uri}/part-0", 3), RemoteFile(f"{uri}/part-1", 0)]
    assert find_inputs([uri], Settings(), lambda _: files) == [
        Found(file.uri, file.uri, remote_bytes=file.num_bytes) for file in files]


@pytest.mark.parametrize(("address", "others"), [
    ("hdfs:///x", "; -r hadoop and spark do"), ("S3://b/x", "; -r emr does"), ("s3a://b/x", "; -r spark does"),
    ("gs://b/x", "")])
def test_an_address_is_refused_where_no_engine_reads(address: str, others: str) -> None:
    said = f"^{address} is an address, which -r inline and local do not take{others}$"
    with pytest.raises(RemoteError, match=said):
        find_inputs([address], Settings())


@pytest.mark.parametrize("ending", [".csv", ".CSV", ".csv.gz", ".parquet", ".zst", ".jsonl.zst"])
@pytest.mark.parametrize("given", ["s3://bucket/corpus{}", "s3://bucket/*"])
def test_remote_files_that_the_driver_would_convert_are_refused(given: str, ending: str) -> None:
    with pytest.raises(InputError, match="local paths only") as caught:
        find_inputs([given.format(ending)], Settings(), lambda _: [RemoteFile("s3://bucket/corpus" + ending, 1)])
    assert "s3://bucket/corpus" + ending in str(caught.value)


def test_a_folder_is_its_texts_together_and_its_other_files_each(here: Path) -> None:
    lines_and_tables = ["a.csv", "b/x.jsonl.gz", "b/y.JSON", "p.parquet", "t.tsv.zst", "z.ndjson.bz2"]
    fill(here / "corpus", *reversed(lines_and_tables), "b/note.txt", "README", "b.md", "old.txt.gz")
    texts, *others = find_inputs(["corpus"], Settings())
    assert texts == Found("corpus", "corpus", ("README", "b.md", "b/note.txt", "old.txt.gz"))
    assert others == [Found(f"corpus/{name}", f"corpus/{name}") for name in lines_and_tables]


def test_hidden_files_links_to_folders_and_pipes_are_skipped(here: Path) -> None:
    fill(here, "corpus/a.txt", "corpus/.b.txt", "corpus/.git/c.txt", "elsewhere/d.txt")
    (here / "corpus/loop").symlink_to(here / "corpus")
    (here / "corpus/folder_link").symlink_to(here / "elsewhere")
    (here / "corpus/link.txt").symlink_to(here / "elsewhere/d.txt")
    (here / "corpus/broken.txt").symlink_to(here / "absent")
    os.mkfifo(here / "corpus/pipe")
    assert found_paths("corpus") == ["corpus/a.txt", "corpus/link.txt"]


def test_a_hidden_folder_or_a_link_is_read_when_named(here: Path) -> None:
    fill(here, ".corpus/a.txt")
    (here / "link").symlink_to(".corpus")
    assert found_paths(".corpus") == [".corpus/a.txt"]
    assert found_paths("link") == ["link/a.txt"]


@pytest.mark.parametrize("names", [(), (".hidden",), (".git/config",)])
def test_a_folder_without_files_is_refused(here: Path, names: tuple[str, ...]) -> None:
    (here / "corpus").mkdir()
    fill(here / "corpus", *names)
    with pytest.raises(InputError, match="corpus"):
        find_inputs(["corpus"], Settings())


@pytest.mark.parametrize("given", ["a.csv", "a.csv.gz", "a.parquet", "folder"])
@pytest.mark.parametrize("format_name", ["tsv", "text", "shingled"])
def test_what_becomes_json_lines_needs_that_format(here: Path, given: str, format_name: str) -> None:
    fill(here, "folder/note.txt", *([given] if "." in given else []))
    assert find_inputs([given], Settings())
    with pytest.raises(InputError, match=f"{given}.*{format_name}"):
        find_inputs([given], Settings(format=format_name))


def test_lines_may_be_of_any_format(here: Path) -> None:
    fill(here, "a.tsv", "a.txt.zst", "folder/b.tsv")
    assert len(find_inputs(["-", "a.tsv", "a.txt.zst", "folder", "s3://b/x"], Settings(format="tsv"), one_file)) == 5


@pytest.mark.parametrize(("address", "masked"), [
    ("s3://AKIA:abc/def@bucket/x", "s3://AKIA:***@bucket/x"),
    ("S3A://AKIA:12/d:e@f@bucket/x", "S3A://AKIA:***@bucket/x"),
    ("hdfs://me:pass/word@host:8020/x", "hdfs://me:***@host:8020/x"),
    ("hdfs://me:123@host/x", "hdfs://me:***@host/x"),
    ("from s3://:secret@a/b to s3://:secret@c/d", "from s3://:***@a/b to s3://:***@c/d"),
])  # fmt: skip
def test_passwords_in_addresses_are_not_shown(address: str, masked: str) -> None:
    assert shown(address) == masked


@pytest.mark.parametrize("address", ["s3://bucket/a:b@c.jsonl", "hdfs://host:8020/a@b", "hdfs://me@host:8020/x",
                                     "hdfs:///a:b@c", "s3://bucket/a see me@host"])
def test_addresses_without_a_password_are_shown_as_they_are(address: str) -> None:
    assert shown(address) == address
