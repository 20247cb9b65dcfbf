"""The gate as a side file: which lines go where, and under which settings it was made.

A gate of very many lines is a filter of keys instead.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Union

import numpy as np

from lsh_core.bloom import BloomFilter
from lsh_core.errors import LookalikeError
from lsh_core.gate import Census, Gate
from lsh_core.hashing import SCHEME, Hashes, digest64, text_digest
from lsh_core.selection import BloomGate, GateTable
from lsh_core.settings import Settings

VERSION = 3
MAX_MEMBERS = 3_000_000
"""Above so many pairs of a line and a key (some 100 MB in each mapper) a Bloom filter of the keys takes their place."""

FALSE_POSITIVE_RATE = 0.01


class BadGate(LookalikeError):
    """A gate file that is cut short, of another version, or made under other settings."""


class GateFile(NamedTuple):
    """A gate by line or by key, and the digests of the ids that stand for more than one text, or have copies."""

    gate: Union[GateTable, BloomGate]
    repeated_ids: Hashes
    copied_ids: Hashes


class UniqueIds:
    """Ids as results show them: with --duplicate-ids number, those of several texts have a hash of the text added."""

    def __init__(self, repeated_ids: Hashes, duplicate_ids: str) -> None:
        self._repeated = frozenset(repeated_ids.tolist()) if duplicate_ids == "number" else frozenset()

    def __call__(self, doc_id: str, text: bytes) -> str:
        if self._repeated and digest64(doc_id.encode()) in self._repeated:
            return f"{doc_id}~{text_digest(text, 4)}"
        return doc_id


def fingerprint(settings: Settings) -> dict[str, Any]:
    """All that decides a document's keys, so that two gates are for the same thing if it is equal."""
    return {"version": VERSION, "scheme": SCHEME, "settings": settings.to_json()}


NUMBERS_OF_LINE = 90_000
_KEYS, _MEMBERS, _REPEATED_IDS, _COPIED_IDS = b"keys", b"members", b"repeated", b"copied"
_NUM_COLUMNS = {_KEYS: 3, _MEMBERS: 2, _REPEATED_IDS: 1, _COPIED_IDS: 1}


def encode_gate(gate: Gate) -> Iterator[bytes]:
    """A gate as lines of ASCII, none much above a megabyte; of too many members only their number."""
    yield from _encode_lines(_KEYS, gate.keys, gate.bundles, gate.num_groups.astype(np.uint64))
    if len(gate.members) > MAX_MEMBERS:
        yield b"%b %d withheld" % (_MEMBERS, len(gate.members))
    else:
        yield from _encode_lines(_MEMBERS, gate.members, gate.member_keys)


def encode_census(census: Census) -> Iterator[bytes]:
    """The digests of ids that stand for more than one text, and of those that have copies, as lines of ASCII."""
    yield from _encode_lines(_REPEATED_IDS, census.repeated_ids)
    yield from _encode_lines(_COPIED_IDS, census.copied_ids)


def _encode_lines(kind: bytes, *columns: Hashes) -> Iterator[bytes]:
    rows = np.column_stack(columns).astype("<u8")
    step = NUMBERS_OF_LINE // len(columns)
    for first in range(0, len(rows), step):
        piece = rows[first : first + step]
        yield b"%b %d %b" % (kind, len(piece), b64encode(piece.tobytes()))


def _pieces(lines: BinaryIO, kind: bytes) -> Iterator[Hashes]:
    """The rows of the lines of one kind, read from the start."""
    lines.seek(0)
    for line in lines:
        found, _, content = line.split(b" ", 2)
        if found == kind:
            yield np.frombuffer(b64decode(content), "<u8").astype(np.uint64).reshape(-1, _NUM_COLUMNS[kind])


def _rows(lines: BinaryIO, kind: bytes) -> Hashes:
    return np.concatenate([np.empty((0, _NUM_COLUMNS[kind]), np.uint64), *_pieces(lines, kind)])


