"""Inputs of every kind become files of lines that hold what the user gave."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import os
import stat
import sys
import threading
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.errors import InputError, MissingExtra, OutputError
from jobs.input_files import RemoteFile
from jobs.readers import Source, escape_bytes
from lsh_core.document import parse_line
from lsh_core.errors import BadUtf8
from lsh_core.settings import Settings
from tests.passes import open_inputs


@pytest.fixture
def tmp_dir(tmp_path: Path) -> Path:
    """An empty folder for temporary files."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    return folder


def lines_of(source: Source) -> list[bytes]:
    return Path(source.path).read_bytes().splitlines()


def zst(content: bytes) -> bytes:
    return pytest.importorskip("zstandard").ZstdCompressor().compress(content)


class Zeros(io.RawIOBase):
    """A long stream that is never in memory as a whole."""

    def __init__(self, num_bytes: int) -> None:
        self.num_bytes = num_bytes

    def read(self, size: int = -1) -> bytes:
        size = min(size, self.num_bytes)
        self.num_bytes -= size
        return b"0" * size


@pytest.mark.parametrize("name", ["a.jsonl", "a.txt", "a", "a.jsonl.gz", "a.tsv.bz2", "empty.jsonl"])
def test_line_files_pass_as_they_are(tmp_path: Path, tmp_dir: Path, monkeypatch: Any, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_bytes(b"" if "empty" in name else b"any bytes")
    assert open_inputs([name], Settings(), tmp_dir) == [Source(name, str(tmp_path / name))]
    assert list(tmp_dir.iterdir()) == []


def test_standard_input_is_copied(tmp_dir: Path) -> None:
    (source,) = open_inputs(["-"], Settings(format="tsv"), tmp_dir, io.BytesIO(b"1\ta\xff\n2\tb"))
    assert (source.name, source.place(17)) == ("-", "standard input:17")
    assert Path(source.path).read_bytes() == b"1\ta\xff\n2\tb"


def test_a_pipe_is_copied(tmp_path: Path, tmp_dir: Path) -> None:
    pipe = tmp_path / "pipe.csv.gz"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=[gzip.compress(b"id,text\n1,a\n")])
    writer.start()
    (source,) = open_inputs([str(pipe)], Settings(), tmp_dir)
    writer.join()
    assert lines_of(source) == [b'{"id": "1", "text": "a"}']


def test_files_at_addresses_have_the_size_that_was_told(tmp_path: Path, tmp_dir: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b"12345")
    sources = open_inputs(["s3://bucket/x.gz", str(tmp_path / "a.jsonl"), "-"], Settings(), tmp_dir,
                          io.BytesIO(b"678"), lambda uri: [RemoteFile(uri, 10**12)])
    assert sources[0] == Source("s3://bucket/x.gz", "s3://bucket/x.gz", remote_bytes=10**12)
    assert [source.num_bytes for source in sources] == [10**12, 5, 3]


@pytest.mark.parametrize(("name", "packing"), [
    ("a[1].jsonl", ""), ("a,b.jsonl", ""), ("_a.jsonl", ""), (".a.jsonl", ""), ("caf\udce9.jsonl", ""),
    ("a b{c}*.tsv.gz", ".gz"), ("A.JSONL.GZ", ".gz"), ("é.bz2", ".bz2"),
])  # fmt: skip
def test_names_engines_misread_are_linked(tmp_path: Path, tmp_dir: Path, name: str, packing: str) -> None:
    (tmp_path / name).write_bytes(b"any bytes")
    (source,) = open_inputs([str(tmp_path / name)], Settings(), tmp_dir)
    assert os.path.realpath(source.path) == str(tmp_path / name)
    folder, base = os.path.split(source.path)
    assert (os.path.dirname(folder), base) == (str(tmp_dir), "lines" + packing)
    assert source.name.encode().decode() == source.place(1)[:-2]


PACKERS = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".zst": zst}


