"""Near-duplicate pairs: (band, bucket) -> document; documents of a bucket -> exact Jaccard -> pair.

With a gate, keys that bring nobody together are not emitted, and buckets that share documents
travel as one bundle. The pairs are the same.
"""

import jobs.task_check  # noqa: F401

# isort: split
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Callable, Optional

from jobs.base import BatchMapJob, Record
from jobs.bundles import Bundle, equal_texts, gather, sides_of
from jobs.gate_file import UniqueIds, read_gate
from jobs.lean_mrjob import MRStep
from jobs.links import Forest
from jobs.pair_lines import PairLines
from jobs.records import KEY_DIGITS, STATS_KEY, BundlePart, BundleRecord, json_bytes, key_bytes
from lsh_core.banding import keys_of_texts
from lsh_core.check import Candidates, check_large, check_small
from lsh_core.errors import LookalikeError
from lsh_core.hashing import Hashes, digest64
from lsh_core.ragged import run_starts
from lsh_core.selection import GateTable, Selection, no_gate
from lsh_core.sides import Sides

CHECK_BYTES = 1 << 17
"""Text of the bundles that are checked together."""

LINES_OF_RECORD = 5000


class HotBucket(LookalikeError):
    """More distinct texts share a bucket than one reducer is allowed to compare."""


class MRPairs(BatchMapJob):
    """One step: each pair at or above the threshold once, in the bundle of smallest name where it meets."""

    def configure_args(self) -> None:
        super().configure_args()
        self.add_file_arg("--gate", help="gate file that lookalike pairs makes with mr_gate: which keys to emit")
        self.add_passthru_arg("--links", action="store_true", help="write each reducer's part of the spanning forest")
        self.add_passthru_arg("--duplicate-ids", choices=("refuse", "number"), default="refuse",
                              help="what to do with an id of several texts: leave it, or make it id~<hash>")

    def steps(self) -> list[MRStep]:
        return [MRStep(
            mapper_init=self.mapper_init, mapper=self.mapper, mapper_final=self.mapper_final,
            reducer_init=self.reducer_init, reducer=self.reducer, reducer_final=self.reducer_final)]

    def mapper_init(self) -> None:
        super().mapper_init()
        self._select_keys: Callable[[Hashes], Selection] = no_gate
        self._table: Optional[GateTable] = None
        self._unique_id: Callable[[str, bytes], str] = lambda doc_id, text: doc_id
        if self.options.gate:
            gate, repeated_ids, _ = read_gate(self.options.gate, self.settings)
            self._unique_id = UniqueIds(repeated_ids, self.options.duplicate_ids)
            if isinstance(gate, GateTable):
                self._table = gate
            else:
                self._select_keys = gate.select

    def map_batch(self, lines: list[bytes]) -> Iterator[Record]:
        """lines -> bundle, (id, own keys, earlier keys, text)"""
        doc_ids, texts, selection = self._selected(lines)
        shuffle_bytes = 0
        for row, records in _records_by_row(selection):
            id_json, text = json_bytes(self._unique_id(doc_ids[row], texts[row])), texts[row]
            for part, own_keys, earlier_keys in records:
                value = BundleRecord(id_json, own_keys, earlier_keys, text).encode()
                for key in _reducer_keys(part, text):
                    shuffle_bytes += len(key) + len(value) + 2
                    yield key, value
        self.count({"shuffle_bytes": shuffle_bytes})

    def _selected(self, lines: list[bytes]) -> tuple[list[str], list[bytes], Selection]:
        """The documents of a batch of lines, and what is emitted of them; a table spares reading all others."""
        digests = self.digest_lines(lines)
        if self._table is None:
            doc_ids, texts, _ = self.read_batch(lines)
            return doc_ids, texts, self._select_keys(keys_of_texts(texts, self.settings))
        numbers, selection = self._table.select(digests).of_rows()
        doc_ids, texts, rejected = self.read_batch([lines[number] for number in numbers])
        if rejected:
            raise LookalikeError(f"a line of the gate is no document here: {rejected[0][1]}")
        return doc_ids, texts, selection

    def reducer_init(self) -> None:
        self._waiting: list[Bundle] = []
        self._num_bytes = 0

    def reducer(self, key: bytes, values: Iterable[bytes]) -> Iterator[Record]:
        """bundle, records -> pairs, once there is enough to check"""
        if key == STATS_KEY:
            yield from ((None, counts) for counts in values)
            return
        bundle = self._read_bundle(key, values)
        if bundle.is_one_sided:
            return
        if bundle.is_large:
            yield from self._check([bundle])
        elif bundle.num_docs > 1:
            self._waiting.append(bundle)
            self._num_bytes += sum(map(len, bundle.rows))
            if self._num_bytes > CHECK_BYTES:
                yield from self._check_waiting()

    def reducer_final(self) -> Iterator[Record]:
        yield from self._check_waiting()
        for counts in self.told_counts():
            yield None, counts

    def _read_bundle(self, key: bytes, values: Iterable[bytes]) -> Bundle:
        bundle = Bundle(BundlePart.decode(key), has_marks=bool(self.options.against))
        for value in values:
            bundle.add(value)
            if not self.options.gate and len(bundle.rows) > self.settings.max_bucket_docs:
                raise HotBucket(
                    f"a bucket holds more than {self.settings.max_bucket_docs} distinct texts: use lookalike pairs, "
                    "which makes a gate with mr_gate first, or raise --max-bucket-docs")
        return bundle

    def _check_waiting(self) -> Iterator[Record]:
        waiting, self._waiting, self._num_bytes = self._waiting, [], 0
        if waiting:
            yield from self._check(waiting)

    def _check(self, bundles: list[Bundle]) -> Iterator[Record]:
        """The pairs, or links, of one large bundle or of several small ones."""
        only_across: bool = self.options.only_across
        rows, to_check = gather(bundles, only_across)
        sides = sides_of(rows, only_across)
        equals = equal_texts(bundles)
        self.count({"candidates": int(sides.pairs_inside()[equals].sum())})
        blocks = check_large(to_check, self.settings) if bundles[0].is_large else [check_small(to_check, self.settings)]
        confirmed = (self._confirmed(candidates, sides) for candidates in blocks)
        if self.options.links:
            forest = Forest(rows, only_across)
            for pairs in confirmed:
                forest.add(pairs)
            yield from _cut(forest.lines())
        else:
            pair_lines = PairLines(rows, sides)
            yield from _cut(pair_lines.inside(equals))
            yield from _cut(line for pairs in confirmed for line in pair_lines.between(pairs))
            if pair_lines.num_same_id:
                self.count({"same_id": pair_lines.num_same_id})

    def _confirmed(self, candidates: Candidates, sides: Sides) -> Candidates:
        """Those of the candidates that are at or above the threshold."""
        self.count({"candidates": int(sides.pairs_between(candidates.rows_a, candidates.rows_b).sum())})
        return candidates.where(candidates.similarities >= self.settings.threshold)


