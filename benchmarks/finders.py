"""Other finders, a function each, from a file of documents to a file of pairs.

As their documentation shows them: 128 functions in 16 bands of 8 rows, pairs by the library's own query,
then an exact check with Python's sets. ``by_hand`` has the fast way.

    python -m benchmarks.finders NAME CORPUS OUT        writes OUT/pairs.jsonl
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Callable

from benchmarks.by_hand import rensa_by_hand, rensa_candidates
from benchmarks.texts import (
    NUM_BANDS,
    NUM_FUNCTIONS,
    NUM_ROWS,
    SHINGLE_CHARS,
    THRESHOLD,
    Match,
    jaccard,
    read_documents,
    shingle_set,
    write_pairs,
)

SEED = 42
BATCH_DOCS = 1000
CHARS_OF_SETS = 1 << 25
"""Characters of the texts whose sets are kept for the check: about 3 GB."""


def rensa(corpus: Path, pairs: Path) -> None:
    """R-MinHash sketches in bulk, then the index is asked for each."""
    from rensa import RMinHash, RMinHashLSH

    ids, texts = read_documents(corpus)
    sketches = []
    for first in range(0, len(texts), BATCH_DOCS):
        token_sets = [list(shingle_set(text)) for text in texts[first : first + BATCH_DOCS]]
        sketches += RMinHash.from_token_sets(token_sets, num_perm=NUM_FUNCTIONS, seed=SEED)
    index = RMinHashLSH(threshold=THRESHOLD, num_perm=NUM_FUNCTIONS, num_bands=NUM_BANDS)
    for row, sketch in enumerate(sketches):
        index.insert(row, sketch)
    write_pairs(pairs, ids, _confirmed(texts, map(index.query, sketches)))


def gaoya(corpus: Path, pairs: Path, threshold: float = THRESHOLD) -> None:
    """An index of strings that cuts the shingles itself, and drops what its signatures say is below the threshold."""
    from gaoya.minhash import MinHashStringIndex

    ids, texts = read_documents(corpus)
    index = MinHashStringIndex(
        hash_size=32, jaccard_threshold=threshold, num_bands=NUM_BANDS, band_size=NUM_ROWS,
        analyzer="char", ngram_range=(SHINGLE_CHARS, SHINGLE_CHARS), id_container="smallvec")
    index.par_bulk_insert_docs(list(range(len(texts))), texts)
    write_pairs(pairs, ids, _confirmed(texts, index.par_bulk_query(texts)))


def gaoya_looser(corpus: Path, pairs: Path) -> None:
    """The same with a lower threshold for the signatures, as only the exact check should decide."""
    gaoya(corpus, pairs, threshold=THRESHOLD - 0.1)


def datasketch(corpus: Path, pairs: Path) -> None:
    """MinHashes in bulk into an index with given bands and rows."""
    from datasketch import MinHash, MinHashLSH

    ids, texts = read_documents(corpus)
    token_sets = ([shingle.encode() for shingle in shingle_set(text)] for text in texts)
    sketches = MinHash.bulk(token_sets, num_perm=NUM_FUNCTIONS)
    index = MinHashLSH(num_perm=NUM_FUNCTIONS, params=(NUM_BANDS, NUM_ROWS))
    with index.insertion_session() as session:
        for row, sketch in enumerate(sketches):
            session.insert(row, sketch)
    write_pairs(pairs, ids, _confirmed(texts, map(index.query, sketches)))


def set_similarity_search(corpus: Path, pairs: Path) -> None:
    """Exact, by a prefix filter over all shingles."""
    from SetSimilaritySearch import all_pairs

    ids, texts = read_documents(corpus)
    number_of: dict[str, int] = {}
    sets = [[number_of.setdefault(shingle, len(number_of)) for shingle in shingle_set(text)] for text in texts]
    del number_of
    found = all_pairs(sets, similarity_func_name="jaccard", similarity_threshold=THRESHOLD) if sets else []
    write_pairs(pairs, ids, (Match(int(a), int(b), float(similarity)) for a, b, similarity in found))


def _confirmed(texts: list[str], answers: Iterable[Iterable[int]]) -> Iterator[Match]:
    """Those of the pairs (row, a row of its answer) that are similar, each once."""
    num_chars = sum(map(len, texts))
    sets = lru_cache(max(2, CHARS_OF_SETS * len(texts) // max(num_chars, 1)))(lambda row: shingle_set(texts[row]))
    for a, answer in enumerate(answers):
        for b in answer:
            if a < b:
                similarity = jaccard(sets(a), sets(b))
                if similarity >= THRESHOLD:
                    yield Match(a, b, similarity)


FINDERS: dict[str, Callable[[Path, Path], None]] = {
    "rensa": rensa,
    "rensa-by-hand": rensa_by_hand,
    "rensa-candidates": rensa_candidates,
    "gaoya": gaoya,
    "gaoya-looser": gaoya_looser,
    "datasketch": datasketch,
    "set-similarity-search": set_similarity_search,
}


def main(name: str, corpus: str, out: str) -> None:
    FINDERS[name](Path(corpus), Path(out) / "pairs.jsonl")


if __name__ == "__main__":
    main(*sys.argv[1:])
