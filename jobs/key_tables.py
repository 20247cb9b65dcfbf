"""Band keys and digests of documents as lines that stay: what an index has so that nothing is sketched again."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from lsh_core.errors import LookalikeError
from lsh_core.hashing import Hashes

NUMBERS_OF_LINE = 90_000


class BadKeys(LookalikeError):
    """A line of an index that does not fit the settings."""


class KeyTable(NamedTuple):
    """Documents by their band keys (n, bands), and the digests (n,) of their lines, texts and ids.

    ``unicode_version`` says which tables of Unicode the texts were normalized by.
    """

    unicode_version: str
    keys: Hashes
    lines: Hashes
    texts: Hashes
    ids: Hashes

    def encode(self) -> Iterator[bytes]:
        """Lines of ASCII, none much above a megabyte."""
        table = np.column_stack([*self.keys.T, self.lines, self.texts, self.ids]).astype("<u8")
        step = max(1, NUMBERS_OF_LINE // table.shape[1])
        for first in range(0, len(table), step):
            yield b"%b %b" % (self.unicode_version.encode(), b64encode(table[first : first + step].tobytes()))

    @classmethod
    def decode(cls, line: bytes, num_bands: int) -> KeyTable:
        """The inverse of ``encode``, line by line."""
        unicode_version, _, content = line.partition(b" ")
        try:
            table = np.frombuffer(b64decode(content, validate=True), "<u8").astype(np.uint64).reshape(-1, num_bands + 3)
        except ValueError as error:
            raise BadKeys(f"not a table of {num_bands} keys a document: {error}") from None
        return cls(unicode_version.decode(), table[:, :num_bands], *table[:, num_bands:].T)