@pytest.mark.parametrize("packing", PACKERS)
def test_packed_csv_is_read(tmp_path: Path, tmp_dir: Path, packing: str) -> None:
    path = tmp_path / f"corpus.csv{packing}"
    path.write_bytes(PACKERS[packing](b"id,text\n1,a\n2,caf\xe9\n"))
    (source,) = open_inputs([str(path)], Settings(), tmp_dir)
    assert lines_of(source) == [b'{"id": "1", "text": "a"}', b'{"id": "2", "text": "caf\xe9"}']
    assert source.place(2) == f"{path}, row 2"
    assert list(tmp_dir.iterdir()) == [Path(source.path)]


@pytest.mark.parametrize("packing", PACKERS)
def test_packed_parquet_is_read(tmp_path: Path, tmp_dir: Path, packing: str) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    buffer = io.BytesIO()
    pytest.importorskip("pyarrow.parquet").write_table(pyarrow.table({"id": [7], "text": ["a"]}), buffer)
    path = tmp_path / f"corpus.parquet{packing}"
    path.write_bytes(PACKERS[packing](buffer.getvalue()))
    (source,) = open_inputs([str(path)], Settings(), tmp_dir)
    assert lines_of(source) == [b'{"id": 7, "text": "a"}']
    assert source.place(1) == f"{path}, row 1"


def test_zst_lines_are_unpacked_with_all_their_frames(tmp_path: Path, tmp_dir: Path) -> None:
    path = tmp_path / "corpus.tsv.zst"
    noise = os.urandom(100_000).hex().encode()
    path.write_bytes(zst(b"1\ta\n") + zst(noise) + zst(b"\n2\tb\n"))
    (source,) = open_inputs([str(path)], Settings(format="tsv"), tmp_dir)
    assert Path(source.path).read_bytes() == b"1\ta\n" + noise + b"\n2\tb\n"
    assert source.place(2) == f"{path}:2"


@pytest.mark.parametrize("packing", [".gz", ".bz2", ".zst"])
@pytest.mark.parametrize("damage", [lambda packed: packed[:-6], lambda packed: b"not packed at all"])
def test_damaged_files_are_refused(tmp_path: Path, tmp_dir: Path, packing: str, damage: Any) -> None:
    path = tmp_path / f"corpus.csv{packing}"
    path.write_bytes(damage(PACKERS[packing](b"id,text\n" + b"1,a\n" * 1000)))
    with pytest.raises(InputError, match=rf"corpus\.csv{packing}"):
        open_inputs([str(path)], Settings(), tmp_dir)


def test_zst_without_its_library_names_the_extra(tmp_path: Path, tmp_dir: Path, monkeypatch: Any) -> None:
    (tmp_path / "a.zst").write_bytes(b"")
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(MissingExtra, match=r"needs zstandard: pip install zstandard"):
        open_inputs([str(tmp_path / "a.zst")], Settings(), tmp_dir)


@given(text=st.text(st.characters(exclude_categories=["Cs"])))
def test_escaped_bytes_are_the_inside_of_a_json_string(text: str) -> None:
    escaped = escape_bytes(text.encode())
    assert json.loads(b'"%s"' % escaped) == text
    assert len(escaped.splitlines()) <= 1


def test_every_byte_is_escaped_as_json_asks() -> None:
    for code in range(128):
        assert json.loads(b'"%s"' % escape_bytes(bytes([code]))) == chr(code)


def test_a_folder_of_texts_is_one_file_of_documents(tmp_path: Path, tmp_dir: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "corpus/b").mkdir(parents=True)
    texts = {"a.txt": 'é "q"\\\r\n\0', "b/empty": "", "b/x.txt": "x" * 3_000_000, "c.md": "😀\u2028\x7f"}
    for name, text in texts.items():
        (tmp_path / "corpus" / name).write_bytes(text.encode())
    (tmp_path / "corpus/z.jsonl").write_bytes(b"{}")
    folder, lines = open_inputs(["corpus"], Settings(id_field="key", text_field='b"ody'), tmp_dir)
    assert [json.loads(line) for line in lines_of(folder)] == [
        {"key": name, 'b"ody': text} for name, text in texts.items()
    ]
    assert [folder.place(i + 1) for i in range(4)] == [f"corpus/{name}" for name in texts]
    assert (folder.name, lines) == ("corpus", Source("corpus/z.jsonl", str(tmp_path / "corpus/z.jsonl")))


