"""The band keys and digests of documents, for an index, which then needs no sketch of them again: a map-only pass."""

import jobs.task_check  # noqa: F401

# isort: split
from collections.abc import Iterator
from typing import ClassVar
from unicodedata import unidata_version

from jobs.base import BatchMapJob, Record
from jobs.key_tables import KeyTable
from jobs.lean_mrjob import MRStep
from jobs.sides import AGAINST
from lsh_core.banding import keys_of_texts
from lsh_core.document import read_documents
from lsh_core.errors import LookalikeError
from lsh_core.hashing import digests64


class MRKeys(BatchMapJob):
    """Map only: lines, all of them documents -> lines of a table of keys

    Ids have the mark that those of an index get wherever it is used: others are held against them.
    """

    JOBCONF: ClassVar[dict[str, str]] = {"stream.map.output": "keyonlytext"}

    def steps(self) -> list[MRStep]:
        return [MRStep(mapper_init=self.mapper_init, mapper=self.mapper, mapper_final=self.mapper_final)]

    def map_batch(self, lines: list[bytes]) -> Iterator[Record]:
        """lines -> lines of a table"""
        doc_ids, texts, rejected = read_documents(lines, self.settings)
        if rejected:
            raise LookalikeError(f"a line of an index is no document: {rejected[0][1]}")
        id_digests = digests64((AGAINST + doc_id).encode() for doc_id in doc_ids)
        keys = keys_of_texts(texts, self.settings)
        table = KeyTable(unidata_version, keys, digests64(lines), digests64(texts), id_digests)
        yield from ((None, line) for line in table.encode())


if __name__ == "__main__":
    MRKeys.run()
