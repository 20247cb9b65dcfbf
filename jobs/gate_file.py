"""The gate as a side file: which keys to emit, under which settings it was made, and of which input."""

from __future__ import annotations

import json
import unicodedata
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Callable, NamedTuple

import numpy as np

from lsh_core.bloom import BloomFilter
from lsh_core.errors import LookalikeError
from lsh_core.gate import BloomGate, Gate, GateIndex, Selection
from lsh_core.hashing import SCHEME, Hashes
from lsh_core.settings import Settings

VERSION = 1
MAX_ARRAY_KEYS = 4_000_000
"""Above so many keys (96 MB in each mapper) a Bloom filter takes their place."""


class BadGate(LookalikeError):
    """A gate file that is cut short, of another version, or made under other settings."""


class GateFile(NamedTuple):
    """How to select the keys to emit, and the digests of the ids that stand for more than one text."""

    select: Callable[[Hashes], Selection]
    repeated_ids: Hashes


def fingerprint(settings: Settings) -> dict[str, Any]:
    """All that decides a document's keys, so that two gates are for the same thing if it is equal."""
    return {"version": VERSION, "scheme": SCHEME, "unidata": unicodedata.unidata_version,
            "settings": settings.to_json()}


KEYS_OF_LINE = 30_000
_GATE, _REPEATED_IDS = b"gate", b"ids"


def encode_gate(gate: Gate) -> Iterator[bytes]:
    """A gate as lines of ASCII, none much above a megabyte."""
    rows = np.stack([gate.keys, gate.bundles, gate.num_groups.astype(np.uint64)], axis=1)
    yield from _encode_lines(_GATE, rows)


def encode_repeated_ids(ids: Hashes) -> Iterator[bytes]:
    """The digests of ids that stand for more than one text, as lines of ASCII."""
    yield from _encode_lines(_REPEATED_IDS, ids)


def _encode_lines(kind: bytes, rows: Hashes) -> Iterator[bytes]:
    for first in range(0, len(rows), KEYS_OF_LINE):
        yield kind + b" " + b64encode(rows[first : first + KEYS_OF_LINE].astype("<u8").tobytes())


def decode_lines(lines: Iterable[bytes]) -> tuple[Gate, Hashes]:
    """The gate of all lines of a job's output, whatever their order, and the digests of repeated ids."""
    rows, ids = [np.empty(0, np.uint64)], [np.empty(0, np.uint64)]
    for line in lines:
        kind, _, content = line.partition(b" ")
        (rows if kind == _GATE else ids).append(np.frombuffer(b64decode(content), "<u8").astype(np.uint64))
    keys, bundles, num_groups = np.concatenate(rows).reshape(-1, 3).T
    order = np.argsort(keys)
    return Gate(keys[order], bundles[order], num_groups[order].astype(np.int64)), np.sort(np.concatenate(ids))


def write_gate(path: Path, gate: Gate, repeated_ids: Hashes, settings: Settings) -> None:
    """A line of JSON, then the arrays, little-endian; the keys as a Bloom filter where they are very many."""
    bloom = BloomGate.of(gate) if len(gate.keys) > MAX_ARRAY_KEYS else None
    filter_bytes = bloom.kept.to_bytes() if bloom else b""
    table = bloom.hot if bloom else gate
    header = {**fingerprint(settings), "filter_bytes": len(filter_bytes), "num_keys": len(table.keys),
              "num_ids": len(repeated_ids)}
    with open(path, "wb") as file:
        file.write(json.dumps(header).encode() + b"\n" + filter_bytes)
        for array in (*table, repeated_ids):
            file.write(array.astype("<u8").tobytes())


def read_gate(path: str, settings: Settings) -> GateFile:
    """The gate of a file, refused if it was not made for these settings by this code."""
    with open(path, "rb") as file:
        line, content = file.readline(), file.read()
    try:
        header = json.loads(line)
        num_bytes, num_keys, num_ids = (header.pop(name) for name in ("filter_bytes", "num_keys", "num_ids"))
    except (ValueError, KeyError, AttributeError, TypeError):
        raise BadGate(f"{path} is not a gate file") from None
    _check_fingerprint(path, header, fingerprint(settings))
    if len(content) != num_bytes + 8 * (3 * num_keys + num_ids):
        raise BadGate(f"{path} is cut short")
    values = np.frombuffer(content, "<u8", offset=num_bytes).astype(np.uint64)
    keys, bundles, num_groups, repeated_ids = np.split(values, [num_keys, 2 * num_keys, 3 * num_keys])
    table = Gate(keys, bundles, num_groups.astype(np.int64))
    if num_bytes:
        return GateFile(BloomGate(BloomFilter.from_bytes(content[:num_bytes]), table).select, repeated_ids)
    return GateFile(GateIndex(table).select, repeated_ids)


def _check_fingerprint(path: str, found: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    for name in ("version", "scheme", "unidata"):
        if found.get(name) != wanted[name]:
            raise BadGate(f"{path} was made with {name} {found.get(name)}, this run has {wanted[name]}")
    differing = [name for name, value in wanted["settings"].items() if found["settings"].get(name) != value]
    if differing:
        raise BadGate(f"{path} was made with other settings: {', '.join(differing)}")
