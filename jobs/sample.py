"""Corpora to try things on: realistic documents in any number, with planted near-duplicates and their truth.

The same specification gives the same bytes on every machine. Only four numbers a document
are kept in memory: texts are made in the order in which they are written.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Callable, NamedTuple, Optional, Union

import numpy as np

from jobs.errors import OutputError
from jobs.sample_edits import EQUAL, SPACES, TEMPLATE, edited_rows, kinds_of, respaced
from jobs.sample_report import (
    BACKGROUND_BINS,
    GROUP_SIZE_BINS,
    PLANTED_BINS,
    SampleReport,
    Similarities,
    background_similarities,
    histogram,
    nearest_similarities,
)
from jobs.sample_text import LATIN, Rows, mean_num_terms, num_terms_of, original_rows, scripts_of, write_texts
from jobs.sample_words import build_language, choose, slots
from lsh_core.errors import SettingsError
from lsh_core.hashing import Hashes, splitmix64
from lsh_core.jaccard import shingle_sets, similarities
from lsh_core.normalize import normalize_texts
from lsh_core.ragged import Ints, offsets_of, ranges
from lsh_core.settings import Settings

BATCH_CHARS = 1 << 20
MIN_MEAN_CHARS, MAX_MEAN_CHARS = 150, 1_000_000
MAX_GROUP_DOCS = 800
# Sizes from 2 on, with weights that fall as size ** -2.5.
SIZE_OF_SLOT = 2 + slots([10**18 // (n**2 * math.isqrt(10**6 * n)) for n in range(2, MAX_GROUP_DOCS + 1)], 1 << 20)
BACKGROUND_DOCS, BACKGROUND_CHARS = 3000, 6_000_000
"""Documents, and about how many characters of them, that are compared as unrelated at most."""
NEAREST_DOCS = 400

AnyPath = Union[str, "os.PathLike[str]"]


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
        for name in ("num_docs", "num_template", "num_equal"):
            if getattr(self, name) < 0:
                raise SettingsError(f"{name} is {getattr(self, name)}; it must be 0 or more")
        if self.num_template + self.num_equal > self.num_docs:
            taken = self.num_template + self.num_equal
            raise SettingsError(f"num_template and num_equal are {taken} in all; num_docs is only {self.num_docs}")
        if not 0 <= self.seed < 2**64:
            raise SettingsError(f"seed is {self.seed}; it must be from 0 to 2^64 - 1")
        if not MIN_MEAN_CHARS <= self.mean_chars <= MAX_MEAN_CHARS:
            allowed = f"from {MIN_MEAN_CHARS} to {MAX_MEAN_CHARS}"
            raise SettingsError(f"mean_chars is {self.mean_chars}; it must be {allowed}")
        if not 0 <= self.near_share <= 1:
            raise SettingsError(f"near_share is {self.near_share}; it must be from 0 to 1")


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


class Pairs(NamedTuple):
    """Planted pairs: the positions of both documents in the corpus, the lower first, and their similarity."""

    a: Ints
    b: Ints
    similarity: Similarities


def write_sample(
    spec: SampleSpec,
    corpus_path: AnyPath,
    truth_path: AnyPath,
    on_progress: Optional[Callable[[int], None]] = None,
) -> SampleReport:
    """Write a corpus and its planted pairs; ``on_progress`` hears the number of documents written so far."""
    plan = make_plan(spec)
    pairs: list[Pairs] = []
    num_beyond_ascii = 0
    with _complete_or_absent(corpus_path, truth_path) as (corpus, truth):
        for first, end in _batches(spec):
            batch = make_texts(spec, plan, plan.number_at[first:end])
            corpus.write(_corpus_lines(spec, first, batch.texts))
            pairs.append(_planted_pairs(plan, first, batch))
            num_beyond_ascii += sum(not text.isascii() for text in batch.texts)
            if on_progress:
                on_progress(end)
        num_bytes = corpus.tell()
        planted = _sorted_pairs(pairs)
        truth.write(_truth_lines(spec, planted))
    return _report(spec, plan, num_bytes, num_beyond_ascii / max(spec.num_docs, 1), planted)


def doc_id(spec: SampleSpec, position: int) -> str:
    """The id of the document at a position, wide enough that ids sort as positions do.

    >>> doc_id(SampleSpec(num_docs=10), 0)
    'd0000001'
    """
    return f"d{position + 1:0{max(7, len(str(spec.num_docs)))}}"


def make_plan(spec: SampleSpec) -> Plan:
    """Group sizes, keys and order, each from a seed of its own."""
    key_seed, order_seed, size_seed = splitmix64(spec.seed, 3).tolist()
    num_special = spec.num_equal + spec.num_template
    near_sizes = draw_group_sizes(int((spec.num_docs - num_special) * spec.near_share), size_seed)
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
    # A template of a few words would have no blanks, so that one is of the usual kind.
    is_usual = originals < spec.num_equal + spec.num_template
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
    kinds = np.where(numbers < spec.num_equal + spec.num_template, TEMPLATE, kinds_of(plan.keys[numbers]))
    return np.where(numbers < spec.num_equal, EQUAL, kinds)


def _take(rows: Rows, chosen: Ints) -> Rows:
    counts = rows.counts[chosen]
    return Rows(rows.tokens[ranges(offsets_of(rows.counts)[chosen], counts)], counts)


def _batches(spec: SampleSpec) -> Iterator[tuple[int, int]]:
    size = max(1, BATCH_CHARS // spec.mean_chars)
    for first in range(0, spec.num_docs, size):
        yield first, min(first + size, spec.num_docs)


def _planted_pairs(plan: Plan, first: int, batch: Batch) -> Pairs:
    """The variants of a batch that begins at position ``first``, each with its original."""
    variant_texts = [batch.texts[row] for row in batch.variants.tolist()]
    settings = Settings()
    sets = shingle_sets(normalize_texts(variant_texts + batch.originals, settings), settings)
    rows = np.arange(len(variant_texts))
    positions = first + batch.variants
    originals = plan.position_of[plan.original_of[plan.number_at[positions]]]
    found = similarities(sets, rows, rows + len(rows))
    return Pairs(np.minimum(positions, originals), np.maximum(positions, originals), found)


def _sorted_pairs(parts: list[Pairs]) -> Pairs:
    empty = Pairs(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
    pairs = Pairs(*map(np.concatenate, zip(empty, *parts)))
    order = np.lexsort((pairs.b, pairs.a))
    return Pairs(*(column[order] for column in pairs))


def _corpus_lines(spec: SampleSpec, first: int, texts: list[str]) -> bytes:
    quoted = json.JSONEncoder(ensure_ascii=False).encode
    lines = [
        f'{{"id": "{doc_id(spec, position)}", "text": {quoted(text)}}}\n' for position, text in enumerate(texts, first)
    ]
    return "".join(lines).encode()


def _truth_lines(spec: SampleSpec, pairs: Pairs) -> bytes:
    rows = zip(pairs.a.tolist(), pairs.b.tolist(), pairs.similarity.tolist())
    return "".join(
        f'{{"a": "{doc_id(spec, a)}", "b": "{doc_id(spec, b)}", "similarity": {similarity!r}}}\n'
        for a, b, similarity in rows
    ).encode()


def _report(spec: SampleSpec, plan: Plan, num_bytes: int, share_beyond_ascii: float, planted: Pairs) -> SampleReport:
    """Documents lie in random order, so the first ones of the corpus stand for it."""
    numbers = plan.number_at[: min(BACKGROUND_DOCS, BACKGROUND_CHARS // spec.mean_chars)]
    settings = Settings()
    sets = shingle_sets(normalize_texts(make_texts(spec, plan, numbers).texts, settings), settings)
    group_of = plan.original_of[numbers]
    sizes = plan.group_sizes[plan.group_sizes > 1]
    return SampleReport(
        num_docs=spec.num_docs,
        num_bytes=num_bytes,
        num_pairs=len(planted.a),
        share_beyond_ascii=share_beyond_ascii,
        num_groups=len(sizes),
        largest_group=int(sizes.max(initial=0)),
        group_sizes=histogram(sizes, GROUP_SIZE_BINS),
        planted=histogram(planted.similarity, PLANTED_BINS),
        background=histogram(background_similarities(sets, group_of), BACKGROUND_BINS),
        nearest=histogram(nearest_similarities(sets, group_of, NEAREST_DOCS), BACKGROUND_BINS),
    )


@contextmanager
def _complete_or_absent(*paths: AnyPath) -> Iterator[list[BinaryIO]]:
    """Files to write, which get their names only when all went well."""
    finals = [Path(path) for path in paths]
    partials = [path.with_name(f".{path.name}.partial") for path in finals]
    files: list[BinaryIO] = []
    try:
        files.extend(path.open("wb") for path in partials)
        yield files
        for file in files:
            file.close()
        for partial, final in zip(partials, finals):
            os.replace(partial, final)
    except OSError as error:
        raise OutputError(f"{error.filename}: {error.strerror}") from error
    finally:
        for file, partial in zip(files, partials):
            file.close()
            partial.unlink(missing_ok=True)
