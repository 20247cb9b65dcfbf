"""Before the first job, driver side: the names on the command line become the files that they stand for."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple, NoReturn, Optional
from urllib.parse import unquote

from jobs.errors import InputError, RemoteError
from jobs.index_names import is_index
from jobs.input_split import without_host
from jobs.stage_names import is_left_over
from jobs.tables import TABLES
from lsh_core.settings import Settings

STANDARD_INPUT = "-"
LINE_ENDINGS = (".jsonl", ".ndjson", ".json", ".tsv")
PACKINGS = (".gz", ".bz2", ".zst")

URI = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
FILE_URI = re.compile(r"file://(localhost)?(?=/)", re.IGNORECASE)
# A secret of S3 may hold "/". Elsewhere a number before "/" is a port.
PASSWORD = re.compile(r"(?:(?<=s3://)|(?<=s3[an]://)|(?<=://)(?![^/@\s:]*:\d+/))([^/@\s:]*):\S*@", re.IGNORECASE)
NO_PASSWORD = "engines would write the password into their logs; give it to the engine by its configuration"


class RemoteFile(NamedTuple):
    """A file at an address, and its size."""

    uri: str
    num_bytes: int


FindRemote = Callable[[str], list[RemoteFile]]
"""The files that an address stands for, at least one."""


ENGINES_OF = {"hdfs": "-r hadoop and spark do", "s3": "-r emr does", "s3a": "-r spark does"}
"""Which engines read and write at addresses that begin so."""


def refuse_address(uri: str) -> NoReturn:
    """Where no engine reads or writes."""
    raise RemoteError(f"{shown(uri)} is an address, which -r inline and local do not take{other_engines(uri)}")


def other_engines(uri: str) -> str:
    """Which engines read and write at an address, as the end of a message; empty if that is not known."""
    engines = ENGINES_OF.get(uri.partition("://")[0].lower())
    return f"; {engines}" if engines else ""


class Found(NamedTuple):
    """What a name stands for: a file, standard input, a file at an address, the text files below a folder, an index."""

    name: str
    path: str
    texts: tuple[str, ...] = ()
    remote_bytes: Optional[int] = None
    is_index: bool = False

    def files(self) -> Iterator[tuple[str, str]]:
        """(name, path) of each file in it."""
        if not self.texts:
            yield self.name, self.path
        for text in self.texts:
            yield os.path.join(self.name, text), os.path.join(self.path, text)


def find_inputs(inputs: Iterable[str], settings: Settings, find_remote: FindRemote = refuse_address) -> list[Found]:
    """What all names stand for, in their order; what can be refused without reading is refused."""
    found = [item for given in inputs for item in _find(given, find_remote)]
    if not found:
        raise InputError("no input: name files, folders or URIs, or - for standard input")
    _refuse_repeats(found)
    _refuse_formats(found, settings)
    return found


def is_uri(path: str) -> bool:
    """Whether an engine reads it, and not we."""
    return URI.match(path) is not None


def split_endings(path: str) -> tuple[str, str]:
    """The ending and the compression of a path, in lower case.

    >>> split_endings("a/corpus.CSV.gz"), split_endings("notes.txt")
    (('.csv', '.gz'), ('.txt', ''))
    """
    base, ending = os.path.splitext(path.lower())
    if ending not in PACKINGS:
        return ending, ""
    return os.path.splitext(base)[1], ending


def shown(name: str) -> str:
    r"""A name that any terminal and file can hold, also where its bytes are not UTF-8 or tell a password.

    >>> shown("caf\udce9.txt"), shown("s3://key:secret@bucket/corpus.jsonl")
    ('caf\\xe9.txt', 's3://key:***@bucket/corpus.jsonl')
    """
    return PASSWORD.sub(r"\1:***@", os.fsencode(name).decode("utf-8", "backslashreplace"))


def _find(given: str, find_remote: FindRemote) -> list[Found]:
    if given == STANDARD_INPUT:
        return [Found(given, given)]
    if FILE_URI.match(given):
        given = unquote(FILE_URI.sub("", given), errors="surrogateescape")
    if is_uri(given):
        return _find_remote(given, find_remote)
    if os.path.lexists(given):
        if is_left_over(given):
            raise InputError(f"{shown(given)} is left of an interrupted run, and is no input; --resume takes it up")
        return _find_local(given)
    if not glob.has_magic(given):
        raise InputError(f"cannot read {shown(given)!r}: no such file or folder")
    return _find_matches(given)


def _find_remote(given: str, find_remote: FindRemote) -> list[Found]:
    _refuse_conversion(given)
    if PASSWORD.search(given):
        raise InputError(f"cannot read {shown(given)}: {NO_PASSWORD}")
    files = find_remote(given)
    for file in files:
        _refuse_conversion(file.uri)
    return [Found(file.uri, file.uri, remote_bytes=file.num_bytes) for file in files]


def _refuse_conversion(uri: str) -> None:
    ending, packing = split_endings(uri)
    if ending in TABLES or packing == ".zst":
        raise InputError(f"cannot read {shown(uri)}: CSV, Parquet and .zst are read from local paths only")


def _find_matches(pattern: str) -> list[Found]:
    # An output beside the inputs is not among them when it is taken up.
    matches = sorted(match for match in glob.glob(pattern, recursive=True) if not is_left_over(match))
    if "**" in pattern:
        # The files below a folder that matched have matched themselves.
        matches = [match for match in matches
                   if is_index(match) or (os.path.isfile(match) and not is_index(os.path.dirname(match)))]
    if not matches:
        raise InputError(f"cannot read {shown(pattern)!r}: nothing matches")
    return [item for match in matches for item in _find_local(match)]


def _find_local(path: str) -> list[Found]:
    """A file or an index as itself; a folder as its text files together, then its other files one by one."""
    if not os.path.isdir(path):
        return [Found(path, path)]
    if is_index(path):
        return [Found(path, path, is_index=True)]
    texts: list[str] = []
    others: list[str] = []
    for relative in sorted(_files_below(path)):
        is_text = split_endings(relative)[0] not in (*LINE_ENDINGS, *TABLES)
        (texts if is_text else others).append(relative)
    found = [Found(path, path, tuple(texts))] if texts else []
    found += [Found(other, other) for other in (os.path.join(path, relative) for relative in others)]
    if not found:
        raise InputError(f"cannot read {shown(path)}: the folder has no files, or hidden ones only")
    return found


def _files_below(folder: str) -> Iterator[str]:
    """Relative paths, with "/", of files that are not hidden; links to folders are not followed."""

    def refuse(error: OSError) -> None:
        raise InputError(f"cannot read {shown(error.filename)}: {error.strerror}") from error

    for parent, folders, files in os.walk(folder, onerror=refuse):
        folders[:] = [name for name in folders
                      if not name.startswith(".") and not is_left_over(os.path.join(parent, name))]
        if is_index(parent):
            raise InputError(f"cannot read {shown(folder)}: {shown(parent)} in it is an index; name files one by one")
        for name in files:
            path = os.path.join(parent, name)
            if not name.startswith(".") and os.path.isfile(path):
                yield os.path.relpath(path, folder).replace(os.sep, "/")


def refuse_shared(found: Sequence[Found], against: Sequence[Found]) -> None:
    """Refuse a file that is held against itself, or may be."""
    identities = {identity for identity, _ in _identities(found)}
    for identity, name in _identities(against):
        if identity in identities:
            raise InputError(f"{shown(name)} is both an input and --against: nothing of it would be left; name other "
                             "files, or leave out --against")
    _refuse_unknown_hosts([*found, *against])


def _identities(found: Iterable[Found]) -> Iterator[tuple[str, str]]:
    """For each file what no other file is called, and its name."""
    for name, path in chain.from_iterable(item.files() for item in found):
        yield path if path == STANDARD_INPUT or is_uri(path) else os.path.realpath(path), name


def _refuse_repeats(found: Sequence[Found]) -> None:
    """Refuse a file that is named twice, or may be: its lines would count as copies."""
    first_names: dict[str, str] = {}
    for identity, name in _identities(found):
        if identity in first_names:
            first = first_names[identity]
            what = "is named twice" if first == name else f"is the same file as {shown(first)}"
            raise InputError(f"{shown(name)} {what}: its lines would count as copies")
        first_names[identity] = name
    _refuse_unknown_hosts(found)


def _refuse_unknown_hosts(found: Iterable[Found]) -> None:
    """Refuse an address that is also named on a host, which engines may put in: nobody can tell such files apart."""
    firsts: dict[str, str] = {}
    for uri in (item.path for item in found if is_uri(item.path)):
        anywhere = without_host(uri)
        first = firsts.setdefault(anywhere, uri)
        if anywhere in (first, uri) and first != uri:
            raise InputError(f"{shown(first)} and {shown(uri)} may be the same file: name both with their host")


def _refuse_formats(found: Iterable[Found], settings: Settings) -> None:
    """Refuse what becomes JSON Lines in a run that reads lines of another format."""
    if settings.format == "jsonl":
        return
    for item in found:
        if item.texts or split_endings(item.path)[0] in TABLES:
            kind = "a folder of text files" if item.texts else "a table"
            raise InputError(f"{shown(item.name)} is {kind}, which is read as JSON Lines; "
                             f"format is {settings.format!r}, it must be 'jsonl'")
