"""Members of clusters as a file: found again by their ids, and refused where the file is not whole."""

from __future__ import annotations

import io
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.keepers import members_of
from jobs.members import NOBODY, BadMembers, Members, read_members, write_members
from tests.cleaning import kept_cluster
from tests.links import NASTY_IDS

FEW = members_of([kept_cluster("abc", "b", [("a", 0.9)]), kept_cluster("de", "d")])


def content_of(members: Members) -> bytes:
    file = io.BytesIO()
    write_members(file, members)
    return file.getvalue()


def read_again(content: bytes) -> Members:
    with tempfile.NamedTemporaryFile() as file:
        file.write(content)
        file.flush()
        return read_members(file.name)


def test_empty() -> None:
    nobody = read_again(content_of(members_of([])))
    assert [len(column) for column in nobody] == [0] * 5
    assert nobody.find([]).tolist() == []
    assert nobody.find(["a", ""]).tolist() == [NOBODY, NOBODY]


@given(st.lists(st.sampled_from(NASTY_IDS), unique=True), st.lists(st.one_of(st.sampled_from(NASTY_IDS), st.text())))
def test_members_are_found_by_their_ids(doc_ids: list[str], wanted: list[str]) -> None:
    members = read_again(content_of(members_of([kept_cluster([doc_id], doc_id) for doc_id in doc_ids])))
    rows = members.find(wanted).tolist()
    found = [None if row == NOBODY else doc_ids[members.clusters[row]] for row in rows]
    assert found == [doc_id if doc_id in doc_ids else None for doc_id in wanted]


def test_a_file_has_all_that_was_written() -> None:
    for found, written in zip(read_again(content_of(FEW)), FEW):
        assert found.dtype == written.dtype
        assert np.array_equal(found, written, equal_nan=found.dtype == np.float64)


def test_a_file_that_is_cut_short_is_refused() -> None:
    content = content_of(FEW)
    for end in range(len(content)):
        with pytest.raises(BadMembers, match="is not a file of members"):
            read_again(content[:end])


def test_another_file_is_refused() -> None:
    array, few_columns = io.BytesIO(), io.BytesIO()
    np.save(array, FEW.clusters)
    np.savez(few_columns, *FEW[:2])
    for content in (b"", b'{"id": "x"}', array.getvalue(), few_columns.getvalue()):
        with pytest.raises(BadMembers, match="is not a file of members"):
            read_again(content)


def test_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadMembers, match="No such file"):
        read_members(str(tmp_path / "members"))
