"""What is kept without a question: documents that nothing is like, on one line each."""

import jobs.task_check  # noqa: F401

# isort: split
from collections.abc import Iterator
from typing import ClassVar

from jobs.base import Record
from jobs.company import Company, CompanyJob
from jobs.kept_lines import HOLE, KEPT
from jobs.lean_mrjob import MRStep


class MRRest(CompanyJob):
    """Map only: lines -> the same, but for those that are rejected or have company

    With --holes a mark stands in the place of each line that has company, so that all can be put together in
    the order of the input.
    """

    JOBCONF: ClassVar[dict[str, str]] = {"stream.map.output": "keyonlytext"}

    def configure_args(self) -> None:
        super().configure_args()
        self.add_passthru_arg("--holes", action="store_true", help="mark the places of lines that have company")

    def steps(self) -> list[MRStep]:
        return [MRStep(mapper_init=self.mapper_init, mapper=self.mapper, mapper_final=self.mapper_final)]

    def map_company(self, lines: list[bytes], company: Company) -> Iterator[Record]:
        """lines -> lines, many in a record"""
        others = dict.fromkeys(company.rejected, b"")
        others.update(dict.fromkeys(company.numbers, HOLE if self.options.holes else b""))
        rest = [others.get(number, KEPT + line) for number, line in enumerate(lines)]
        self.count({"rest": len(lines) - len(others)})
        rest = [line for line in rest if line]
        if rest:
            yield None, b"\n".join(rest)


if __name__ == "__main__":
    MRRest.run()