def decode_gate(lines: BinaryIO) -> Gate:
    """The gate of all lines of a job's output, whatever their order."""
    keys, bundles, num_groups = _rows(lines, _KEYS).T
    members, member_keys = _rows(lines, _MEMBERS).T
    order, by_text = np.argsort(keys), np.lexsort((member_keys, members))
    return Gate(keys[order], bundles[order], num_groups[order].astype(np.int64),
                members[by_text], member_keys[by_text])


def decode_ids(lines: BinaryIO) -> tuple[Hashes, Hashes]:
    """The digests of repeated ids and of copied ones of all lines of a job's output, ascending."""
    return np.sort(_rows(lines, _REPEATED_IDS)[:, 0]), np.sort(_rows(lines, _COPIED_IDS)[:, 0])


def write_gate(path: Path, lines: BinaryIO, settings: Settings) -> None:
    """From the lines of a job's output: a line of JSON, then a filter or nothing, then tables, little-endian."""
    num_rows = _num_rows(lines)
    if num_rows[_MEMBERS] > MAX_MEMBERS:
        bloom = _bloom_gate(lines, num_rows[_KEYS])
        gate, filter_bytes = bloom.hot, bloom.kept.to_bytes()
    else:
        gate, filter_bytes = decode_gate(lines), b""
    tables = (*gate, *decode_ids(lines))
    header = {**fingerprint(settings), "filter_bytes": len(filter_bytes), "num_rows": [len(table) for table in tables]}
    with open(path, "wb") as file:
        file.write(json.dumps(header).encode() + b"\n" + filter_bytes)
        for table in tables:
            file.write(table.astype("<u8").tobytes())


def _num_rows(lines: BinaryIO) -> Counter[bytes]:
    """How many rows of each kind there are, written or not."""
    lines.seek(0)
    num_rows: Counter[bytes] = Counter()
    for line in lines:
        kind, number, _ = line.split(b" ", 2)
        num_rows[kind] += int(number)
    return num_rows


def _bloom_gate(lines: BinaryIO, num_keys: int) -> BloomGate:
    """The same gate with some keys too many, without having all of them in memory."""
    kept = BloomFilter.sized_for(num_keys, FALSE_POSITIVE_RATE)
    hot = [np.empty((0, 3), np.uint64)]
    for piece in _pieces(lines, _KEYS):
        kept.add(piece[piece[:, 2] > 0, 0])
        hot.append(piece[piece[:, 2] != 1])
    keys, bundles, num_groups = np.concatenate(hot).T
    order, none = np.argsort(keys), np.empty(0, np.uint64)
    return BloomGate(kept, Gate(keys[order], bundles[order], num_groups[order].astype(np.int64), none, none))


def read_gate(path: str, settings: Settings) -> GateFile:
    """The gate of a file, refused if it was not made for these settings by this code."""
    with open(path, "rb") as file:
        line, content = file.readline(), file.read()
    try:
        header = json.loads(line)
        filter_bytes, num_rows = header.pop("filter_bytes"), header.pop("num_rows")
    except (ValueError, KeyError, AttributeError, TypeError):
        raise BadGate(f"{path} is not a gate file") from None
    _check_fingerprint(path, header, fingerprint(settings))
    if len(content) != filter_bytes + 8 * sum(num_rows):
        raise BadGate(f"{path} is cut short")
    values = np.frombuffer(content, "<u8", offset=filter_bytes).astype(np.uint64)
    keys, bundles, num_groups, members, member_keys, *ids = np.split(values, np.cumsum(num_rows)[:-1])
    gate = Gate(keys, bundles, num_groups.astype(np.int64), members, member_keys)
    if filter_bytes:
        return GateFile(BloomGate(BloomFilter.from_bytes(content[:filter_bytes]), gate), *ids)
    return GateFile(GateTable(gate), *ids)


def _check_fingerprint(path: str, found: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    for name in ("version", "scheme"):
        if found.get(name) != wanted[name]:
            raise BadGate(f"{path} was made with {name} {found.get(name)}, this run has {wanted[name]}")
    differing = [name for name, value in wanted["settings"].items() if found["settings"].get(name) != value]
    if differing:
        raise BadGate(f"{path} was made with other settings: {', '.join(differing)}")
