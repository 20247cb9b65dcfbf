"""The gate: which band keys bring documents together, and which ids stand for more than one text.

Only keys and digests are shuffled, packed; the output is the side file of ``mr_pairs``, in lines.
"""

import jobs.task_check  # noqa: F401

# isort: split
from collections.abc import Iterable, Iterator
from typing import Callable
from unicodedata import unidata_version

from jobs.base import BatchMapJob, Record, against_name
from jobs.gate_file import encode_census, encode_gate
from jobs.key_tables import KeyTable
from jobs.lean_mrjob import MRStep
from jobs.records import STATS_KEY, pack_table, unpack_table
from lsh_core.banding import keys_of_texts
from lsh_core.gate import build_gate, possible_pairs, take_census, with_lines
from lsh_core.hashing import Hashes, digests64
from lsh_core.ragged import without_rows
from lsh_core.sides import side_column

# In this order, so that a local run cuts between them, and the ids are counted beside the keys.
KEYS, IDS, AGAINST_IDS = b"bands", b"ids", b"ids-against"


class MRGate(BatchMapJob):
    """One step: lines -> shard, packed numbers -> lines of the gate file

    A shard gets some of the bands; where there are more shards than bands, a range of the keys of one band.
    """

    def configure_args(self) -> None:
        super().configure_args()
        self.add_passthru_arg("--num-shards", type=int, default=1, help="shares of the keys, each with its own gate")
        self.add_file_arg("--key-tables", help="JSON list of those inputs that are tables of keys, of an index")

    def load_args(self, args: list[str]) -> None:
        super().load_args(args)
        if self.options.num_shards < 1:
            self.arg_parser.error(f"--num-shards is {self.options.num_shards}; it must be 1 or more")
        num_bands, _ = self.settings.banding
        self._stride = min(self.options.num_shards, num_bands)
        self._num_ranges = -(-self.options.num_shards // num_bands)

    def steps(self) -> list[MRStep]:
        return [MRStep(
            mapper_init=self.mapper_init, mapper=self.mapper, mapper_final=self.mapper_final,
            reducer=self.reducer, reducer_final=self.reducer_final)]

    def mapper_init(self) -> None:
        super().mapper_init()
        self._reads_keys = self.reads_listed(self.options.key_tables)

    def map_batch(self, lines: list[bytes]) -> Iterator[Record]:
        """lines -> shard of ids or keys, rows of numbers"""
        for table in map(self._read_keys, lines) if self._reads_keys else [self._sketch(lines)]:
            yield from self._records(AGAINST_IDS if self.is_against else IDS, table.ids, table.texts)
            sides = [side_column(len(table.texts), self.is_against)] if self.options.against else []
            for first_band in range(self._stride):
                yield from self._records(KEYS + b"%04d" % first_band, table.keys[:, first_band :: self._stride],
                                         table.lines, table.texts, *sides)

    def _sketch(self, lines: list[bytes]) -> KeyTable:
        all_lines = self.digest_lines(lines)
        doc_ids, texts, rejected = self.read_batch(lines)
        keys, line_digests = keys_of_texts(texts, self.settings), without_rows(all_lines, [at for at, _ in rejected])
        id_digests = digests64(doc_id.encode() for doc_id in doc_ids)
        return KeyTable(unidata_version, keys, line_digests, digests64(texts), id_digests)

    def _read_keys(self, line: bytes) -> KeyTable:
        """What was told of documents when they were sketched, counted as if their lines were read."""
        table = KeyTable.decode(line, self.settings.banding[0])
        self.count_lines(table.lines)
        self.count({f"unicode {table.unicode_version}": len(table.lines)})
        return table

    def _records(self, name: bytes, *columns: Hashes) -> Iterator[Record]:
        for range_number, packed in pack_table(columns, self._num_ranges):
            key = b"%b/%04d" % (name, range_number)
            self.count({"shuffle_bytes": len(key) + len(packed) + 2})
            yield key, packed

    def reducer(self, key: bytes, values: Iterable[bytes]) -> Iterator[Record]:
        """shard, rows of numbers -> lines of the gate file"""
        if key == STATS_KEY:
            yield from ((None, counts) for counts in values)
        elif key.startswith(IDS):
            yield from self._reduce_ids(values, against_name if key.startswith(AGAINST_IDS) else str)
        else:
            yield from self._reduce_keys(int(key[len(KEYS) :].partition(b"/")[0]), values)

    def _reduce_ids(self, values: Iterable[bytes], counter: Callable[[str], str]) -> Iterator[Record]:
        ids, texts = unpack_table(values, 2).T
        census = take_census(ids, texts)
        self.count({counter("documents"): census.num_documents, counter("copies"): census.num_copies,
                    counter("repeated_ids"): len(census.repeated_ids)})
        yield from ((None, line) for line in encode_census(census))

    def _reduce_keys(self, first_band: int, values: Iterable[bytes]) -> Iterator[Record]:
        num_keys = len(range(first_band, self.settings.banding[0], self._stride))
        table = unpack_table(values, num_keys + 2 + bool(self.options.against))
        keys, lines, texts = table[:, :num_keys], table[:, num_keys], table[:, num_keys + 1]
        sides = (table[:, -1] == 1 if self.options.against else None, self.options.only_across)
        gate = build_gate(keys, texts, self.settings.max_bucket_docs, *sides)
        self.count({"gate_keys": gate.num_kept, "possible_pairs": possible_pairs(gate, texts, *sides)})
        yield from ((None, line) for line in encode_gate(with_lines(gate, texts, lines)))

    def reducer_final(self) -> Iterator[Record]:
        for counts in self.told_counts():
            yield None, counts


if __name__ == "__main__":
    MRGate.run()
