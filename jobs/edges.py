"""Edges between ids as lines: links in JSON, and a compact form whose bytes sort as ids do."""

from __future__ import annotations

import json
import re
import struct
from array import array
from collections.abc import Iterable

import numpy as np

from jobs.errors import InputError
from lsh_core.clustering import Edges

MAX_SHOWN = 200

_LOW, _ESCAPED = re.compile(rb"[\x00-\x0e]"), re.compile(rb"\x0e(.)")
_LAST = 2**64 - 1


def decode_link(line: bytes) -> tuple[str, str, float]:
    """The inverse of ``encode_pair``.

    >>> decode_link(b'{"a": "x", "b": "y", "similarity": 0.8}')
    ('x', 'y', 0.8)
    """
    try:
        link = json.loads(line)
        a, b, similarity = link["a"], link["b"], float(link["similarity"])
        if "" < a < b:
            return a, b, similarity
    except (ValueError, KeyError, TypeError):
        pass
    raise InputError(f"not a link: {line[:MAX_SHOWN]!r}; it must be an object of two ids, a < b, and their similarity")


def read_edges(links: Iterable[bytes]) -> tuple[list[str], Edges]:
    """The sorted ids of lines of links, and the links as edges between their numbers.

    >>> read_edges([b'{"a": "x", "b": "y", "similarity": 0.8}', b'{"a": "e", "b": "y", "similarity": 1.0}'])
    (['e', 'x', 'y'], Edges(a=array([1, 0]), b=array([2, 2]), similarities=array([0.8, 1. ])))
    """
    number_of: dict[str, int] = {}
    ends, similarities = array("q"), array("d")
    for a, b, similarity in map(decode_link, links):
        ends.append(number_of.setdefault(a, len(number_of)))
        ends.append(number_of.setdefault(b, len(number_of)))
        similarities.append(similarity)
    ids = sorted(number_of)
    rank = np.empty(len(ids), np.int64)
    rank[np.fromiter(map(number_of.__getitem__, ids), np.int64, len(ids))] = np.arange(len(ids))
    ranks = rank[np.array(ends, np.int64)]
    return ids, Edges(ranks[::2], ranks[1::2], np.array(similarities, np.float64))


def encode_id(doc_id: str) -> bytes:
    """An id as bytes that sort as ids do, by code point, all of them above those of tab, CR and LF.

    >>> encode_id("a\\tb")
    b'a\\x0e)b'
    """
    return _LOW.sub(lambda found: b"\x0e%c" % (ord(found.group()) + 32), doc_id.encode())


def decode_id(encoded: bytes) -> str:
    """The inverse of ``encode_id``."""
    return _ESCAPED.sub(lambda found: b"%c" % (ord(found.group(1)) - 32), encoded).decode()


def encode_edge(larger: bytes, smaller: bytes) -> bytes:
    """An edge between encoded ids as a line; lines sort by the smaller id, then by the larger.

    It starts with a tab, as no link and no line of counts does, whatever the ids are.
    """
    return b"\t%b\t%b" % (smaller, larger)


def decode_edge(line: bytes) -> tuple[bytes, bytes]:
    """The encoded ids of an edge or of a link, the smaller one first.

    >>> decode_edge(encode_edge(b"y", b"x")), decode_edge(b'{"a": "x", "b": "y", "similarity": 0.8}')
    ((b'x', b'y'), (b'x', b'y'))
    """
    if line.startswith(b"\t"):
        _, smaller, larger = line.split(b"\t")
        return smaller, larger
    a, b, _ = decode_link(line)
    return encode_id(a), encode_id(b)


def encode_ranked(a: str, b: str, similarity: float) -> bytes:
    """A link as a line; lines sort as links are joined: the most similar first, then by a, then by b."""
    # Numbers that are not negative sort as their bits do.
    (bits,) = struct.unpack(">Q", struct.pack(">d", similarity))
    return b"%016x\t%b\t%b" % (_LAST - bits, encode_id(a), encode_id(b))


def decode_ranked(line: bytes) -> tuple[str, str, float]:
    """The inverse of ``encode_ranked``.

    >>> decode_ranked(encode_ranked("x", "y", 0.8))
    ('x', 'y', 0.8)
    """
    rank, a, b = line.split(b"\t")
    (similarity,) = struct.unpack(">d", struct.pack(">Q", _LAST - int(rank, 16)))
    return decode_id(a), decode_id(b), similarity
