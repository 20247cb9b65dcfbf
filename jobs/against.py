"""A corpus that the input is held against, driver side: its files by names that tasks know, its ids without marks."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from jobs.edges import decode_link
from jobs.errors import OutputError
from jobs.input_files import FindRemote, find_inputs, refuse_shared, split_endings
from jobs.readers import Source, open_found
from jobs.records import json_bytes
from jobs.sides import is_against, unmarked
from lsh_core.settings import Settings


def open_corpora(
    inputs: Sequence[str], against: Sequence[str], settings: Settings, tmp_dir: Path, find_remote: FindRemote
) -> tuple[list[Source], list[Source]]:
    """The files of the input, and of what it is held against, if anything."""
    found = find_inputs(inputs, settings, find_remote)
    found_against = find_inputs(against, settings, find_remote) if against else []
    refuse_shared(found, found_against)
    return open_found(found, settings, tmp_dir), renamed(open_found(found_against, settings, tmp_dir), tmp_dir)


def names_and_bytes(sources: Sequence[Source]) -> tuple[list[str], int]:
    """What users call the files, and the size of all of them."""
    return [source.name for source in sources], sum(source.num_bytes for source in sources)


def renamed(sources: Sequence[Source], tmp_dir: Path) -> list[Source]:
    """The same files; local ones have links as paths, whose base names stay where an engine uploads them."""
    return [source if source.remote_bytes is not None else _linked(source, number, tmp_dir)
            for number, source in enumerate(sources)]


def _linked(source: Source, number: int, tmp_dir: Path) -> Source:
    # The folder's name is made up at random: no other file of the run is called so.
    link = os.path.join(os.path.abspath(tmp_dir), f"{tmp_dir.name}-against-{number:05}{split_endings(source.path)[1]}")
    try:
        os.symlink(source.path, link)
    except OSError as error:
        raise OutputError(f"cannot write to {tmp_dir}: {error.strerror or error}") from error
    return dataclasses.replace(source, path=link)


def told_names(sources: Iterable[Source]) -> list[str]:
    """What tasks know the files by: addresses, and the base names of local ones."""
    return [os.path.basename(source.path) if source.remote_bytes is None else source.path for source in sources]


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
