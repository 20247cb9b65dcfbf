"""Near-duplicate pairs: (band, bucket) -> document; documents of a bucket -> exact Jaccard -> pair."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator

import numpy as np

from jobs.base import BatchMapJob, Record
from jobs.lean_mrjob import MRStep
from jobs.records import KEY_DIGITS, STATS_KEY, BucketRecord, decode_keys, encode_pair, json_bytes, key_bytes
from lsh_core.banding import band_keys
from lsh_core.candidates import candidate_pairs, is_first_meeting
from lsh_core.errors import LookalikeError
from lsh_core.jaccard import ShingleSets, shingle_sets, similarities
from lsh_core.minhash import signatures
from lsh_core.ragged import Ints, offsets_of

CHECK_BYTES = 1 << 19
"""Text of the buckets that are checked together."""


class HotBucket(LookalikeError):
    """More distinct texts share a bucket than one reducer is allowed to compare."""


class MRPairs(BatchMapJob):
    """One step: each pair at or above the threshold once, under the smallest key that it shares."""

    def steps(self) -> list[MRStep]:
        return [MRStep(
            mapper_init=self.mapper_init, mapper=self.mapper, mapper_final=self.mapper_final,
            reducer_init=self.reducer_init, reducer=self.reducer, reducer_final=self.reducer_final)]

    def map_batch(self, lines: list[bytes]) -> Iterator[Record]:
        """lines -> key, (id, smaller keys, text)"""
        doc_ids, texts, _ = self.read_batch(lines)
        keys = np.sort(band_keys(signatures(texts, self.settings), self.settings), axis=1)
        shuffle_bytes = 0
        for doc_id, text, row in zip(doc_ids, texts, keys):
            id_json, ascending = json_bytes(doc_id), key_bytes(row)
            for start in range(0, len(ascending), KEY_DIGITS):
                value = BucketRecord(id_json, ascending[:start], text).encode()
                shuffle_bytes += KEY_DIGITS + len(value) + 2
                yield ascending[start : start + KEY_DIGITS], value
        self.count({"shuffle_bytes": shuffle_bytes})

    def reducer_init(self) -> None:
        self._buckets: list[list[BucketRecord]] = []
        self._num_bytes = 0

    def reducer(self, key: bytes, values: Iterable[bytes]) -> Iterator[Record]:
        """key, records -> pairs, once there is enough to check"""
        if key == STATS_KEY:
            for counts in values:
                yield None, counts
            return
        bucket = self._distinct_documents(values)
        if len(bucket) > 1:
            self._buckets.append(bucket)
            self._num_bytes += sum(len(record.text) for record in bucket)
            if self._num_bytes > CHECK_BYTES:
                yield from self._check()

    def reducer_final(self) -> Iterator[Record]:
        yield from self._check()
        for counts in self.told_counts():
            yield None, counts

    def _distinct_documents(self, values: Iterable[bytes]) -> list[BucketRecord]:
        """The documents of a bucket without extra copies; each is counted at its smallest key."""
        num_lines: Counter[bytes] = Counter()
        for value in values:
            num_lines[value] += 1
            if len(num_lines) > self.settings.max_bucket_docs:
                self._refuse_if_hot(num_lines)
        bucket = [BucketRecord.decode(value) for value in num_lines]
        at_home = [number for record, number in zip(bucket, num_lines.values()) if not record.smaller_keys]
        self.count({"documents": len(at_home), "copies": sum(at_home) - len(at_home)})
        return bucket

    def _refuse_if_hot(self, documents: Iterable[bytes]) -> None:
        texts = {BucketRecord.decode(value).text for value in documents}
        if len(texts) > self.settings.max_bucket_docs:
            raise HotBucket(
                f"a bucket holds more than {self.settings.max_bucket_docs} distinct texts; "
                "raise --max-bucket-docs, or choose a higher threshold or more rows")

    def _check(self) -> Iterator[Record]:
        """The pairs of all waiting buckets."""
        buckets, self._buckets, self._num_bytes = self._buckets, [], 0
        if not buckets:
            return
        records = [record for bucket in buckets for record in bucket]
        doc_ids = [json.loads(record.id_json) for record in records]
        sets = shingle_sets([record.text for record in records], self.settings)
        smaller = _key_sets(records)
        for rows_a, rows_b in candidate_pairs(np.array([len(bucket) for bucket in buckets])):
            is_first = is_first_meeting(smaller, rows_a, rows_b)
            yield from self._confirm(doc_ids, sets, rows_a[is_first], rows_b[is_first])

    def _confirm(self, doc_ids: list[str], sets: ShingleSets, rows_a: Ints, rows_b: Ints) -> Iterator[Record]:
        similar = similarities(sets, rows_a, rows_b)
        is_pair = similar >= self.settings.threshold
        self.count({"candidates": len(similar)})
        for i, j, similarity in zip(rows_a[is_pair].tolist(), rows_b[is_pair].tolist(), similar[is_pair].tolist()):
            a, b = sorted((doc_ids[i], doc_ids[j]))
            if a == b:
                self.count({"same_id": 1})
            else:
                yield None, encode_pair(a, b, similarity)


def _key_sets(records: list[BucketRecord]) -> ShingleSets:
    """The smaller keys of each record, as ascending sets."""
    counts = np.array([len(record.smaller_keys) // KEY_DIGITS for record in records])
    return ShingleSets(decode_keys(b"".join(record.smaller_keys for record in records)), offsets_of(counts))


if __name__ == "__main__":
    MRPairs.run()
