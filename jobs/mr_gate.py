"""The gate: which band keys bring documents together, and which ids stand for more than one text.

Only keys and digests are shuffled, packed; the output is the side file of ``mr_pairs``, in lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from jobs.base import BatchMapJob, Record
from jobs.gate_file import encode_gate, encode_repeated_ids
from jobs.lean_mrjob import MRStep
from jobs.records import STATS_KEY, pack_table, unpack_table
from lsh_core.banding import band_keys
from lsh_core.gate import build_gate, possible_pairs, take_census
from lsh_core.hashing import digests64
from lsh_core.minhash import signatures


class MRGate(BatchMapJob):
    """One step: lines -> shard, packed (text digest, id digest, keys of the shard's bands) -> gate"""

    def configure_args(self) -> None:
        super().configure_args()
        self.add_passthru_arg("--num-shards", type=int, default=1, help="shares of the bands, each with its own gate")

    def load_args(self, args: list[str]) -> None:
        super().load_args(args)
        if self.options.num_shards < 1:
            self.arg_parser.error(f"--num-shards is {self.options.num_shards}; it must be 1 or more")

    def steps(self) -> list[MRStep]:
        return [MRStep(
            mapper_init=self.mapper_init, mapper=self.mapper, mapper_final=self.mapper_final,
            reducer=self.reducer, reducer_final=self.reducer_final)]

    def map_batch(self, lines: list[bytes]) -> Iterator[Record]:
        """lines -> shard, rows of numbers"""
        doc_ids, texts, _ = self.read_batch(lines)
        keys = band_keys(signatures(texts, self.settings), self.settings)
        text_digests, id_digests = digests64(texts), digests64(doc_id.encode() for doc_id in doc_ids)
        for shard in range(min(self.options.num_shards, keys.shape[1])):
            # The ids are looked at in the first shard alone.
            columns = [text_digests, *([id_digests] if shard == 0 else []), keys[:, shard :: self.options.num_shards]]
            for packed in pack_table(columns):
                self.count({"shuffle_bytes": len(packed) + 6})
                yield b"%04d" % shard, packed

    def reducer(self, key: bytes, values: Iterable[bytes]) -> Iterator[Record]:
        """shard, rows of numbers -> lines of the gate file"""
        if key == STATS_KEY:
            yield from ((None, counts) for counts in values)
            return
        shard, (num_bands, _) = int(key), self.settings.banding
        num_digests = 2 if shard == 0 else 1
        table = unpack_table(values, num_digests + len(range(shard, num_bands, self.options.num_shards)))
        if shard == 0:
            census = take_census(table[:, 1], table[:, 0])
            self.count({"documents": census.num_documents, "copies": census.num_copies,
                        "repeated_ids": len(census.repeated_ids)})
            yield from ((None, line) for line in encode_repeated_ids(census.repeated_ids))
        gate = build_gate(table[:, num_digests:], table[:, 0], self.settings.max_bucket_docs)
        self.count({"gate_keys": len(gate.keys), "possible_pairs": possible_pairs(gate, table[:, num_digests:])})
        yield from ((None, line) for line in encode_gate(gate))

    def reducer_final(self) -> Iterator[Record]:
        for counts in self.told_counts():
            yield None, counts


if __name__ == "__main__":
    MRGate.run()
