"""rensa as an expert would use it: hashes by numpy, digests in bulk, bands as flat arrays, a check of its own.

rensa's matrix of digests leaves Rust only as lists of Python's integers, which takes longer than all
of its hashing. So its index is asked first which documents share a band with any other, and only
their digests are fetched.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, groupby
from operator import itemgetter
from pathlib import Path

import numpy as np

from benchmarks.arrays import ODD_NUMBERS, Hashes, Ints, SharedCounter, distinct, pairs_of_equal, window_batches
from benchmarks.texts import (
    NUM_BANDS,
    NUM_FUNCTIONS,
    NUM_ROWS,
    THRESHOLD,
    Documents,
    Match,
    read_documents,
    write_pairs,
)

SEED = 42
MAX_PAIRS = 1 << 22


def rensa_by_hand(corpus: Path, pairs: Path) -> None:
    """All pairs that rensa's bands bring together, checked."""
    documents, candidates = _candidates(corpus)
    write_pairs(pairs, documents.ids, _confirmed(documents.texts, candidates))


def rensa_candidates(corpus: Path, pairs: Path) -> None:
    """The same before the check; the similarities are not known, and zero stands for them."""
    documents, candidates = _candidates(corpus)
    write_pairs(pairs, documents.ids, (Match(a, b, 0.0) for a, b in candidates.tolist()))


def _candidates(corpus: Path) -> tuple[Documents, Ints]:
    """The documents, and pairs of rows (m, 2), each once and in order."""
    documents = read_documents(corpus)
    rows = _rows_with_company(documents.texts)
    keys = _band_keys([documents.texts[row] for row in rows.tolist()])
    found = [np.empty(0, np.int64)]
    for band in range(NUM_BANDS):
        order = np.argsort(keys[:, band])
        for i, j in pairs_of_equal(keys[order, band], MAX_PAIRS):
            a, b = order[i], order[j]
            found.append(np.minimum(a, b) * len(rows) + np.maximum(a, b))
    pairs = distinct(np.concatenate(found))
    return documents, rows[np.stack(np.divmod(pairs, max(len(rows), 1)), axis=1)]


def _rows_with_company(texts: list[str]) -> Ints:
    """The rows of texts that share a band with another."""
    from rensa import RMinHash, RMinHashLSH

    index = RMinHashLSH(threshold=THRESHOLD, num_perm=NUM_FUNCTIONS, num_bands=NUM_BANDS)
    matrices, rows, num_rows = [], [np.empty(0, np.int64)], 0
    for windows in window_batches(texts):
        offsets = np.concatenate([[0], np.cumsum(windows.counts)])
        matrix = RMinHash.digest_matrix_from_flat_token_hashes(windows.hashes, offsets, NUM_FUNCTIONS, SEED)
        index.insert_matrix(matrix, num_rows)
        num_rows += len(windows.rows)
        matrices.append(matrix)
        rows.append(windows.rows)
    flags = chain.from_iterable(map(index.query_duplicate_flags_matrix, matrices))
    return np.sort(np.concatenate(rows)[np.fromiter(flags, bool, num_rows)])


def _band_keys(texts: list[str]) -> Hashes:
    """A hash of each band of each text: (n, bands)."""
    from rensa import RMinHash

    keys = np.zeros((len(texts), NUM_BANDS), np.uint64)
    for windows in window_batches(texts):
        offsets = np.concatenate([[0], np.cumsum(windows.counts)])
        matrix = RMinHash.digest_matrix_from_flat_token_hashes(windows.hashes, offsets, NUM_FUNCTIONS, SEED)
        digests = np.fromiter(chain.from_iterable(matrix.to_rows()), np.uint64, len(windows.rows) * NUM_FUNCTIONS)
        bands = digests.reshape(-1, NUM_BANDS, NUM_ROWS)
        keys[windows.rows] = (bands * ODD_NUMBERS[:NUM_ROWS]).sum(axis=2, dtype=np.uint64)
    return keys


def _confirmed(texts: list[str], candidates: Ints) -> Iterator[Match]:
    """Those of the candidates, ordered by their first rows, that are similar."""
    rows = distinct(candidates.reshape(-1)).tolist()
    sets: dict[int, Hashes] = {}
    for windows in window_batches([texts[row] for row in rows]):
        sets.update((rows[row], distinct(hashes)) for row, hashes in windows.by_text())
    counter = SharedCounter(max(map(len, sets.values()), default=0))
    for a, pairs in groupby(candidates.tolist(), key=itemgetter(0)):
        others = [b for _, b in pairs]
        shared = counter.shared(sets[a], [sets[b] for b in others])
        for b, num_shared in zip(others, shared.tolist()):
            similarity = num_shared / (len(sets[a]) + len(sets[b]) - num_shared)
            if similarity >= THRESHOLD:
                yield Match(a, b, similarity)
