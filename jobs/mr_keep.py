"""What becomes of documents that have company: the keeper of a cluster stays, the others go, with the reason.

Of a document that stands on several lines, which may have other fields, one is decided about: the first by the policy,
then by its bytes, then in the input. A cluster meets in one reducer, or, if it is large, in several, to each of which
its keeper is sent. Lines wait for the keeper, which may come last: long ones in a file. Of a corpus that the other is
held against only keepers come, to be compared with, and nothing is decided about them.
"""

import jobs.task_check  # noqa: F401

# isort: split
import json
import math
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from jobs.base import Record
from jobs.company import Company, CompanyJob
from jobs.held_lines import HeldLines, held_lines
from jobs.keep_policy import order_of
from jobs.kept_lines import (
    ALONE,
    KEEPER,
    MEMBER,
    REFERENCE,
    SAME_LINE,
    SAME_TEXT,
    SIMILAR,
    CompanyLine,
    Decision,
    Place,
    Removed,
)
from jobs.lean_mrjob import MRStep
from jobs.members import NOBODY
from jobs.records import STATS_KEY, json_bytes
from jobs.sides import is_against, unmarked
from lsh_core.document import parse_line, read_documents
from lsh_core.errors import LookalikeError
from lsh_core.hashing import digest64, text_digest
from lsh_core.jaccard import similarities_of_texts

CHECK_BYTES = 1 << 19
"""Lines, with those of their keepers, that are compared together."""


class NoKeeper(LookalikeError):
    """A cluster whose keeper is not in the corpus."""


class SameId(LookalikeError):
    """Two documents whose ids are equal once they have the hash of their text added."""


class ToCompare(NamedTuple):
    """A document whose similarity to its keeper nobody has counted yet."""

    document: CompanyLine
    keeper: CompanyLine


class MRKeep(CompanyJob):
    """One step: lines -> part of a cluster, line -> decisions"""

    def steps(self) -> list[MRStep]:
        return [MRStep(
            mapper_init=self.mapper_init, mapper=self.mapper, mapper_final=self.mapper_final,
            reducer_init=self.reducer_init, reducer=self.reducer, reducer_final=self.reducer_final)]

    def map_company(self, lines: list[bytes], company: Company) -> Iterator[Record]:
        """lines -> part of a cluster, line"""
        for number, doc_id, text, row in zip(company.numbers, company.doc_ids, company.texts, company.rows):
            record = CompanyLine(self.place_of(number).encode(), ALONE, json_bytes(doc_id), b"-1", b"",
                                 text_digest(text).encode(), lines[number])
            for key, sent in self._sent(record, doc_id, row):
                value = sent.encode()
                self.count({"shuffle_bytes": len(key) + len(value) + 2})
                yield key, value

    def _sent(self, record: CompanyLine, doc_id: str, row: int) -> Iterator[tuple[bytes, CompanyLine]]:
        """The line with its role, and where it goes; a keeper goes to all parts of its cluster."""
        own_digest = digest64(doc_id.encode())
        if row == NOBODY:
            yield b"%016x" % own_digest, record
            return
        cluster, num_parts = int(self.members.clusters[row]), int(self.members.num_parts[row])
        own_part, is_keeper = own_digest % num_parts, bool(self.members.is_keeper[row])
        similarity = float(self.members.similarities[row])
        record = record._replace(role=KEEPER if is_keeper else MEMBER, cluster=b"%d" % cluster,
                                 similarity=b"" if math.isnan(similarity) else repr(similarity).encode())
        for part in range(num_parts) if is_keeper else (own_part,):
            is_decided = part == own_part and not self.is_against
            yield b"%d/%d" % (cluster, part), record if is_decided else record._replace(role=REFERENCE)

    def reducer_init(self) -> None:
        self._waiting: list[ToCompare] = []
        self._num_bytes = 0

    def reducer(self, key: bytes, values: Iterable[bytes]) -> Iterator[Record]:
        """part of a cluster, lines -> decisions"""
        if key == STATS_KEY:
            yield from ((None, counts) for counts in values)
            return
        with held_lines() as documents:
            for record in map(CompanyLine.decode, values):
                yield from self._take(documents, record)
            # It may come last.
            keeper = next((record for record in documents if record.role in (KEEPER, REFERENCE)), None)
            for record in documents:
                if record.role in (KEEPER, ALONE):
                    yield self._kept(record)
                elif record.role == MEMBER:
                    if keeper is None:
                        raise NoKeeper(f"cluster {record.cluster.decode()} has no keeper: did the input change?")
                    yield from self._compare(ToCompare(record, keeper))

    def _take(self, documents: HeldLines, record: CompanyLine) -> Iterator[Record]:
        """Of all lines of a document only the first in order is held; the others go at once."""
        former = documents.get(record.id_json)
        if former is None:
            documents.put(record)
            return
        if former.text_digest != record.text_digest:
            raise SameId(f"two texts got the id {record.id_json.decode()} by --duplicate-ids number: give them ids of "
                         "their own")
        first, other = sorted((former, record), key=self._order)
        if first is record:
            documents.put(record)
        if record.role != REFERENCE:
            yield self._removed(other, first, 1.0, SAME_LINE)

    def _order(self, record: CompanyLine) -> tuple[object, bytes, Place]:
        """What lines of one document are ordered by."""
        rank = self.policy.rank(parse_line(record.line, self.settings)) if self.policy.needs_texts else None
        return order_of(rank, ""), record.line, Place.decode(record.place)

    def _compare(self, pair: ToCompare) -> Iterator[Record]:
        if pair.document.similarity:
            yield self._removed_member(pair, float(pair.document.similarity))
            return
        self._waiting.append(pair)
        self._num_bytes += len(pair.document.line) + len(pair.keeper.line)
        if self._num_bytes > CHECK_BYTES:
            yield from self._compare_waiting()

    def _compare_waiting(self) -> Iterator[Record]:
        """Count all that wait, each keeper's shingles once."""
        waiting, self._waiting, self._num_bytes = self._waiting, [], 0
        row_of_line: dict[bytes, int] = {}
        rows = [[row_of_line.setdefault(record.line, len(row_of_line)) for record in pair] for pair in waiting]
        texts = read_documents(list(row_of_line), self.settings).texts
        yield from map(self._removed_member, waiting, similarities_of_texts(texts, rows, self.settings))

    def _removed_member(self, pair: ToCompare, similarity: float) -> Record:
        is_same = pair.document.text_digest == pair.keeper.text_digest
        return self._removed(pair.document, pair.keeper, similarity, SAME_TEXT if is_same else SIMILAR)

    def _removed(self, record: CompanyLine, keeper: CompanyLine, similarity: float, reason: str) -> Record:
        self.count({"removed": 1, f"removed: {reason}": 1})
        doc_id, keeper_id = json.loads(record.id_json), json.loads(keeper.id_json)
        is_other = bool(self.options.against) and is_against(keeper_id)
        if self.options.against:
            doc_id, keeper_id = unmarked(doc_id), unmarked(keeper_id)
        removed = Removed(doc_id, keeper_id, similarity, int(record.cluster), reason, record.line.decode(), is_other)
        content = json_bytes(removed.to_json())
        return None, Decision(record.place, removed.cluster, similarity, False, content).encode()

    def _kept(self, record: CompanyLine) -> Record:
        self.count({"kept": 1})
        return None, Decision(record.place, int(record.cluster), 1.0, True, record.line).encode()

    def reducer_final(self) -> Iterator[Record]:
        yield from self._compare_waiting()
        for counts in self.told_counts():
            yield None, counts


if __name__ == "__main__":
    MRKeep.run()
