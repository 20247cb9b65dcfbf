"""Documents, copies and repeated ids are counted as dicts and sets count them."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lsh_core.gate import rank_among_equals, take_census
from tests.strategies import uint64s


@given(st.lists(st.one_of(st.integers(0, 4), uint64s), max_size=30))
def test_a_rank_is_the_number_of_equal_values_before(values):
    ranks = rank_among_equals(np.array(values, np.uint64))
    assert ranks.dtype == np.int64
    assert ranks.tolist() == [values[:i].count(value) for i, value in enumerate(values)]


@given(st.lists(st.tuples(st.one_of(st.integers(0, 4), uint64s), st.integers(0, 2)), max_size=30))
def test_a_census_tells_copies_from_ids_of_several_texts(lines):
    ids, texts = (np.array([line[i] for line in lines], np.uint64) for i in (0, 1))
    num_documents, num_copies, repeated_ids, copied_ids = take_census(ids, texts)
    assert (num_documents, num_copies) == (len(set(lines)), len(lines) - len(set(lines)))
    assert repeated_ids.dtype == copied_ids.dtype == np.uint64
    assert copied_ids.tolist() == sorted({doc_id for (doc_id, _), num in Counter(lines).items() if num > 1})
    num_texts = Counter(doc_id for doc_id, _ in set(lines))
    assert repeated_ids.tolist() == sorted(doc_id for doc_id, num in num_texts.items() if num > 1)
