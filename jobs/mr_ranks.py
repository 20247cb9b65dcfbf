"""Where documents stand in their clusters: a number for each that the policy of keeping asks for."""

import jobs.task_check  # noqa: F401

# isort: split
from collections.abc import Iterator
from typing import ClassVar

from jobs.base import Record
from jobs.company import Company, CompanyJob
from jobs.lean_mrjob import MRStep
from jobs.members import NOBODY
from jobs.records import json_bytes
from lsh_core.document import parse_line


class MRRanks(CompanyJob):
    """Map only: lines -> [id, rank] of each document of a cluster"""

    JOBCONF: ClassVar[dict[str, str]] = {"stream.map.output": "keyonlytext"}

    def steps(self) -> list[MRStep]:
        return [MRStep(mapper_init=self.mapper_init, mapper=self.mapper, mapper_final=self.mapper_final)]

    def map_company(self, lines: list[bytes], company: Company) -> Iterator[Record]:
        """lines -> [id, rank]"""
        for number, doc_id, row in zip(company.numbers, company.doc_ids, company.rows):
            if row != NOBODY:
                rank = self.policy.rank(parse_line(lines[number], self.settings))
                self.count({"without_rank": int(rank is None)})
                yield None, json_bytes([doc_id, rank])


if __name__ == "__main__":
    MRRanks.run()
