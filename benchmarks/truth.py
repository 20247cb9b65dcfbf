"""All pairs of a corpus, exactly: what recall is measured against.

A prefix filter finds the candidates: of two texts that share enough, the rarest shingles of one, as
many as could be missing, and the rarest of the other share at least one, whatever "rare" means as long
as it is one order for all. Then sets of strings decide. Hashes only choose candidates, with a margin:
were some shingles taken for one another, no pair would be lost or gained.

    python -m benchmarks.truth CORPUS PAIRS
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from pathlib import Path

import numpy as np

from benchmarks.arrays import Hashes, Ints, SharedCounter, distinct, window_batches
from benchmarks.texts import THRESHOLD, Match, jaccard, read_documents, shingle_set, write_pairs

MARGIN = 0.01
COUNTER_BITS = 26
"""Shingles are counted in so many places; a few that share one only seem less rare than they are."""

NUM_SETS_KEPT = 10_000


def exact_pairs(texts: list[str], threshold: float = THRESHOLD) -> Iterator[Match]:
    """Every pair of prepared texts at or above the threshold, once."""
    lower = threshold - MARGIN
    sets = lru_cache(NUM_SETS_KEPT)(lambda row: shingle_set(texts[row]))
    for a, b in _likely_pairs(texts, _prefix_pairs(texts, lower), lower):
        similarity = jaccard(sets(a), sets(b))
        if similarity >= threshold:
            yield Match(a, b, similarity)


def _prefix_pairs(texts: list[str], threshold: float) -> Ints:
    """Pairs of rows (m, 2) whose prefixes share a shingle and whose sizes allow for the threshold, in order."""
    sizes = np.zeros(len(texts), np.int64)
    rarity = _rarity(texts)
    hashes, rows = [np.empty(0, np.uint64)], [np.empty(0, np.int64)]
    for row, members in _sets(texts):
        sizes[row] = len(members)
        prefix = _prefix(members, rarity, threshold)
        hashes.append(prefix)
        rows.append(np.full(len(prefix), row))
    pairs = [np.empty((0, 2), np.int64)]
    for row, others in _sharing_rows(np.concatenate(hashes), np.concatenate(rows), len(texts)):
        is_possible = np.minimum(sizes[row], sizes[others]) >= threshold * np.maximum(sizes[row], sizes[others])
        others = others[is_possible]
        pairs.append(np.stack([np.full(len(others), row), others], axis=1))
    return np.concatenate(pairs)


def _sharing_rows(hashes: Hashes, rows: Ints, num_rows: int) -> Iterator[tuple[int, Ints]]:
    """For each row the later ones that share a hash with it, from entries (hash, row)."""
    order = np.argsort(hashes, kind="stable")
    hashes, rows = hashes[order], rows[order]
    starts = np.flatnonzero(np.append(True, hashes[1:] != hashes[:-1]))
    # Rows ascend inside a run of equal hashes: the later ones are the rest of the run.
    ends = np.repeat(np.append(starts[1:], len(hashes)), np.diff(starts, append=len(hashes)))
    entries = np.flatnonzero(np.arange(1, len(hashes) + 1) < ends)
    entries = entries[np.argsort(rows[entries], kind="stable")]
    is_sharing = np.zeros(num_rows, bool)
    bounds = np.append(np.flatnonzero(np.append(True, np.diff(rows[entries]) != 0)), len(entries))
    for first, end in zip(bounds[:-1].tolist(), bounds[1:].tolist()) if len(entries) else ():
        for entry in entries[first:end].tolist():
            is_sharing[rows[entry + 1 : ends[entry]]] = True
        others = np.flatnonzero(is_sharing)
        is_sharing[others] = False
        yield int(rows[entries[first]]), others


def _sets(texts: list[str]) -> Iterator[tuple[int, Hashes]]:
    for windows in window_batches(texts):
        for row, hashes in windows.by_text():
            yield row, distinct(hashes)


def _places(hashes: Hashes) -> Hashes:
    return hashes >> np.uint64(64 - COUNTER_BITS)


def _rarity(texts: list[str]) -> Ints:
    """In how many texts the shingles of each place are."""
    counts = np.zeros(1 << COUNTER_BITS, np.int32)
    for _, members in _sets(texts):
        np.add.at(counts, _places(members), 1)
    return np.minimum(counts, np.iinfo(np.uint16).max).astype(np.uint16)


def _prefix(members: Hashes, rarity: Ints, threshold: float) -> Hashes:
    """The rarest members, one more than may be missing, without those that no other text has."""
    num_members = len(members) - int(np.ceil(threshold * len(members))) + 1
    counts = rarity[_places(members)]
    # Members ascend: a stable sort puts equally rare ones in the same order everywhere.
    rarest = np.argsort(counts, kind="stable")[:num_members]
    return members[rarest[counts[rarest] > 1]]


def _likely_pairs(texts: list[str], pairs: Ints, threshold: float) -> Iterator[tuple[int, int]]:
    """Those of the pairs whose hashes are similar."""
    rows = np.unique(pairs).tolist()
    sets = {rows[row]: members for row, members in _sets([texts[row] for row in rows])}
    counter = SharedCounter(max(map(len, sets.values()), default=0))
    for a, group in groupby(pairs.tolist(), key=itemgetter(0)):
        others = [b for _, b in group]
        shared = counter.shared(sets[a], [sets[b] for b in others]).tolist()
        for b, num_shared in zip(others, shared):
            if num_shared >= threshold * (len(sets[a]) + len(sets[b]) - num_shared):
                yield a, b


def main(corpus: str, pairs: str) -> None:
    documents = read_documents(Path(corpus))
    write_pairs(Path(pairs), documents.ids, exact_pairs(documents.texts))


if __name__ == "__main__":
    main(*sys.argv[1:])
