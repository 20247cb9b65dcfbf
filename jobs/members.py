"""Members of clusters as a side file: the cluster of each, who is its keeper, and how similar it is to that."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable
from typing import BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt

from lsh_core.errors import LookalikeError
from lsh_core.hashing import digests128
from lsh_core.ragged import Ints

MAX_MEMBERS = 10_000_000
"""More are refused: a task holds 40 bytes of each."""

NOBODY = -1


class BadMembers(LookalikeError):
    """A file of members that is cut short, or is none."""


class Members(NamedTuple):
    """Documents of clusters, in the order of their ids' digests.

    A cluster of many documents is compared in ``num_parts`` reducers. ``similarities`` are those to the keeper, NaN
    where nobody has counted yet.
    """

    digests: npt.NDArray[np.bytes_]
    clusters: Ints
    num_parts: Ints
    is_keeper: npt.NDArray[np.bool_]
    similarities: npt.NDArray[np.float64]

    def find(self, doc_ids: Iterable[str]) -> Ints:
        """The row of each id, or NOBODY."""
        wanted = digests128(doc_id.encode() for doc_id in doc_ids)
        rows = np.searchsorted(self.digests, wanted)
        is_found = np.append(self.digests, b"")[rows] == wanted
        return np.where(is_found, rows, NOBODY)

    def in_order(self) -> Members:
        """The same, ready to look ids up."""
        order = np.argsort(self.digests)
        return Members._make(column[order] for column in self)


def write_members(file: BinaryIO, members: Members) -> None:
    np.savez(file, *members)


def read_members(path: str) -> Members:
    """The inverse of ``write_members``."""
    try:
        with np.load(path, allow_pickle=False) as columns:
            return Members._make(columns[name] for name in columns.files)
    except (OSError, ValueError, TypeError, AttributeError, EOFError, zipfile.BadZipFile) as error:
        raise BadMembers(f"{path} is not a file of members: {error}") from error
