"""Lines are counted up to where an engine cuts a file."""

from __future__ import annotations

import re
import tempfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

import jobs.places
from jobs.places import count_lines, lines_before

contents = st.lists(st.sampled_from([b"a", b"bc", b"\r", b"\n", b"\r\n"])).map(b"".join)


@given(contents, st.integers(0, 60))
def test_pieces_have_all_lines_as_hadoop_cuts_them(content: bytes, start: int) -> None:
    start = min(start, max(len(content) - 1, 0))
    lines = re.findall(rb"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+", content)
    begins = [sum(map(len, lines[:number])) for number in range(len(lines))]
    expected = sum(begin <= start for begin in begins) if start else 0
    with tempfile.NamedTemporaryFile() as file:
        file.write(content)
        file.flush()
        assert lines_before(file.name, start) == expected


def test_lines_that_cannot_be_counted_here_are_not() -> None:
    assert [lines_before(path, 0) for path in ("hdfs:///a", "/a.bz2", "/a")] == [0, 0, 0]
    assert [lines_before(path, 9) for path in ("hdfs:///a", "/a.bz2")] == [None, None]


@given(contents, st.integers(1, 4))
def test_the_size_of_chunks_does_not_show(content: bytes, chunk_bytes: int) -> None:
    with pytest.MonkeyPatch.context() as patches:
        patches.setattr(jobs.places, "CHUNK_BYTES", chunk_bytes)
        in_chunks = counted(content + b"\n", len(content) + 1)
    assert in_chunks == len((content + b"\n").splitlines())


def counted(content: bytes, num_bytes: int) -> int:
    with tempfile.NamedTemporaryFile() as file:
        file.write(content)
        file.flush()
        return count_lines(file.name, num_bytes)
