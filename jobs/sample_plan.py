"""The plan of a generated corpus: which documents belong together, where they go, and what they say."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from jobs.sample_edits import EQUAL, SPACES, TEMPLATE, edited_rows, kinds_of, respaced
from jobs.sample_text import LATIN, mean_num_terms, num_terms_of, original_rows, scripts_of, write_texts
from jobs.sample_words import Rows, build_language, choose, slots
from lsh_core.errors import SettingsError
from lsh_core.hashing import Hashes, splitmix64
from lsh_core.ragged import Ints, offsets_of, ranges

MAX_DOCS = 10**9
MIN_MEAN_CHARS, MAX_MEAN_CHARS = 200, 1_000_000
MAX_GROUP_DOCS = 800
# Sizes from 2 on, with weights that fall as size ** -2.5.
SIZE_WEIGHTS = [10**18 // (size**2 * math.isqrt(10**6 * size)) for size in range(2, MAX_GROUP_DOCS + 1)]
SIZE_OF_SLOT = 2 + slots(SIZE_WEIGHTS, 1 << 20)


@dataclass(frozen=True)
class SampleSpec:
    """What to generate; everything follows from it."""

    num_docs: int
    seed: int = 1
    mean_chars: int = 400
    near_share: float = 0.25
    """Share of documents that lie in near-duplicate groups, of those that no other option takes."""
    num_template: int = 0
    """So many documents fill in the blanks of one template."""
    num_equal: int = 0
    """So many documents have one and the same text."""

    def __post_init__(self) -> None:
        for name, low, high in (
            ("num_docs", 0, MAX_DOCS),
            ("seed", 0, 2**64 - 1),
            ("mean_chars", MIN_MEAN_CHARS, MAX_MEAN_CHARS),
            ("num_template", 0, self.num_docs),
            ("num_equal", 0, self.num_docs),
        ):
            value = getattr(self, name)
            if type(value) is not int or not low <= value <= high:
                raise SettingsError(f"{name} is {value!r}; it must be a whole number from {low} to {high}")
        if not isinstance(self.near_share, (int, float)) or not 0 <= self.near_share <= 1:
            raise SettingsError(f"near_share is {self.near_share!r}; it must be from 0 to 1")
        if self.num_special > self.num_docs:
            found = f"num_template and num_equal are {self.num_special} together"
            raise SettingsError(f"{found}; they must be at most num_docs, {self.num_docs}")

    @property
    def num_special(self) -> int:
        """Documents of equal text and of the template."""
        return self.num_equal + self.num_template


class Plan(NamedTuple):
    """Which document is made from which, and where it goes.

    Documents are numbered group by group, the original first; those in no group come last.
    """

    group_sizes: Ints
    keys: Hashes
    original_of: Ints
    number_at: Ints
    position_of: Ints


class Batch(NamedTuple):
    """Texts, the rows of those that are variants, and the original texts of these."""

    texts: list[str]
    variants: Ints
    originals: list[str]


def make_plan(spec: SampleSpec) -> Plan:
    """Group sizes, keys and order, each from a seed of its own."""
    key_seed, order_seed, size_seed = splitmix64(spec.seed, 3).tolist()
    near_sizes = draw_group_sizes(int((spec.num_docs - spec.num_special) * spec.near_share), size_seed)
    sizes = np.concatenate([[spec.num_equal, spec.num_template], near_sizes]).astype(np.int64)
    offsets = offsets_of(sizes)
    original_of = np.arange(spec.num_docs)
    original_of[: offsets[-1]] = np.repeat(offsets[:-1], sizes)
    number_at = np.argsort(splitmix64(order_seed, spec.num_docs), kind="stable")
    position_of = np.empty_like(number_at)
    position_of[number_at] = np.arange(spec.num_docs)
    return Plan(sizes, splitmix64(key_seed, spec.num_docs), original_of, number_at, position_of)


def draw_group_sizes(num_docs: int, seed: int) -> Ints:
    """Sizes of near-duplicate groups that make up so many documents: most small, a few large.

    No group has more than a tenth of them, so that a small corpus has several; a single
    document that is left over joins the last.
    """
    sizes = SIZE_OF_SLOT[choose(splitmix64(seed, num_docs // 2), len(SIZE_OF_SLOT))]
    sizes = np.minimum(sizes, max(2, num_docs // 10))
    sizes = sizes[: np.searchsorted(np.cumsum(sizes), num_docs, side="right")]
    rest = num_docs - int(sizes.sum())
    if rest == 1:
        sizes[-1:] += 1
    return np.append(sizes, rest) if rest > 1 else sizes


def make_texts(spec: SampleSpec, plan: Plan, numbers: Ints) -> Batch:
    """The texts of documents by their numbers."""
    language = build_language()
    originals = plan.original_of[numbers]
    keys = plan.keys[originals]
    # A template of a few words would have no blanks, so the special ones are of the usual kind.
    is_usual = originals < spec.num_special
    usual_terms = mean_num_terms(language, spec.mean_chars)
    num_terms = np.where(is_usual, usual_terms, num_terms_of(language, keys, spec.mean_chars))
    scripts = np.where(is_usual, LATIN, scripts_of(keys))
    rows = original_rows(language, keys, num_terms)
    texts = write_texts(language, rows, scripts)
    variants = np.flatnonzero(numbers != originals)
    original_texts = [texts[row] for row in variants.tolist()]
    kinds = _kinds(spec, plan, numbers[variants])
    edited = edited_rows(language, _take(rows, variants), plan.keys[numbers[variants]], kinds)
    edited_texts = write_texts(language, edited, scripts[variants])
    for row, text, kind in zip(variants.tolist(), edited_texts, kinds.tolist()):
        texts[row] = respaced(text) if kind == SPACES else text
    return Batch(texts, variants, original_texts)


def _kinds(spec: SampleSpec, plan: Plan, numbers: Ints) -> Ints:
    """How each variant differs: equal texts come first, then the template, then near-duplicate groups."""
    kinds = np.where(numbers < spec.num_special, TEMPLATE, kinds_of(plan.keys[numbers]))
    return np.where(numbers < spec.num_equal, EQUAL, kinds)


def _take(rows: Rows, chosen: Ints) -> Rows:
    counts = rows.counts[chosen]
    return Rows(rows.values[ranges(offsets_of(rows.counts)[chosen], counts)], counts)
