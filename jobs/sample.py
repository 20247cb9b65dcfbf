"""Corpora to try things on: realistic documents in any number, with planted near-duplicates and their truth.

The same specification gives the same bytes on every machine. Only four numbers a document
are kept in memory: texts are made in the order in which they are written.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Callable, NamedTuple, Optional, Union

import numpy as np
import numpy.typing as npt

from jobs.errors import OutputError
from jobs.sample_plan import Batch, Plan, SampleSpec, make_plan, make_texts
from lsh_core.errors import SettingsError
from lsh_core.jaccard import ShingleSets, shingle_sets, similarities
from lsh_core.normalize import normalize_texts
from lsh_core.ragged import Ints, ranges, run_starts
from lsh_core.settings import Settings

BATCH_CHARS = 1 << 20
BACKGROUND_DOCS, BACKGROUND_CHARS = 3000, 6_000_000
"""Documents, and about how many characters of them, that are compared as unrelated at most."""
NEAREST_DOCS = 400

# Each bin by its name, with its lowest value; it ends where the next begins.
PLANTED_BINS = {
    "below 0.5": 0, "0.5-0.6": 0.5, "0.6-0.7": 0.6, "0.7-0.8": 0.7, "0.8-0.9": 0.8, "0.9-1": 0.9, "1": 1,
}
BACKGROUND_BINS = {
    "0": 0, "0-0.01": 5e-324, "0.01-0.02": 0.01, "0.02-0.05": 0.02, "0.05-0.1": 0.05,
    "0.1-0.2": 0.1, "0.2-0.3": 0.2, "0.3-0.5": 0.3, "0.5-1": 0.5,
}
GROUP_SIZE_BINS = {"2": 2, "3-4": 3, "5-9": 5, "10-99": 10, "100 and more": 100}

AnyPath = Union[str, "os.PathLike[str]"]
Similarities = npt.NDArray[np.float64]


@dataclass(frozen=True)
class SampleReport:
    """What was written, in numbers."""

    num_docs: int
    num_bytes: int
    num_pairs: int
    share_beyond_ascii: float
    num_groups: int
    largest_group: int
    group_sizes: dict[str, int]
    planted: dict[str, int]
    """Similarities of variants and their originals."""
    background: dict[str, int]
    """Similarities of random pairs of unrelated documents."""
    nearest: dict[str, int]
    """For some documents, the similarity of the nearest unrelated one in a part of the corpus."""


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
    """Write a corpus and its planted pairs; ``on_progress`` hears how many documents are written so far."""
    plan = make_plan(spec)
    parts: list[Pairs] = []
    num_beyond_ascii = 0
    with _complete_or_absent(truth_path, corpus_path) as (truth, corpus):
        for first, end in _batches(spec):
            batch = make_texts(spec, plan, plan.number_at[first:end])
            corpus.write(_corpus_lines(spec, first, batch.texts))
            parts.append(_planted_pairs(plan, first, batch))
            num_beyond_ascii += sum(not text.isascii() for text in batch.texts)
            if on_progress:
                on_progress(end)
        num_bytes = corpus.tell()
        pairs = _sorted_pairs(parts)
        truth.write(_truth_lines(spec, pairs))
    return _report(spec, plan, pairs, num_bytes, num_beyond_ascii)


def doc_id(spec: SampleSpec, position: int) -> str:
    """The id of the document at a position, wide enough that ids sort as positions do.

    >>> doc_id(SampleSpec(num_docs=10), 0)
    'd0000001'
    """
    return f"d{position + 1:0{max(7, len(str(spec.num_docs)))}}"


def histogram(values: npt.ArrayLike, bins: Mapping[str, float]) -> dict[str, int]:
    """How many values lie in each bin.

    >>> histogram([2, 3, 3, 250], GROUP_SIZE_BINS)
    {'2': 1, '3-4': 2, '5-9': 0, '10-99': 0, '100 and more': 1}
    """
    bin_of_value = np.searchsorted(list(bins.values()), np.asarray(values, np.float64), side="right") - 1
    return dict(zip(bins, np.bincount(bin_of_value, minlength=len(bins)).tolist()))


def background_similarities(sets: ShingleSets, group_of: Ints) -> Similarities:
    """Similarities of each document and two others, if not related; documents are in random order."""
    rows = np.arange(len(group_of))
    rows_a, rows_b = np.tile(rows, 2), np.concatenate([np.roll(rows, 1), np.roll(rows, len(rows) // 2)])
    is_unrelated = group_of[rows_a] != group_of[rows_b]
    return similarities(sets, rows_a[is_unrelated], rows_b[is_unrelated])


def nearest_similarities(sets: ShingleSets, group_of: Ints, num_docs: int) -> Similarities:
    """For each of the first documents, the similarity of the nearest one that is not related to it."""
    order = np.argsort(sets.values, kind="stable")
    doc_of_entry = np.repeat(np.arange(len(group_of)), sets.sizes)[order]
    starts = run_starts(sets.values[order])
    counts = np.diff(np.append(starts, len(order)))
    run_of_value = np.empty_like(order)
    run_of_value[order] = np.repeat(np.arange(len(starts)), counts)
    nearest = np.zeros(min(num_docs, len(group_of)))
    for row in range(len(nearest)):
        runs = run_of_value[sets.offsets[row] : sets.offsets[row + 1]]
        shared = np.bincount(doc_of_entry[ranges(starts[runs], counts[runs])], minlength=len(group_of))
        found = shared / (sets.sizes + len(runs) - shared)
        nearest[row] = found[group_of != group_of[row]].max(initial=0)
    return nearest


def _report(
    spec: SampleSpec, plan: Plan, pairs: Pairs, num_bytes: int, num_beyond_ascii: int
) -> SampleReport:
    """Documents lie in random order, so the first of the corpus stand for all."""
    numbers = plan.number_at[: min(BACKGROUND_DOCS, BACKGROUND_CHARS // spec.mean_chars)]
    group_of = plan.original_of[numbers]
    sets = _shingle_sets(make_texts(spec, plan, numbers).texts)
    sizes = plan.group_sizes[plan.group_sizes > 1]
    return SampleReport(
        num_docs=spec.num_docs,
        num_bytes=num_bytes,
        num_pairs=len(pairs.a),
        share_beyond_ascii=num_beyond_ascii / max(spec.num_docs, 1),
        num_groups=len(sizes),
        largest_group=int(sizes.max(initial=0)),
        group_sizes=histogram(sizes, GROUP_SIZE_BINS),
        planted=histogram(pairs.similarity, PLANTED_BINS),
        background=histogram(background_similarities(sets, group_of), BACKGROUND_BINS),
        nearest=histogram(nearest_similarities(sets, group_of, NEAREST_DOCS), BACKGROUND_BINS),
    )


def _batches(spec: SampleSpec) -> Iterator[tuple[int, int]]:
    num_docs = max(1, BATCH_CHARS // spec.mean_chars)
    for first in range(0, spec.num_docs, num_docs):
        yield first, min(first + num_docs, spec.num_docs)


def _shingle_sets(texts: list[str]) -> ShingleSets:
    settings = Settings()
    return shingle_sets(normalize_texts(texts, settings), settings)


def _planted_pairs(plan: Plan, first: int, batch: Batch) -> Pairs:
    """The variants of a batch that begins at position ``first``, each with its original."""
    sets = _shingle_sets([batch.texts[row] for row in batch.variants.tolist()] + batch.originals)
    rows = np.arange(len(batch.variants))
    found = similarities(sets, rows, rows + len(rows))
    variants = first + batch.variants
    originals = plan.position_of[plan.original_of[plan.number_at[variants]]]
    return Pairs(np.minimum(variants, originals), np.maximum(variants, originals), found)


def _sorted_pairs(parts: list[Pairs]) -> Pairs:
    nothing = Pairs(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
    pairs = Pairs(*map(np.concatenate, zip(nothing, *parts)))
    order = np.lexsort((pairs.b, pairs.a))
    return Pairs(pairs.a[order], pairs.b[order], pairs.similarity[order])


def _corpus_lines(spec: SampleSpec, first: int, texts: list[str]) -> bytes:
    quoted = json.JSONEncoder(ensure_ascii=False).encode
    return "".join(
        f'{{"id": "{doc_id(spec, position)}", "text": {quoted(text)}}}\n'
        for position, text in enumerate(texts, first)
    ).encode()


def _truth_lines(spec: SampleSpec, pairs: Pairs) -> bytes:
    return "".join(
        f'{{"a": "{doc_id(spec, a)}", "b": "{doc_id(spec, b)}", "similarity": {similarity!r}}}\n'
        for a, b, similarity in zip(*(column.tolist() for column in pairs))
    ).encode()


@contextmanager
def _complete_or_absent(*paths: AnyPath) -> Iterator[list[BinaryIO]]:
    """Files to write, which get their names only when all has gone well."""
    finals = [Path(path) for path in paths]
    if len({path.resolve() for path in finals}) < len(finals):
        raise SettingsError(f"corpus and truth are both {finals[0]}; they must be two files")
    partials = [path.with_name(f".{path.name}.partial") for path in finals]
    files: list[BinaryIO] = []
    try:
        for path in partials:
            files.append(path.open("wb"))
        yield files
        for file in files:
            file.close()
        for partial, final in zip(partials, finals):
            os.replace(partial, final)
    except OSError as error:
        raise OutputError(f"{' or '.join(map(str, finals))} cannot be written: {error.strerror}") from error
    finally:
        for file, partial in zip(files, partials):
            file.close()
            partial.unlink(missing_ok=True)
