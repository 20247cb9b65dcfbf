"""A corpus that the input is held against, driver side: its files by names that tasks know, its ids without marks."""

from __future__ import annotations

import dataclasses
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, Optional

import numpy as np

from jobs.clusters import Cluster
from jobs.edges import decode_link
from jobs.errors import InputError, OutputError
from jobs.index_files import Index, open_index
from jobs.index_names import LINKS
from jobs.input_files import FindRemote, find_inputs, refuse_shared, shown, split_endings
from jobs.readers import Source, open_found
from jobs.records import DocId, encode_pair, json_bytes
from jobs.sides import AGAINST, is_against, unmarked
from lsh_core.clustering import components
from lsh_core.hashing import Hashes, digest64
from lsh_core.settings import Settings


class Corpora(NamedTuple):
    """The files of the input, and of what it is held against, if anything; of indexes among that also their links."""

    own: list[Source]
    against: list[Source]
    indexes: list[Index]


def open_corpora(
    inputs: Sequence[str], against: Sequence[str], settings: Settings, tmp_dir: Path, find_remote: FindRemote
) -> Corpora:
    """All files, found and open to be read."""
    found = find_inputs(inputs, settings, find_remote)
    if named := next((item.name for item in found if item.is_index), None):
        raise InputError(f"{shown(named)} is an index, which is no input; --against takes it")
    found_against = find_inputs(against, settings, find_remote) if against else []
    refuse_shared(found, found_against)
    indexes = [open_index(Path(item.path), settings, tmp_dir) for item in found_against if item.is_index]
    others = [item for item in found_against if not item.is_index]
    sources = open_found(others, settings, tmp_dir) + [source for index in indexes for source in index.sources()]
    return Corpora(open_found(found, settings, tmp_dir), renamed(sources, tmp_dir), indexes)


def names_and_bytes(sources: Sequence[Source]) -> tuple[list[str], int]:
    """What users call the files, and the size of all of them."""
    return [source.name for source in sources], sum(source.num_bytes for source in sources)


def renamed(sources: Sequence[Source], tmp_dir: Path) -> list[Source]:
    """The same files; local ones have links as paths, whose base names stay where an engine uploads them."""
    return [source if source.remote_bytes is not None else _linked(source, f"against-{number:05}", tmp_dir)
            for number, source in enumerate(sources)]


OF_TASKS = "wd"
"""mrjob's name of the folder, beside the uploaded inputs, of files for tasks."""


def with_names_of_their_own(sources: Sequence[Source], tmp_dir: Path) -> list[Source]:
    """The same files, but local ones of one base name have links as paths: an engine would give them names of its own.

    Others stay where they are, since all machines of a cluster may read them there.
    """
    num_called = Counter([OF_TASKS, *(os.path.basename(source.path) for source in sources)])
    return [source if source.remote_bytes is not None or num_called[os.path.basename(source.path)] == 1
            else _linked(source, f"input-{number:05}", tmp_dir) for number, source in enumerate(sources)]


def _linked(source: Source, name: str, tmp_dir: Path) -> Source:
    # The folder's name is made up at random: no other file of the run is called so.
    link = os.path.join(os.path.abspath(tmp_dir), f"{tmp_dir.name}-{name}")
    packing, keys_path = split_endings(source.path)[1], None
    try:
        os.symlink(source.path, link + packing)
        if source.keys_path is not None:
            keys_path = link + "-keys"
            os.symlink(source.keys_path, keys_path)
    except OSError as error:
        raise OutputError(f"cannot write to {tmp_dir}: {error.strerror or error}") from error
    return dataclasses.replace(source, path=link + packing, keys_path=keys_path)


def told_names(sources: Iterable[Source]) -> list[str]:
    """What tasks know the files by: addresses, and the base names of local ones."""
    return [os.path.basename(source.path) if source.remote_bytes is None else source.path for source in sources]


def told_key_tables(sources: Iterable[Source]) -> list[str]:
    """What tasks know the files of keys of an index by."""
    return [os.path.basename(source.keys_path) for source in sources if source.keys_path is not None]


def marked_links(index: Index) -> Iterator[bytes]:
    """The links of an index as jobs have them."""
    for path in index.paths(LINKS):
        with open(path, "rb") as lines:
            for a, b, similarity in map(decode_link, lines):
                one, other = (DocId(AGAINST + doc_id, json_bytes(AGAINST + doc_id)) for doc_id in (a, b))
                yield encode_pair(one, other, similarity) + b"\n"


class OwnClusters:
    """Those of clusters that have documents of the input, each with what it brings together of an index.

    The digests of the ids of indexes are in their order; without them all that the input is held against is of indexes.
    """

    def __init__(self, clusters: Iterable[Cluster], ids_of_indexes: Optional[Hashes]) -> None:
        self._clusters, self._ids_of_indexes = clusters, ids_of_indexes

    def __iter__(self) -> Iterator[Cluster]:
        # Those of the input come last.
        return (cluster._replace(joins=_joined(cluster, self._is_in_index)) for cluster in self._clusters
                if not is_against(cluster.doc_ids[-1]))

    def _is_in_index(self, doc_id: str) -> bool:
        """Whether it is of an index, and not of another corpus that the input is held against."""
        if self._ids_of_indexes is None or not is_against(doc_id):
            return is_against(doc_id)
        digest = np.uint64(digest64(doc_id.encode()))
        at = np.searchsorted(self._ids_of_indexes, digest)
        return digest in self._ids_of_indexes[at : at + 1]


def _joined(cluster: Cluster, is_in_index: Callable[[str], bool]) -> tuple[str, ...]:
    """The first documents of the clusters of an index that are one now; none where links are not at hand."""
    old = [doc_id for doc_id in cluster.doc_ids if is_in_index(doc_id)] if cluster.links else []
    number_of = {doc_id: number for number, doc_id in enumerate(old)}
    ends = np.array([(number_of[a], number_of[b]) for a, b, _ in cluster.links if a in number_of and b in number_of],
                    np.int64).reshape(-1, 2)
    firsts = np.unique(components(len(old), ends[:, 0], ends[:, 1])).tolist()
    return tuple(old[first] for first in firsts) if len(firsts) > 1 else ()


def shown_links(lines: Iterable[bytes], only_across: bool) -> Iterator[bytes]:
    """Lines of pairs or links between marked ids as users see them: of two corpora ``a`` is of the input.

    Where not all of them are between the two, those that are say so.
    """
    for line in lines:
        a, b, similarity = decode_link(line)
        if is_against(a):
            where = {} if only_across else {"b_in": "against"}
            link = {"a": unmarked(b), "b": unmarked(a), **where, "similarity": similarity}
        else:
            link = {"a": unmarked(a), "b": unmarked(b), "similarity": similarity}
        yield json_bytes(link) + b"\n"
