"""datatrove's MinHash deduplication as its example shows it, in the four stages of its own local executor.

Its shingles are those of all others: its tokenizer is an argument, and one that cuts characters makes
its n-grams of words runs of characters. It has no exact check and no threshold: what shares a bucket goes.
It runs a task a file, so the corpus is cut into a file a core first; what it writes is not compressed.

    python -m benchmarks.datatrove_cleaner CORPUS OUT        writes OUT/kept/*.jsonl
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from datatrove.executor.local import LocalPipelineExecutor
from datatrove.pipeline.base import PipelineStep
from datatrove.pipeline.dedup import MinhashDedupSignature
from datatrove.pipeline.dedup.minhash import (
    MinhashConfig,
    MinhashDedupBuckets,
    MinhashDedupCluster,
    MinhashDedupFilter,
)
from datatrove.pipeline.readers import JsonlReader
from datatrove.pipeline.writers.jsonl import JsonlWriter
from datatrove.utils.hashing import HashConfig
from datatrove.utils.text import TextNormConfig
from datatrove.utils.word_tokenizers import WordTokenizer

from benchmarks.texts import NUM_BANDS, NUM_ROWS, SHINGLE_CHARS

NUM_CORES = os.cpu_count() or 1
CONFIG = MinhashConfig(
    n_grams=SHINGLE_CHARS, num_buckets=NUM_BANDS, hashes_per_bucket=NUM_ROWS, hash_config=HashConfig(precision=64),
    norm_config=TextNormConfig(lowercase=False, norm_whitespace=True, remove_punctuation=False,
                               norm_unicode_diacritics=False, norm_numbers=False))


class Characters(WordTokenizer):
    """Every character is a word."""

    def word_tokenize(self, text: str) -> list[str]:
        return list(text)

    def sent_tokenize(self, text: str) -> list[str]:
        return [text]

    def span_tokenize(self, text: str) -> list[tuple[int, int]]:
        return [(0, len(text))]


def clean(corpus: Path, out: Path) -> None:
    """Signatures, buckets, clusters, then what is left of the corpus."""
    parts, signatures, buckets, removals = (str(out / name) for name in ("parts", "signatures", "buckets", "removals"))
    num_parts = cut(corpus, Path(parts))

    def run(name: str, num_tasks: int, *steps: PipelineStep) -> None:
        # Forked, as workers of a server would not be among the processes that are measured.
        LocalPipelineExecutor(list(steps), tasks=num_tasks, workers=min(num_tasks, NUM_CORES), start_method="fork",
                              logging_dir=str(out / "logs" / name)).run()

    run("signatures", num_parts, JsonlReader(parts), MinhashDedupSignature(signatures, CONFIG, language=Characters()))
    run("buckets", NUM_BANDS, MinhashDedupBuckets(signatures, buckets, config=CONFIG))
    run("clusters", 1, MinhashDedupCluster(buckets, removals, config=CONFIG))
    run("filter", num_parts, JsonlReader(parts),
        MinhashDedupFilter(removals, exclusion_writer=JsonlWriter(str(out / "removed"), compression=None)),
        JsonlWriter(str(out / "kept"), compression=None))


def cut(corpus: Path, parts: Path) -> int:
    """Cut a file of lines into a file a core, and tell how many there are."""
    lines = corpus.read_bytes().splitlines(keepends=True)
    num_lines = -(-len(lines) // NUM_CORES)
    parts.mkdir()
    starts = range(0, len(lines), num_lines) if lines else range(1)
    for number, start in enumerate(starts):
        (parts / f"{number:03}.jsonl").write_bytes(b"".join(lines[start : start + num_lines]))
    return len(starts)


if __name__ == "__main__":
    clean(*map(Path, sys.argv[1:]))