def _cut(lines: Iterator[bytes]) -> Iterator[Record]:
    """Records of many lines, of which fewer pass through mrjob, and faster."""
    for piece in iter(lambda: list(islice(lines, LINES_OF_RECORD)), []):
        yield None, b"\n".join(piece)


def _records_by_row(selection: Selection) -> Iterator[tuple[int, list[tuple[tuple[int, int], bytes, bytes]]]]:
    """For each document its bundles by name: (bundle, groups), keys there, keys in bundles before."""
    keys = key_bytes(selection.keys)
    bundles = list(zip(selection.bundles.tolist(), selection.num_groups.tolist()))
    starts = run_starts(selection.rows).tolist()
    for start, end in zip(starts, [*starts[1:], len(bundles)]):
        own_keys: dict[tuple[int, int], bytes] = {}
        for at in range(start, end):
            own_keys[bundles[at]] = own_keys.get(bundles[at], b"") + keys[KEY_DIGITS * at : KEY_DIGITS * (at + 1)]
        records, earlier = [], b""
        for bundle, own in sorted(own_keys.items()):
            records.append((bundle, own, earlier))
            earlier += own
        yield int(selection.rows[start]), records


def _reducer_keys(bundle: tuple[int, int], text: bytes) -> list[bytes]:
    """The bundle, or, of a hot one, the pairs of groups that the text's group is in."""
    name, num_groups = b"%016x" % bundle[0], bundle[1]
    if num_groups == 1:
        return [name]
    group = digest64(text) % num_groups
    parts = (BundlePart(name, min(group, other), max(group, other), num_groups) for other in range(num_groups))
    return [part.encode() for part in parts]


if __name__ == "__main__":
    MRPairs.run()
