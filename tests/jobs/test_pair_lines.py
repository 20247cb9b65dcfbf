"""Lines of pairs against loops over all documents of two texts."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import jobs.pair_lines
from jobs.bundles import Row, sides_of
from jobs.pair_lines import PairLines
from jobs.records import json_bytes
from jobs.sides import AGAINST, OWN
from lsh_core.check import Candidates

PLAIN = st.sampled_from(["a", "b", "aa", "a!", 'a"', "a\\", "\t", "é", "z", "\U0001f600", "\uffff"])
MARKED = st.tuples(st.sampled_from([AGAINST, OWN]), PLAIN).map("".join)


def row_of(ids: set[str], has_marks: bool = False) -> Row:
    return Row(b"", b"", b"", dict.fromkeys(map(json_bytes, ids)), has_marks=has_marks)


def is_wanted(a: str, b: str, has_marks: bool, only_across: bool) -> bool:
    num_own = (a[0] == OWN) + (b[0] == OWN) if has_marks else 2
    return num_own == 1 or (num_own == 2 and not only_across)


def line_of(a: str, b: str, similarity: float) -> bytes:
    a, b = sorted([a, b])
    return b'{"a": %b, "b": %b, "similarity": %b}' % (json_bytes(a), json_bytes(b), repr(similarity).encode())


def test_empty() -> None:
    lines = PairLines([], sides_of([], False))
    none = np.empty(0, np.int64)
    assert list(lines.inside(none)) == list(lines.between(Candidates(none, none, np.empty(0)))) == []
    assert lines.num_same_id == 0


@given(st.data(), st.booleans(), st.booleans(), st.integers(1, 5))
def test_all_wanted_pairs_of_documents(data: st.DataObject, has_marks: bool, only_across: bool, at_a_time: int) -> None:
    ids_of_row = data.draw(st.lists(st.sets(MARKED if has_marks else PLAIN, min_size=1, max_size=4), max_size=5))
    rows = [row_of(ids, has_marks) for ids in ids_of_row]
    pairs = data.draw(st.lists(st.sampled_from(list(combinations(range(len(rows)), 2)) or [None]), unique=True))
    pairs = [pair for pair in pairs if pair]
    similarities = [0.8 + number % 3 / 30 for number in range(len(pairs))]
    found = [(a, b, similarity) for (i, j), similarity in zip(pairs, similarities)
             for a in ids_of_row[i] for b in ids_of_row[j] if is_wanted(a, b, has_marks, only_across)]
    inside = [(a, b) for ids in ids_of_row for a, b in combinations(ids, 2)
              if is_wanted(a, b, has_marks, only_across)]
    columns = np.array(pairs, np.int64).reshape(-1, 2).T
    with pytest.MonkeyPatch.context() as patches:
        patches.setattr(jobs.pair_lines, "PAIRS_AT_A_TIME", at_a_time)
        lines = PairLines(rows, sides_of(rows, only_across))
        between = list(lines.between(Candidates(*columns, np.array(similarities))))
        assert sorted(between) == sorted(line_of(*pair) for pair in found if pair[0] != pair[1])
        assert lines.num_same_id == sum(a == b for a, b, _ in found)
        assert sorted(lines.inside(np.arange(len(rows)))) == sorted(line_of(a, b, 1.0) for a, b in inside)
