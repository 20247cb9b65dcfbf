"""Lines that are held are those of a dict, in memory and in a file."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import jobs.held_lines
from jobs.held_lines import held_lines
from jobs.kept_lines import MEMBER, CompanyLine

records = st.builds(
    lambda doc_id, line: CompanyLine(b"[0]", MEMBER, doc_id, b"0", b"", b"digest", line),
    st.sampled_from([b'"a"', b'"b"', b'"c"']), st.binary(max_size=9).map(lambda line: line.replace(b"\n", b"\t")))


def test_empty() -> None:
    with held_lines() as held:
        assert list(held) == [] and held.get(b'"a"') is None


@given(st.lists(records), st.sampled_from([1, 100, jobs.held_lines.HELD_BYTES]))
def test_held_lines_are_those_of_a_dict(some: list[CompanyLine], held_bytes: int) -> None:
    expected: dict[bytes, CompanyLine] = {}
    with pytest.MonkeyPatch.context() as patches:
        patches.setattr(jobs.held_lines, "HELD_BYTES", held_bytes)
        with held_lines() as held:
            for record in some:
                assert held.get(record.id_json) == expected.get(record.id_json)
                held.put(record)
                expected[record.id_json] = record
                assert list(held) == list(expected.values())
