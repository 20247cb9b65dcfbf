"""The floor: what mrjob itself takes for two steps that pass every line on, mapped, sorted and reduced.

    python benchmarks/floor.py CORPUS -r local --no-conf                             mrjob as it comes
    python benchmarks/floor.py CORPUS -r local --conf-path conf/local.conf --lean    with our start-up and runner
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Optional

# Decided before mrjob is imported: the tasks get the option too.
if "--lean" in sys.argv:
    from jobs.lean_mrjob import BytesProtocol, MRJob, MRStep
else:
    from mrjob.job import MRJob
    from mrjob.protocol import BytesProtocol
    from mrjob.step import MRStep

Record = tuple[bytes, Optional[bytes]]


class MRIdentity(MRJob):
    """line -> line -> line -> line -> line"""

    INPUT_PROTOCOL = INTERNAL_PROTOCOL = OUTPUT_PROTOCOL = BytesProtocol

    def configure_args(self) -> None:
        super().configure_args()
        self.add_passthru_arg("--lean", action="store_true", help="with the start-up and the runners of jobs")

    def steps(self) -> list[MRStep]:
        return 2 * [MRStep(mapper=self.mapper, reducer=self.reducer)]

    def mapper(self, key: bytes, value: Optional[bytes]) -> Iterator[Record]:
        """line, nothing -> line, nothing"""
        yield key, value

    def reducer(self, key: bytes, values: Iterable[Optional[bytes]]) -> Iterator[Record]:
        """line, nothings -> line, nothing"""
        for value in values:
            yield key, value


if __name__ == "__main__":
    MRIdentity.run()
