"""Policies of keeping: what can be asked for, and the order that it gives."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.keep_policy import KeepPolicy, number_of, order_of
from lsh_core.document import Document
from lsh_core.errors import SettingsError

POLICIES = ("id", "longest", "shortest", "max:score", "min:score", "max:a:b", "min: ")

numbers = st.one_of(st.integers(), st.floats(allow_nan=False, allow_infinity=False))
no_numbers = st.one_of(st.none(), st.booleans(), st.lists(st.integers(), max_size=1), st.just({}),
                       st.sampled_from([math.nan, math.inf, -math.inf, "", "many", "NaN", "Infinity", "1,5", "0x10"]),
                       st.sampled_from(["1_000", "1_0.5", "1e1_0", "\u0661", ".", "+", "e5", "1e", "--1", "1 2"]))


def ranked(policy: str, text: str = "text", **fields: Any) -> Any:
    return KeepPolicy.parse(policy).rank(Document("x", text, fields))


@pytest.mark.parametrize("policy", POLICIES)
def test_a_policy_is_written_as_it_is_read(policy: str) -> None:
    assert str(KeepPolicy.parse(policy)) == policy
    assert KeepPolicy.parse(policy).needs_texts == (policy != "id")


@pytest.mark.parametrize("policy", ["", "ID", "first", "max", "max:", "min:", "longest:", "id:score", ":x"])
def test_other_policies_are_refused(policy: str) -> None:
    with pytest.raises(SettingsError) as caught:
        KeepPolicy.parse(policy)
    assert str(caught.value) == f"keep is {policy!r}; it must be id, longest, shortest, max:FIELD or min:FIELD"


@pytest.mark.parametrize("line_format", ["tsv", "text", "shingled"])
def test_a_field_is_refused_where_lines_have_none(line_format: str) -> None:
    for policy in POLICIES[:3]:
        KeepPolicy.parse(policy).check_format(line_format)
    for policy in POLICIES:
        KeepPolicy.parse(policy).check_format("jsonl")
    with pytest.raises(SettingsError, match=f"keep is 'max:score', and lines of format '{line_format}' have no fields"):
        KeepPolicy.parse("max:score").check_format(line_format)


def test_lengths_are_those_of_the_text_in_characters() -> None:
    assert (ranked("longest", "猫 é"), ranked("shortest", "猫 é"), ranked("id", "猫 é")) == (-3, 3, 0)


@given(st.lists(numbers, max_size=10), st.lists(no_numbers, max_size=3), st.randoms(use_true_random=False))
def test_the_largest_or_smallest_number_comes_first_and_what_is_none_last(
    some: list[Any], others: list[Any], choose: random.Random
) -> None:
    values = [*some, *others]
    choose.shuffle(values)
    for kind, is_reversed in (("max", True), ("min", False)):
        in_order = sorted(values, key=lambda value: order_of(ranked(f"{kind}:score", score=value), ""))
        assert in_order[: len(some)] == sorted(some, reverse=is_reversed)


def test_equals_are_ordered_by_id() -> None:
    for number in (None, 0, -1, 2.5):
        assert order_of(number, "a") < order_of(number, "b")
    assert order_of(ranked("max:score"), "a") > order_of(-(10**400), "b")


@given(numbers)
def test_a_number_that_a_string_spells_is_that_number(number: Any) -> None:
    assert number_of(str(number)) == number_of(f" {number} ") == number_of(number) == number


@pytest.mark.parametrize(("spelled", "number"), [
    ("+7", 7), ("007", 7), ("1.", 1), (".5", 0.5), ("-2.50", -2.5), ("1E3", 1000), ("1e-3", 0.001), ("\t7\n", 7)])
def test_a_number_may_be_spelled_in_several_ways(spelled: str, number: float) -> None:
    assert number_of(spelled) == number


def test_a_number_may_have_any_size() -> None:
    assert number_of(10**400) == number_of("1" + "0" * 400) == 10**400
    assert number_of("1e400") is None
