"""Pieces of files hold all bytes once, end at line ends, and never part the lines of a key."""

from __future__ import annotations

import io
import re
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import jobs.splits
from jobs.errors import InputChanged
from jobs.splits import copied_ranges, line_ranges, open_piece

Ranges = list[tuple[int, int]]

# Lines of no bytes and of many, with CRs, tabs and NULs; the last one may have no end.
PARTS = [b"a", b"\r", b"\t", b"\0", b"\n", b"\r\n", b"b\n", b"x" * 300, b"\xff\n"]
line_contents = st.lists(st.sampled_from(PARTS), max_size=40).map(b"".join)
piece_sizes = st.one_of(st.integers(1, 20), st.integers(1, 1000))


@st.composite
def sorted_records(draw: st.DrawFn) -> bytes:
    """Lines of key, tab and value as a sort leaves them: those of a key follow one another."""
    keys = draw(st.lists(st.sampled_from([b"", b"a", b"ab", b"b", b"b\r", b"long" * 20]), unique=True))
    values = st.lists(st.sampled_from([b"", b"1", b"a\t2", b"\r", b"y" * 200]), min_size=1, max_size=6)
    return b"".join(key + b"\t" + value + b"\n" for key in keys for value in draw(values))


def ranges_of(content: bytes, piece_bytes: int, by_key: bool = False) -> Ranges:
    return list(line_ranges(io.BytesIO(content), piece_bytes, by_key))


def assert_tiles(ranges: Ranges, content: bytes) -> None:
    """The ranges are the whole file, one after another, and none is empty but that of an empty file."""
    assert ranges[0][0] == 0 and ranges[-1][1] == len(content)
    assert all(end == next_start for (_, end), (next_start, _) in zip(ranges, ranges[1:]))
    assert all(start < end for start, end in ranges) or (content == b"" and ranges == [(0, 0)])


def greedy_ends(content: bytes, piece_bytes: int, allowed: list[int]) -> list[int]:
    """Of the places where a piece may end the first that makes it large enough, again and again."""
    ends = [0]
    for end in allowed:
        if end >= ends[-1] + piece_bytes:
            ends.append(end)
    return ends[1:] if ends[-1] == len(content) else [*ends[1:], len(content)]


@pytest.mark.parametrize("by_key", [False, True])
@pytest.mark.parametrize("piece_bytes", [0, 1, 100])
def test_empty(piece_bytes: int, by_key: bool) -> None:
    assert ranges_of(b"", piece_bytes, by_key) == [(0, 0)]


@given(line_contents, piece_sizes)
def test_pieces_end_at_the_first_line_end_that_makes_them_large_enough(content: bytes, piece_bytes: int) -> None:
    ranges = ranges_of(content, piece_bytes)
    assert_tiles(ranges, content)
    line_ends = [match.end() for match in re.finditer(rb"\n", content)]
    assert [end for _, end in ranges] == greedy_ends(content, piece_bytes, line_ends) or not content
    assert all(end - start >= piece_bytes for start, end in ranges[:-1])


@given(sorted_records(), piece_sizes)
def test_the_lines_of_a_key_are_in_one_piece(content: bytes, piece_bytes: int) -> None:
    ranges = ranges_of(content, piece_bytes, by_key=True)
    assert_tiles(ranges, content)
    pieces = [content[start:end] for start, end in ranges]
    assert all(piece.endswith(b"\n") for piece in pieces if piece)
    keys = [{line.split(b"\t")[0] for line in piece.split(b"\n")[:-1]} for piece in pieces]
    assert sum(map(len, keys)) == len(set().union(*keys))
    assert all(len(piece) >= piece_bytes for piece in pieces[:-1])


@given(sorted_records(), piece_sizes)
def test_a_piece_takes_no_more_than_one_key_above_its_size(content: bytes, piece_bytes: int) -> None:
    for start, end in ranges_of(content, piece_bytes, by_key=True):
        lines = re.findall(rb"[^\n]*\n", content[start:end])
        last_key = lines[-1].split(b"\t")[0] if lines else b""
        before_last = [line for line in lines if line.split(b"\t")[0] != last_key]
        assert len(b"".join(before_last)) < piece_bytes + max(map(len, lines), default=1)


