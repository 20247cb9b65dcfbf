"""The bytes of every record: encode beside decode."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Optional

import numpy as np

from lsh_core.hashing import Hashes, range_numbers

# One encoder for all values: json.dumps would make one for each.
_encode_json = json.JSONEncoder(ensure_ascii=False).encode

STATS_KEY = b""
"""Before every band key: the record that carries a map task's counts."""

COUNTS_PREFIX = b'{"counts": '


def json_bytes(value: Any) -> bytes:
    """A JSON value on one line of UTF-8; it holds no tab, CR or LF.

    >>> json_bytes("a\\tb")
    b'"a\\\\tb"'
    """
    return _encode_json(value).encode()


def key_bytes(keys: Hashes) -> bytes:
    """Band keys, 16 hex digits each, which sort as the numbers do.

    >>> key_bytes(np.array([1, 255], np.uint64))
    b'000000000000000100000000000000ff'
    """
    return keys.astype(">u8").tobytes().hex().encode()


KEY_DIGITS = 16
NUMBERS_OF_RECORD = 100_000


class BundleRecord(NamedTuple):
    """What a document sends to a bundle: its kept keys there, and those in bundles of smaller name, as bytes."""

    id_json: bytes
    own_keys: bytes
    earlier_keys: bytes
    text: bytes

    def encode(self) -> bytes:
        return b"\t".join(self)

    @classmethod
    def decode(cls, value: bytes) -> BundleRecord:
        return cls(*value.split(b"\t", 3))


class BundlePart(NamedTuple):
    """The key of a reducer: a bundle, or two groups (i <= j) of the texts of a hot one."""

    bundle: bytes
    i: int = 0
    j: int = 0
    num_groups: int = 1

    def encode(self) -> bytes:
        return self.bundle if self.num_groups == 1 else b"%b/%d/%d/%d" % self

    @classmethod
    def decode(cls, key: bytes) -> BundlePart:
        """The inverse of ``encode``.

        >>> BundlePart.decode(BundlePart(b"00ff", 0, 2, 3).encode())
        BundlePart(bundle=b'00ff', i=0, j=2, num_groups=3)
        """
        bundle, *numbers = key.split(b"/")
        return cls(bundle, *map(int, numbers))


ESCAPE = 0x1B
_ESCAPES = ((b"\x1b", b"\x1be"), (b"\n", b"\x1bn"), (b"\r", b"\x1br"))
_RAW_OF_LETTER = np.zeros(256, np.uint8)
_RAW_OF_LETTER[[ord(escaped[1:]) for _, escaped in _ESCAPES]] = [ord(raw) for raw, _ in _ESCAPES]


def pack_numbers(numbers: Hashes) -> bytes:
    """Numbers of 64 bits as eight bytes each, but for what would end a line.

    >>> pack_numbers(np.array([10], np.uint64))
    b'\\x1bn\\x00\\x00\\x00\\x00\\x00\\x00\\x00'
    """
    packed = numbers.astype("<u8").tobytes()
    for raw, escaped in _ESCAPES:
        packed = packed.replace(raw, escaped)
    return packed


def unpack_numbers(packed: bytes) -> Hashes:
    """The inverse of ``pack_numbers``."""
    escaped = np.frombuffer(packed, np.uint8)
    at = np.flatnonzero(escaped == ESCAPE)
    raw = np.delete(escaped, at)
    raw[at - np.arange(len(at))] = _RAW_OF_LETTER[escaped[at + 1]]
    return raw.view("<u8").astype(np.uint64, copy=False)


def decode_keys(joined: bytes) -> Hashes:
    """The inverse of ``key_bytes``."""
    return np.frombuffer(bytes.fromhex(joined.decode()), ">u8").astype(np.uint64)


def pack_table(columns: Sequence[Hashes], num_ranges: int = 1) -> Iterator[tuple[int, bytes]]:
    """Columns of numbers as records of rows, none above a megabyte, by the range of the first number of a row."""
    table = np.column_stack(columns)
    step = max(1, NUMBERS_OF_RECORD // table.shape[1])
    ranges = range_numbers(table[:, 0], num_ranges)
    for number in range(num_ranges):
        rows = table[ranges == number] if num_ranges > 1 else table
        for first in range(0, len(rows), step):
            yield number, pack_numbers(rows[first : first + step])


def unpack_table(records: Iterable[bytes], num_columns: int) -> Hashes:
    """All rows as one table, column by column in memory; the records are freed as they are used."""
    pieces = [unpack_numbers(record).reshape(-1, num_columns) for record in records]
    table = np.empty((sum(map(len, pieces)), num_columns), np.uint64, order="F")
    end = len(table)
    while pieces:
        piece = pieces.pop()
        table[end - len(piece) : end] = piece
        end -= len(piece)
    return table


def decode_id(id_json: bytes) -> str:
    """The id of its JSON, which is a string."""
    text: str = json.loads(id_json) if b"\\" in id_json else id_json[1:-1].decode()
    return text


class DocId(NamedTuple):
    """An id as text, by which ids are ordered, and as JSON, as it is written."""

    text: str
    json: bytes

    @classmethod
    def decode(cls, id_json: bytes) -> DocId:
        return cls(decode_id(id_json), id_json)


PAIR_LINE = b'{"a": %b, "b": %b, "similarity": %b}'


def encode_pair(a: DocId, b: DocId, similarity: float) -> bytes:
    """One line of ``pairs.jsonl``; the smaller id comes first.

    >>> encode_pair(DocId.decode(b'"y"'), DocId.decode(b'"x"'), 0.8)
    b'{"a": "x", "b": "y", "similarity": 0.8}'
    """
    if b < a:
        a, b = b, a
    return PAIR_LINE % (a.json, b.json, repr(similarity).encode())


def encode_counts(counts: Mapping[str, int]) -> bytes:
    """Counts of a task as a line of its output, where a retried task cannot count twice."""
    return COUNTS_PREFIX + json_bytes(dict(sorted(counts.items()))) + b"}"


def decode_counts(line: bytes) -> Optional[dict[str, int]]:
    """The counts of a line that holds some, else None.

    >>> decode_counts(encode_counts({"pairs": 2}))
    {'pairs': 2}
    >>> decode_counts(b'{"a": "x", "b": "y", "similarity": 0.8}') is None
    True
    """
    if not line.startswith(COUNTS_PREFIX):
        return None
    counts: dict[str, int] = json.loads(line)["counts"]
    return counts


def encode_line(line: bytes) -> dict[str, str]:
    """A line of any bytes as JSON fields: as it is, or in base64 where it is not UTF-8.

    >>> encode_line(b"ok"), encode_line(bytes([255]))
    ({'line': 'ok'}, {'line_base64': '/w=='})
    """
    try:
        return {"line": line.decode()}
    except UnicodeDecodeError:
        return {"line_base64": base64.b64encode(line).decode()}
