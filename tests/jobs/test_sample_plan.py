"""Which documents a sample has: groups, order, and specifications that cannot be met."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.sample_plan import MAX_GROUP_DOCS, SampleSpec, draw_group_sizes, make_plan, make_texts
from lsh_core.errors import SettingsError


@given(st.lists(st.integers(0, 199), max_size=12))
def test_a_text_depends_on_its_number_alone(numbers: list[int]) -> None:
    spec = SampleSpec(num_docs=200, near_share=0.8, num_template=20, num_equal=5)
    plan = make_plan(spec)
    whole = make_texts(spec, plan, np.arange(200)).texts
    assert make_texts(spec, plan, np.array(numbers, np.int64)).texts == [whole[number] for number in numbers]


@given(st.integers(0, 5000), st.integers(0, 2**64 - 1))
def test_group_sizes_make_up_the_documents(num_docs: int, seed: int) -> None:
    sizes = draw_group_sizes(num_docs, seed)
    assert sizes.sum() == (num_docs if num_docs > 1 else 0)
    assert np.all(sizes >= 2)
    assert sizes.max(initial=2) <= max(2, num_docs // 10) + 1


def test_group_sizes_have_a_heavy_tail() -> None:
    sizes = draw_group_sizes(16_000, seed=1)
    assert np.mean(sizes <= 4) > 0.7
    assert np.sum((sizes >= 10) & (sizes < 100)) > 50
    assert 100 < sizes.max() <= MAX_GROUP_DOCS


def test_plan_is_a_permutation() -> None:
    plan = make_plan(SampleSpec(num_docs=1000))
    assert sorted(plan.number_at.tolist()) == list(range(1000))
    assert plan.position_of[plan.number_at].tolist() == list(range(1000))
    assert len(set(plan.keys.tolist())) == 1000


@pytest.mark.parametrize(
    "values",
    [
        {"num_docs": -1},
        {"num_docs": 1.5},
        {"num_docs": True},
        {"num_docs": 10, "seed": -1},
        {"num_docs": 10, "seed": 2**64},
        {"num_docs": 10, "mean_chars": 0},
        {"num_docs": 10, "mean_chars": 10**7},
        {"num_docs": 10, "near_share": -0.1},
        {"num_docs": 10, "near_share": 1.1},
        {"num_docs": 10, "near_share": math.nan},
        {"num_docs": 10, "near_share": "much"},
        {"num_docs": 10, "num_template": -1},
        {"num_docs": 10, "num_equal": 11},
        {"num_docs": 10, "num_template": 6, "num_equal": 5},
    ],
)
def test_bad_specs_are_refused(values: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match="must be"):
        SampleSpec(**values)
