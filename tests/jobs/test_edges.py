"""Lines of edges: what is written is read again, and bytes sort as ids do."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.edges import (
    decode_edge,
    decode_id,
    decode_link,
    decode_ranked,
    encode_edge,
    encode_id,
    encode_ranked,
    read_edges,
)
from jobs.errors import InputError
from jobs.records import decode_counts
from tests.links import NASTY_IDS, links_of

ids = st.one_of(st.sampled_from(NASTY_IDS), st.text(st.sampled_from("\0\x01\t\n\r\x0e\x0f )a"), min_size=1, max_size=4),
                st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=4))
pairs = st.tuples(ids, ids).filter(lambda pair: pair[0] < pair[1])


def test_empty() -> None:
    found, edges = read_edges([])
    assert found == [] and [len(column) for column in edges] == [0, 0, 0]


@given(ids)
def test_an_encoded_id_is_read_again_and_ends_no_field(doc_id: str) -> None:
    assert decode_id(encode_id(doc_id)) == doc_id
    assert min(encode_id(doc_id)) > ord("\r") > ord("\t")


@given(ids, ids, ids)
def test_lines_of_edges_sort_as_ids_do(one: str, other: str, third: str) -> None:
    one_line, other_line = (encode_edge(encode_id(third), encode_id(doc_id)) for doc_id in (one, other))
    assert (one_line < other_line) == (one < other) == (encode_id(one) < encode_id(other))
    assert (encode_edge(encode_id(one), b"x") < encode_edge(encode_id(other), b"x")) == (one < other)


@given(pairs)
def test_a_link_is_an_edge(pair: tuple[str, str]) -> None:
    [line] = links_of([pair])
    assert decode_link(line) == (*pair, 0.875)
    smaller, larger = decode_edge(line)
    assert (decode_id(smaller), decode_id(larger)) == pair
    assert decode_edge(encode_edge(larger, smaller)) == (smaller, larger)
    assert decode_counts(encode_edge(larger, smaller)) is None


@given(st.lists(st.tuples(ids, ids, st.sampled_from([1.0, 0.8, 0.0]) | st.floats(0, 1)), max_size=20))
def test_ranked_links_sort_by_similarity_and_ids(links: list[tuple[str, str, float]]) -> None:
    expected = sorted(links, key=lambda link: (-link[2], *link[:2]))
    assert list(map(decode_ranked, sorted(encode_ranked(*link) for link in links))) == expected


@given(st.lists(pairs, max_size=20))
def test_edges_are_between_the_numbers_of_sorted_ids(links: list[tuple[str, str]]) -> None:
    found, edges = read_edges(links_of(links))
    assert found == sorted({doc_id for pair in links for doc_id in pair})
    assert [(found[a], found[b], similarity) for a, b, similarity in zip(*edges)] == [(*pair, 0.875) for pair in links]


@pytest.mark.parametrize("line", [
    b"", b"x", b"\xff", b"[]", b'{"a": "x", "b": "y"}', b'{"a": "y", "b": "x", "similarity": 1.0}',
    b'{"a": "x", "b": "x", "similarity": 1.0}', b'{"a": "", "b": "x", "similarity": 1.0}',
    b'{"a": 1, "b": 2, "similarity": 1.0}', b'{"a": "x", "b": "y", "similarity": null}', b"x\ty"])
def test_other_lines_are_refused(line: bytes) -> None:
    with pytest.raises(InputError, match=r"^not a link: b.*; it must be an object of two ids, a < b"):
        decode_link(line)
