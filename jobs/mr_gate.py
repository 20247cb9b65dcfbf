"""The gate: which band keys bring documents together, and which ids stand for more than one text.

Only keys and digests are shuffled, packed; the output is the side file of ``mr_pairs``, in lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from jobs.base import BatchMapJob, Record
from jobs.gate_file import encode_gate, encode_repeated_ids
from jobs.lean_mrjob import MRStep
from jobs.records import STATS_KEY, pack_numbers, unpack_numbers
from lsh_core.banding import band_keys
from lsh_core.gate import build_gate
from lsh_core.hashing import Hashes, digest64
from lsh_core.minhash import signatures
from lsh_core.ragged import run_starts

ROWS_OF_RECORD = 5000


class MRGate(BatchMapJob):
    """One step: lines -> shard, packed (text digest, id digest, keys of the shard's bands) -> gate"""

    def configure_args(self) -> None:
        super().configure_args()
        self.add_passthru_arg("--num-shards", type=int, default=1, help="shares of the bands, each with its own gate")

    def steps(self) -> list[MRStep]:
        return [MRStep(
            mapper_init=self.mapper_init, mapper=self.mapper, mapper_final=self.mapper_final,
            reducer=self.reducer, reducer_final=self.reducer_final)]

    def map_batch(self, lines: list[bytes]) -> Iterator[Record]:
        """lines -> shard, rows of numbers"""
        doc_ids, texts, _ = self.read_batch(lines)
        keys = band_keys(signatures(texts, self.settings), self.settings)
        digests = np.array([[digest64(text), digest64(doc_id.encode())] for text, doc_id in zip(texts, doc_ids)],
                           np.uint64).reshape(-1, 2)
        for shard in range(self.options.num_shards):
            # The ids are looked at in the first shard alone.
            rows = np.hstack([digests[:, : 2 if shard == 0 else 1], keys[:, shard :: self.options.num_shards]])
            for first in range(0, len(rows), ROWS_OF_RECORD):
                packed = pack_numbers(rows[first : first + ROWS_OF_RECORD])
                self.count({"shuffle_bytes": len(packed) + 6})
                yield b"%04d" % shard, packed

    def reducer(self, key: bytes, values: Iterable[bytes]) -> Iterator[Record]:
        """shard, rows of numbers -> lines of the gate file"""
        if key == STATS_KEY:
            yield from ((None, counts) for counts in values)
            return
        shard, (num_bands, _) = int(key), self.settings.banding
        num_digests = 2 if shard == 0 else 1
        table = _stacked(values, num_digests + len(range(shard, num_bands, self.options.num_shards)))
        if shard == 0:
            yield from ((None, line) for line in self._look_at_ids(table[:, 1], table[:, 0]))
        gate = build_gate(table[:, num_digests:], table[:, 0], self.settings.max_bucket_docs)
        yield from ((None, line) for line in encode_gate(gate))

    def reducer_final(self) -> Iterator[Record]:
        for counts in self.told_counts():
            yield None, counts

    def _look_at_ids(self, ids: Hashes, texts: Hashes) -> Iterator[bytes]:
        """Count documents and their copies; find the ids of more than one text."""
        order = np.lexsort((texts, ids))
        ids, texts = ids[order], texts[order]
        is_document = np.ones(len(ids), bool)
        is_document[1:] = (ids[1:] != ids[:-1]) | (texts[1:] != texts[:-1])
        num_documents = int(is_document.sum())
        self.count({"documents": num_documents, "copies": len(ids) - num_documents})
        ids = ids[is_document]
        starts = run_starts(ids)
        repeated = ids[starts[np.diff(starts, append=len(ids)) > 1]]
        self.count({"repeated_ids": len(repeated)})
        yield from encode_repeated_ids(repeated)


def _stacked(values: Iterable[bytes], num_columns: int) -> Hashes:
    """All rows as one table (n, num_columns), column by column in memory; pieces are freed as they are used."""
    pieces = [unpack_numbers(value).reshape(-1, num_columns) for value in values]
    table = np.empty((sum(map(len, pieces)), num_columns), np.uint64, order="F")
    end = len(table)
    while pieces:
        piece = pieces.pop()
        table[end - len(piece) : end] = piece
        end -= len(piece)
    return table


if __name__ == "__main__":
    MRGate.run()
