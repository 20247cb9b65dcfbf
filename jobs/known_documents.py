"""Documents that an index has already, among those that are to be added to it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from jobs.errors import InputError
from jobs.index_files import Index
from jobs.index_names import KEYS
from jobs.key_tables import KeyTable
from lsh_core.document import read_documents
from lsh_core.hashing import Hashes, digest64
from lsh_core.settings import Settings


class _Digests(NamedTuple):
    """The digests of the lines, texts and ids of documents, in the order of ids."""

    lines: Hashes
    texts: Hashes
    ids: Hashes


def without_known(documents: Path, keys: Path, index: Index, settings: Settings) -> int:
    """Take known documents out of new files of lines and keys; how many there were.

    A document that has a known id and another text is refused.
    """
    known, new = _read_digests(index.paths(KEYS), settings), _read_digests([keys], settings)
    at = np.searchsorted(known.ids, new.ids)
    is_known = np.append(known.ids, np.uint64(0))[at] == new.ids
    is_known &= at < len(known.ids)
    is_other = is_known.copy()
    is_other[is_known] = known.texts[at[is_known]] != new.texts[is_known]
    if is_other.any():
        doc_id = _find_id(documents, int(new.lines[is_other][0]), settings)
        raise InputError(f"{doc_id!r} stands for another text in {index.folder} ({is_other.sum()} such ids): give new "
                         "documents ids of their own")
    if is_known.any():
        dropped = frozenset(new.lines[is_known].tolist())
        _drop_lines(documents, dropped)
        _drop_keys(keys, dropped, settings)
    return int(is_known.sum())


def known_ids(indexes: Iterable[Index], settings: Settings) -> Hashes:
    """The digests of the ids of indexes, as jobs mark them."""
    return _read_digests([path for index in indexes for path in index.paths(KEYS)], settings).ids


def _read_digests(paths: list[Path], settings: Settings) -> _Digests:
    tables = [np.empty((3, 0), np.uint64)]
    for path in paths:
        with open(path, "rb") as lines:
            for table in (KeyTable.decode(line.rstrip(b"\n"), settings.banding[0]) for line in lines):
                tables.append(np.stack([table.lines, table.texts, table.ids]))
    columns = np.concatenate(tables, axis=1)
    return _Digests(*columns[:, np.argsort(columns[2])])


def _find_id(documents: Path, line_digest: int, settings: Settings) -> str:
    with open(documents, "rb") as lines:
        line = next(line for line in lines if digest64(line.rstrip(b"\n")) == line_digest)
    return read_documents([line.rstrip(b"\n")], settings).doc_ids[0]


def _drop_lines(documents: Path, dropped: frozenset[int]) -> None:
    rest = documents.with_name(f".{documents.name}")
    with open(documents, "rb") as lines, open(rest, "wb") as file:
        file.writelines(line for line in lines if digest64(line.rstrip(b"\n")) not in dropped)
    rest.replace(documents)


def _drop_keys(keys: Path, dropped: frozenset[int], settings: Settings) -> None:
    rest = keys.with_name(f".{keys.name}")
    with open(keys, "rb") as lines, open(rest, "wb") as file:
        for table in (KeyTable.decode(line.rstrip(b"\n"), settings.banding[0]) for line in lines):
            stays = ~np.isin(table.lines, np.array(sorted(dropped), np.uint64))
            kept = KeyTable(table.unicode_version, *(column[stays] for column in table[1:]))
            file.writelines(line + b"\n" for line in kept.encode())
    rest.replace(keys)