@pytest.mark.parametrize(("content", "piece_bytes", "by_key", "expected"), [
    (b"one\ntwo\nthree", 5, False, [(0, 8), (8, 13)]),
    (b"no end", 3, False, [(0, 6)]),
    (b"a\r\nb\r\n", 1, False, [(0, 3), (3, 6)]),
    (b"a\rb\rc\r", 1, False, [(0, 6)]),
    (b"\n\n\n", 1, False, [(0, 1), (1, 2), (2, 3)]),
    (b"a\t1\na\t2\nb\t1\nc\t1\n", 3, True, [(0, 8), (8, 16)]),
    (b"a\t1\na\t2\nab\t1\n", 1, True, [(0, 8), (8, 13)]),
    (b"a\t1\nb\t1\nc\t1\n", 99, True, [(0, 12)]),
    (b"\t1\n\t2\na\t1\n", 2, True, [(0, 6), (6, 10)]),
])
def test_examples(content: bytes, piece_bytes: int, by_key: bool, expected: Ranges) -> None:
    assert ranges_of(content, piece_bytes, by_key) == expected


def test_a_line_much_longer_than_a_piece_is_one_piece() -> None:
    content = b"short\n" + b"x" * 3_000_000 + b"\nshort\n"
    assert ranges_of(content, 10) == [(0, 3_000_007), (3_000_007, 3_000_013)]
    assert ranges_of(content, 6) == [(0, 6), (6, 3_000_007), (3_000_007, 3_000_013)]


# Copies


@given(line_contents, piece_sizes, st.integers(1, 50))
def test_copies_joined_are_the_source(content: bytes, piece_bytes: int, chunk_bytes: int) -> None:
    source, targets = io.BytesIO(content), [_Kept() for _ in range(len(content) + 1)]
    with pytest.MonkeyPatch.context() as patches:
        patches.setattr(jobs.splits, "CHUNK_BYTES", chunk_bytes)
        # Ranges are found while others are copied, as the runners do it.
        ranges = list(copied_ranges(source, line_ranges(source, piece_bytes), iter(targets)))
    assert ranges == ranges_of(content, piece_bytes)
    assert [target.kept for target in targets if target.closed] == [content[start:end] for start, end in ranges]


class _Kept(io.BytesIO):
    """A file whose bytes are still there when it is closed."""

    def close(self) -> None:
        if not self.closed:
            self.kept = self.getvalue()
        super().close()


@pytest.mark.parametrize("by_key", [False, True])
def test_files_are_made_as_they_are_needed(by_key: bool, tmp_path: Path) -> None:
    content = b"".join(b"%06d\t%d\n" % (number // 3, number) for number in range(200_000))
    (tmp_path / "source").write_bytes(content)

    targets = (open(tmp_path / f"piece{number}", "wb") for number in range(10))  # noqa: SIM115
    with open(tmp_path / "source", "rb") as source:
        ranges = list(copied_ranges(source, line_ranges(source, len(content) // 4, by_key), targets))
    pieces = sorted(path for path in tmp_path.iterdir() if path.name != "source")
    assert len(pieces) == len(ranges) == 4
    assert b"".join(path.read_bytes() for path in pieces) == content


# Pieces read where they are


@given(line_contents, piece_sizes, st.integers(1, 50))
def test_pieces_read_one_after_another_are_the_source(content: bytes, piece_bytes: int, chunk_bytes: int) -> None:
    for start, end in ranges_of(content, piece_bytes):
        file = open_piece(io.BytesIO(content), start, end)
        assert b"".join(iter(partial(file.read, chunk_bytes), b"")) == content[start:end]
        assert list(open_piece(io.BytesIO(content), start, end)) == list(io.BytesIO(content[start:end]))
        assert open_piece(io.BytesIO(content), start, end).read() == content[start:end]


def test_a_file_that_was_cut_meanwhile_is_no_end_of_a_piece() -> None:
    with pytest.raises(InputChanged):
        open_piece(io.BytesIO(b"one\ntwo\n"), 4, 9).read()
