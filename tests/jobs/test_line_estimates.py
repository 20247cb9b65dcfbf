"""The number of lines is estimated by a few pieces of the input."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from jobs.errors import InputError
from jobs.line_estimates import estimated_lines
from jobs.readers import Source

LINES = b"".join(b"line %06d of a file\n" % number for number in range(100_000))


def no_address(uri: str, num_bytes: int) -> bytes:
    raise AssertionError(f"{uri} was read")


def estimate(*paths: Path) -> int:
    return estimated_lines([Source(path.name, str(path)) for path in paths], no_address)


class Store:
    """Files at addresses, and which of them were looked at."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self.files, self.read = files, set[str]()

    def start_of(self, uri: str, num_bytes: int) -> bytes:
        self.read.add(uri)
        return self.files[uri][:num_bytes]

    def estimate(self) -> int:
        sources = [Source(uri, uri, remote_bytes=len(content)) for uri, content in self.files.items()]
        return estimated_lines(sources, self.start_of)


def test_empty(tmp_path: Path) -> None:
    assert estimate() == 0
    (tmp_path / "empty").touch()
    assert estimate(tmp_path / "empty") == 0


def test_lines_are_estimated_by_the_first_ones(tmp_path: Path) -> None:
    plain, packed, one = (tmp_path / name for name in ("a.jsonl", "b.jsonl.gz", "one"))
    for path, content in ((plain, LINES), (packed, gzip.compress(LINES)), (one, b"a line without an end")):
        path.write_bytes(content)
    assert 99_000 < estimate(plain) < 101_000
    assert 50_000 < estimate(packed) < 200_000
    assert estimate(one) == 1
    assert estimate(plain, one) == estimate(plain) + 1


def test_lines_that_end_at_cr_and_a_long_first_line_are_estimated_too(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    for content in (b"line of a file\r" * 100_000, b"x" * 3_000_000 + b"\n" + b"line of a file\n" * 900_000):
        path.write_bytes(content)
        num_lines = content.count(content[-1:])
        assert num_lines / 3 < estimate(path) < 3 * num_lines


def test_the_largest_file_of_each_compression_stands_for_all_at_addresses() -> None:
    store = Store({"hdfs:///a": LINES, "hdfs:///b": LINES[:1000], "hdfs:///empty": b"",
                   "hdfs:///c.gz": gzip.compress(LINES), "hdfs:///d.gz": gzip.compress(LINES[:-100])})
    assert 200_000 < store.estimate() < 500_000
    assert store.read == {"hdfs:///a", "hdfs:///c.gz"}


def test_files_at_addresses_may_be_empty_hard_to_pack_or_cut_short() -> None:
    assert Store({"hdfs:///a": b"", "hdfs:///b.gz": b""}).estimate() == 0
    noise = os.urandom(3 * 2**20)
    assert noise.count(b"\n") / 2 < Store({"s3://b/noise.gz": gzip.compress(noise)}).estimate() < len(noise)
    with pytest.raises(InputError, match=r"cannot read s3://b/cut\.gz: Compressed file ended"):
        Store({"s3://b/cut.gz": gzip.compress(noise[:1000])[:-10]}).estimate()
