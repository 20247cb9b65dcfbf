"""Rejected lines with reason and place: a map-only pass, run only where something was rejected."""

from __future__ import annotations

from collections.abc import Iterator

from jobs.base import BatchMapJob, Record
from jobs.lean_mrjob import MRStep, jobconf_from_env
from jobs.records import encode_line, json_bytes


class MRRejects(BatchMapJob):
    """lines -> {"file", "start", "line_in_split", "reason", "detail", "line" or "line_base64"}"""

    def steps(self) -> list[MRStep]:
        return [MRStep(mapper_init=self.mapper_init, mapper=self.mapper, mapper_final=self.mapper_final)]

    def mapper_init(self) -> None:
        super().mapper_init()
        self._lines_before = 0

    def map_batch(self, lines: list[bytes]) -> Iterator[Record]:
        split = {"file": jobconf_from_env("mapreduce.map.input.file", ""),
                 "start": int(jobconf_from_env("mapreduce.map.input.start", 0))}
        for number, error in self.read_batch(lines).rejected:
            place = {**split, "line_in_split": self._lines_before + number + 1}
            why = {"reason": error.reason, "detail": str(error)}
            yield None, json_bytes({**place, **why, **encode_line(lines[number])})
        self._lines_before += len(lines)


if __name__ == "__main__":
    MRRejects.run()