@pytest.mark.parametrize(("content", "text"), [
    (b"\xef\xbb\xbfa", "a"), (b"\xef\xbb\xbf", ""), (b"a\xef\xbb\xbf", "a\ufeff"), (b"ab", "ab"),
])  # fmt: skip
def test_texts_lose_a_bom_at_their_start(tmp_path: Path, tmp_dir: Path, content: bytes, text: str) -> None:
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus/a.txt").write_bytes(content)
    (source,) = open_inputs([str(tmp_path / "corpus")], Settings(id_field=None), tmp_dir)
    assert [json.loads(line) for line in lines_of(source)] == [{"text": text}]


def test_bad_utf8_in_a_text_or_its_name_spoils_its_line_alone(tmp_path: Path, tmp_dir: Path) -> None:
    (tmp_path / "corpus").mkdir()
    for name, content in (("a.txt", b"caf\xe9"), ("b\udce9.txt", b"fine"), ("c.txt", b"fine")):
        (tmp_path / "corpus" / name).write_bytes(content)
    (source,) = open_inputs([str(tmp_path / "corpus")], Settings(), tmp_dir)
    bad_text, bad_name, good = lines_of(source)
    for bad in (bad_text, bad_name):
        with pytest.raises(BadUtf8):
            parse_line(bad, Settings())
    assert parse_line(good, Settings())[:2] == ("c.txt", "fine")
    assert source.place(2) == f"{tmp_path}/corpus/b\\xe9.txt"


def test_temporary_files_are_private_and_have_names_of_our_own(tmp_path: Path, tmp_dir: Path) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret/secret.txt").write_text("x")
    (tmp_path / "secret.csv.gz").write_bytes(gzip.compress(b"id,text\n"))
    inputs = ["-", str(tmp_path / "secret"), str(tmp_path / "secret.csv.gz")]
    sources = open_inputs(inputs, Settings(), tmp_dir, io.BytesIO())
    assert sorted(Path(source.path) for source in sources) == sorted(tmp_dir.iterdir())
    for path in tmp_dir.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert "secret" not in path.name


def test_unreadable_files_are_refused(tmp_path: Path, tmp_dir: Path) -> None:
    (tmp_path / "loop.jsonl").symlink_to("loop.jsonl")
    (tmp_path / "broken.csv").symlink_to("absent")
    (tmp_path / "closed.jsonl").touch(mode=0)
    (tmp_path / "folder/closed").mkdir(parents=True)
    (tmp_path / "folder/closed").chmod(0)
    needs_permission = ["closed.jsonl", "folder"] if os.geteuid() else []  # root may read everything
    for name in ["loop.jsonl", "broken.csv", *needs_permission]:
        with pytest.raises(InputError, match=f"cannot read .*{name}"):
            open_inputs([str(tmp_path / name)], Settings(), tmp_dir)


def test_a_folder_that_cannot_be_written_is_not_called_an_input(tmp_path: Path) -> None:
    (tmp_path / "_a.jsonl").touch()
    for given_name in ("-", str(tmp_path / "_a.jsonl")):
        with pytest.raises(OutputError, match="absent"):
            open_inputs([given_name], Settings(), tmp_path / "absent", io.BytesIO())


@pytest.mark.parametrize("kind", ["stdin", "folder", "zst"])
def test_memory_does_not_grow_with_the_input(tmp_path: Path, tmp_dir: Path, kind: str) -> None:
    num_bytes = 2**26
    (tmp_path / "corpus").mkdir()
    path = {"stdin": Path("-"), "folder": tmp_path / "corpus", "zst": tmp_path / "a.zst"}[kind]
    if kind == "folder":
        (path / "a.txt").write_bytes(b"0" * num_bytes)
    elif kind == "zst":
        path.write_bytes(zst(os.urandom(2**10) * (num_bytes // 2**10)))
    tracemalloc.start()
    try:
        (source,) = open_inputs([str(path)], Settings(), tmp_dir, Zeros(num_bytes))  # type: ignore[arg-type]
        peak_bytes = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert source.num_bytes >= num_bytes
    assert peak_bytes < num_bytes
