"""Rejected lines with reason and place: a map-only pass, run only where something was rejected."""

import jobs.task_check  # noqa: F401

# isort: split
from collections.abc import Iterator
from typing import ClassVar

from jobs.base import BatchMapJob, Record
from jobs.gate_file import read_gate
from jobs.input_split import input_split
from jobs.lean_mrjob import MRStep
from jobs.records import encode_line, json_bytes
from jobs.sides import unmarked
from lsh_core.document import DocumentBatch
from lsh_core.errors import RejectedLine
from lsh_core.hashing import digest64


class RepeatedId(RejectedLine):
    """Not wrong by itself: another line has the same id and another text."""

    reason = "repeated id"


class MRRejects(BatchMapJob):
    """lines -> {"file", "start", "line_in_split", "reason", "detail", "line" or "line_base64"}"""

    JOBCONF: ClassVar[dict[str, str]] = {"stream.map.output": "keyonlytext"}

    def steps(self) -> list[MRStep]:
        return [MRStep(mapper_init=self.mapper_init, mapper=self.mapper, mapper_final=self.mapper_final)]

    def configure_args(self) -> None:
        super().configure_args()
        self.add_file_arg("--repeated-ids", help="gate file: find documents whose id stands for several texts instead")

    def mapper_init(self) -> None:
        super().mapper_init()
        if self.options.repeated_ids:
            self._repeated_ids = frozenset(read_gate(self.options.repeated_ids, self.settings).repeated_ids.tolist())

    def _repeated(self, batch: DocumentBatch, num_lines: int) -> Iterator[tuple[int, RejectedLine]]:
        rejected = {number for number, _ in batch.rejected}
        numbers = (number for number in range(num_lines) if number not in rejected)
        for number, doc_id in zip(numbers, batch.doc_ids):
            if digest64(doc_id.encode()) in self._repeated_ids:
                shown_id = unmarked(doc_id) if self.options.against else doc_id
                yield number, RepeatedId(f"{shown_id!r} stands for more than one text")

    def map_batch(self, lines: list[bytes]) -> Iterator[Record]:
        split = input_split()._asdict()
        self.digest_lines(lines)
        batch = self.read_batch(lines)
        for number, error in self._repeated(batch, len(lines)) if self.options.repeated_ids else batch.rejected:
            place = {**split, "line_in_split": self.lines_before + number + 1}
            why = {"reason": error.reason, "detail": str(error)}
            yield None, json_bytes({**place, **why, **encode_line(lines[number])})


if __name__ == "__main__":
    MRRejects.run()
