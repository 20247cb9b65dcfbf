"""The forest of the links of all reducers: in memory, or, where links are very many, from a file of them in order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path

import numpy as np
import numpy.typing as npt

from jobs.edges import decode_link, decode_ranked, encode_ranked, read_edges
from jobs.outputs import sorted_lines
from jobs.records import DocId, encode_pair, json_bytes
from lsh_core.clustering import ForestOfBlocks, spanning_forest
from lsh_core.hashing import digests128
from lsh_core.ragged import distinct, rows_of

MEMORY_LINKS = 500_000
"""As many links as this, or fewer, are read into memory: some 550 bytes each, where no two share a document. Of more,
some 80 bytes are there for each document."""

BLOCK_LINKS = 1 << 16

Link = tuple[str, str, float]
Digests = npt.NDArray[np.bytes_]


def join_forests(lines: Iterable[bytes], tmp_dir: Path, memory_links: int = MEMORY_LINKS) -> Iterator[bytes]:
    """The forest of the links of all reducers: their pieces of split bundles become one.

    The best link comes first, and both ways give the same.
    """
    rest = iter(lines)
    held = list(islice(rest, memory_links + 1))
    joined = _join_in_memory(held) if len(held) <= memory_links else _join_in_order(chain(held, rest), tmp_dir)
    return (encode_pair(DocId(a, json_bytes(a)), DocId(b, json_bytes(b)), similarity) for a, b, similarity in joined)


def _join_in_memory(lines: Iterable[bytes]) -> Iterator[Link]:
    ids, edges = read_edges(lines)
    for a, b, similarity in rows_of(*spanning_forest(len(ids), edges)):
        yield ids[a], ids[b], similarity


def _join_in_order(lines: Iterable[bytes], tmp_dir: Path) -> Iterator[Link]:
    """Kruskal's way, with the links sorted in files: in memory are a digest and a root for each document."""
    unsorted = tmp_dir / "links-to-join"
    with open(unsorted, "wb") as file:
        file.writelines(encode_ranked(*decode_link(line)) + b"\n" for line in lines)
    with open(unsorted, "rb") as file:
        digests = _distinct(map(_digests, _blocks(file)))
    forest = ForestOfBlocks(len(digests))
    with sorted_lines(unsorted, tmp_dir) as in_order:
        for links in _blocks(in_order):
            nodes = np.searchsorted(digests, _digests(links))
            for row in forest.add(nodes[::2], nodes[1::2]).tolist():
                yield decode_ranked(links[row])


def _blocks(lines: Iterator[bytes]) -> Iterator[list[bytes]]:
    return iter(lambda: [line[:-1] for line in islice(lines, BLOCK_LINKS)], [])


def _digests(links: list[bytes]) -> Digests:
    """Those of the two ids of each link."""
    return digests128(encoded for link in links for encoded in link.split(b"\t")[1:])


def _distinct(pieces: Iterable[Digests]) -> Digests:
    """``distinct`` of all together; each piece is joined to what came before once it is half as large."""
    found = [np.empty(0, "S16")]
    for piece in pieces:
        found.append(distinct(piece))
        while len(found) > 1 and len(found[-2]) <= 2 * len(found[-1]):
            found[-2:] = [distinct(np.concatenate(found[-2:]))]
    return distinct(np.concatenate(found))
