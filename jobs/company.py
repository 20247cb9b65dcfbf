"""Documents that are not alone: those of a cluster, and those that stand on several lines."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from jobs.base import BatchMapJob, Record
from jobs.gate_file import UniqueIds, read_gate
from jobs.input_split import input_split, numbers_of_files
from jobs.keep_policy import POLICIES, KeepPolicy
from jobs.kept_lines import Place
from jobs.members import NOBODY, read_members
from lsh_core.errors import SettingsError
from lsh_core.hashing import Hashes, digests64
from lsh_core.ragged import Ints, equal_ranges
from lsh_core.selection import GateTable


class Company(NamedTuple):
    """Of a batch of lines: the numbers of those that have company, with id, text and row among the members of each.

    A document of several lines that is in no cluster has the row NOBODY.
    """

    numbers: list[int]
    doc_ids: list[str]
    texts: list[bytes]
    rows: list[int]
    rejected: list[int]


class CompanyJob(BatchMapJob):
    """A job that goes through a corpus whose clusters are known."""

    def configure_args(self) -> None:
        super().configure_args()
        self.add_file_arg("--gate", help="gate file of the corpus")
        self.add_file_arg("--members", help="file of the members of clusters")
        self.add_file_arg("--input-names", help="JSON list of the names of each input, in their order")
        self.add_passthru_arg("--duplicate-ids", choices=("refuse", "number"), default="refuse",
                              help="as the clusters were found with")
        self.add_passthru_arg("--keep", default="id", help=f"{POLICIES}, percent-encoded")
        self.add_passthru_arg("--one-line-each", action="store_true",
                              help="no line is rejected and no document has copies: only lines of the gate are parsed")
        self.add_passthru_arg("--old-links", action="store_true",
                              help="clusters come from links of an index too: their keepers may be outside of the gate")

    def load_args(self, args: list[str]) -> None:
        super().load_args(args)
        try:
            self.policy = KeepPolicy.of_argument(self.options.keep)
        except SettingsError as error:
            self.arg_parser.error(str(error))

    def mapper_init(self) -> None:
        super().mapper_init()
        self._gate, repeated_ids, self._copied_ids = read_gate(self.options.gate, self.settings)
        self._unique_id = UniqueIds(repeated_ids, self.options.duplicate_ids)
        self.members = read_members(self.options.members)
        with open(self.options.input_names, encoding="utf-8") as file:
            self._number_of_file = numbers_of_files(json.load(file))

    def map_batch(self, lines: list[bytes]) -> Iterable[Record]:
        return self.map_company(lines, self._find_company(lines))

    def map_company(self, lines: list[bytes], company: Company) -> Iterable[Record]:
        raise NotImplementedError

    def place_of(self, number: int) -> Place:
        """Where a line of the batch in work comes from."""
        split = input_split()
        return Place(self._number_of_file(split.file), *split, self.lines_before + number + 1)

    def _find_company(self, lines: list[bytes]) -> Company:
        """The lines of a batch that have company."""
        digests = self.digest_lines(lines)
        numbers = self._read_numbers(digests)
        doc_ids, texts, rejected = self.read_batch([lines[number] for number in numbers])
        rejected_numbers = [numbers[at] for at, _ in rejected]
        if rejected:
            numbers = sorted(set(numbers) - set(rejected_numbers))
        id_digests = digests64(doc_id.encode() for doc_id in doc_ids)
        doc_ids = list(map(self._unique_id, doc_ids, texts))
        rows = self.members.find(doc_ids)
        chosen = np.flatnonzero(self._has_say(rows, id_digests)).tolist()
        return Company([numbers[at] for at in chosen], [doc_ids[at] for at in chosen], [texts[at] for at in chosen],
                       rows[chosen].tolist(), rejected_numbers)

    def _has_say(self, rows: Ints, id_digests: Hashes) -> npt.NDArray[np.bool_]:
        """Which documents have company; of the corpus that the other is held against only keepers matter."""
        if self.is_against:
            return np.append(self.members.is_keeper, False)[rows]
        has_company: npt.NDArray[np.bool_] = (rows != NOBODY) | (equal_ranges(self._copied_ids, id_digests)[1] > 0)
        return has_company

    def _read_numbers(self, digests: Hashes) -> list[int]:
        """Which lines have to be parsed."""
        is_in_gate = not self.options.old_links if self.is_against else self.options.one_line_each
        if is_in_gate and isinstance(self._gate, GateTable):
            return self._gate.select(digests).of_rows()[0]
        return list(range(len(digests)))
