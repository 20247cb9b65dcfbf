"""Before the first job, driver side: what the user gives becomes files of lines.

Line files pass as they are. Standard input, pipes, ``.zst``, CSV, Parquet and folders of text files are
written to temporary files; the caller owns their folder and removes it, also after an error.
"""

from __future__ import annotations

import bz2
import gzip
import json
import os
import re
import sys
import tempfile
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from jobs.errors import InputError, MissingExtra, OutputError
from jobs.input_files import STANDARD_INPUT, Found, shown, split_endings
from jobs.tables import TABLES
from lsh_core.document import BOM
from lsh_core.settings import Settings

CHUNK_BYTES = 2**20
# Four bytes of zstd can stand for 128 KiB: only small pieces in keep what comes out at once small.
ZST_CHUNK_BYTES = 2**10
ZST_MAX_WINDOW_BYTES = 2**31

# Engines see more in a path than a name: patterns, commas as separators, hidden files in "_x" and ".x".
PLAIN_PATH = re.compile(r"(/[\w.+=@~-]+)*/[A-Za-z0-9][\w.+=@~-]*", re.ASCII)

OPENERS: dict[str, Callable[..., Any]] = {"": open, ".gz": gzip.open, ".bz2": bz2.open}

# The backslash comes first, as the others bring new ones.
ESCAPES = [(bytes([code]), json.dumps(chr(code))[1:-1].encode()) for code in (*b'\\"', *range(32))]


Item = TypeVar("Item")


@dataclass(frozen=True)
class Source:
    """A file of lines for a job, and how the user knows its lines.

    >>> Source("-", "/tmp/x").place(17), Source("corpus.csv", "/tmp/y", is_table=True).place(17)
    ('standard input:17', 'corpus.csv, row 17')
    """

    name: str
    path: str
    is_table: bool = False
    documents: tuple[str, ...] = field(default=(), repr=False)
    remote_bytes: int | None = None
    keys_path: str | None = None
    """Of a file of an index: where the band keys of its documents are."""

    @property
    def num_bytes(self) -> int:
        """The size of the file, which is known already if it is at an address."""
        return os.path.getsize(self.path) if self.remote_bytes is None else self.remote_bytes

    def place(self, line_number: int | None) -> str:
        """Where a line, counted from 1, comes from: a line, a row under the header, a text file, or just this input."""
        name = "standard input" if self.name == STANDARD_INPUT else self.name
        if line_number is None:
            return name
        if self.documents:
            return self.documents[line_number - 1]
        return f"{name}, row {line_number}" if self.is_table else f"{name}:{line_number}"


def open_found(
    found: Iterable[Found], settings: Settings, tmp_dir: Path, stdin: BinaryIO | None = None
) -> list[Source]:
    """Every input as a file of lines, once all names have been checked."""
    return [_open(item, settings, tmp_dir, stdin) for item in found]


def escape_bytes(content: bytes) -> bytes:
    r"""The inside of a JSON string; nothing is decoded, so bad UTF-8 stays as it is.

    >>> escape_bytes(b'"\xff')
    b'\\"\xff'
    """
    for raw, escaped in ESCAPES:
        content = content.replace(raw, escaped)
    return content


def _open(item: Found, settings: Settings, tmp_dir: Path, stdin: BinaryIO | None) -> Source:
    name = shown(item.name)
    if item.path == STANDARD_INPUT:
        chunks = reading("standard input", _chunks(stdin or sys.stdin.buffer))
        return Source(name, _save(chunks, tmp_dir))
    if item.remote_bytes is not None:
        return Source(name, item.path, remote_bytes=item.remote_bytes)
    if item.texts:
        names = tuple(shown(text_name) for text_name, _ in item.files())
        return Source(name, _save(_text_lines(item, settings), tmp_dir), documents=names)
    return _open_file(name, os.path.abspath(item.path), settings, tmp_dir)


def _open_file(name: str, path: str, settings: Settings, tmp_dir: Path) -> Source:
    ending, packing = split_endings(path)
    if not os.path.isfile(path):
        # A pipe: it can be read once, and jobs read their input more than once.
        known_ending = ending + packing if ending in TABLES else packing
        path = _save(reading(name, _unpacked(path, "")), tmp_dir, known_ending)
    if ending in TABLES:
        return Source(name, _save_table(name, path, settings, tmp_dir), is_table=True)
    if packing == ".zst":
        return Source(name, _save(reading(name, _unpacked(path, packing)), tmp_dir))
    with closing(reading(name, _unpacked(path, ""))) as chunks:
        next(chunks, b"")
    return Source(name, plain_path(path, packing, tmp_dir))


def _save_table(name: str, path: str, settings: Settings, tmp_dir: Path) -> str:
    ending, packing = split_endings(path)
    if packing:
        unpacked = _save(reading(name, _unpacked(path, packing)), tmp_dir, ending)
        lines = _save_table(name, unpacked, settings, tmp_dir)
        os.unlink(unpacked)
        return lines
    with closing(reading(name, TABLES[ending](path, name, settings))) as chunks:
        return _save(chunks, tmp_dir)


def _text_lines(folder: Found, settings: Settings) -> Iterator[bytes]:
    """One JSON line, in pieces, for each text file of a folder; its relative path is the id."""
    for doc_id, (name, path) in zip(folder.texts, folder.files()):
        yield b"{"
        if settings.id_field is not None:
            yield b'%s: "%s", ' % (json.dumps(settings.id_field).encode(), escape_bytes(os.fsencode(doc_id)))
        yield b'%s: "' % json.dumps(settings.text_field).encode()
        yield from map(escape_bytes, reading(shown(name), _without_bom(path)))
        yield b'"}\n'


def _without_bom(path: str) -> Iterator[bytes]:
    with open(path, "rb") as stream:
        start = stream.read(len(BOM))
        yield b"" if start == BOM else start
        yield from _chunks(stream)


def _unpacked(path: str, packing: str) -> Iterator[bytes]:
    if packing == ".zst":
        yield from _unpacked_zst(path)
        return
    with OPENERS[packing](path, "rb") as stream:
        yield from _chunks(stream)


def _unpacked_zst(path: str) -> Iterator[bytes]:
    """All frames of a file; the library's own reader takes a file that was cut short for a whole one."""
    try:
        import zstandard
    except ImportError:
        raise MissingExtra(".zst", "zstandard") from None
    unpacker = zstandard.ZstdDecompressor(max_window_size=ZST_MAX_WINDOW_BYTES)
    frame = None
    try:
        with open(path, "rb") as stream:
            for piece in _chunks(stream, ZST_CHUNK_BYTES):
                while piece:
                    frame = frame or unpacker.decompressobj()
                    yield frame.decompress(piece)
                    piece = frame.unused_data
                    frame = None if frame.eof else frame
    except zstandard.ZstdError as error:
        raise OSError(str(error)) from error
    if frame is not None:
        raise EOFError("compressed file ended before its end was marked")


def _chunks(stream: BinaryIO, size: int = CHUNK_BYTES) -> Iterator[bytes]:
    return iter(partial(stream.read, size), b"")


def reading(name: str, chunks: Iterable[Item]) -> Generator[Item, None, None]:
    """The same chunks; what goes wrong while they are read names the input."""
    try:
        yield from chunks
    except (OSError, EOFError, UnicodeError, zlib.error) as error:
        raise InputError(f"cannot read {name}: {getattr(error, 'strerror', None) or error}") from error


def _save(chunks: Iterable[bytes], tmp_dir: Path, ending: str = "") -> str:
    """Write chunks to a new file that only this user can read."""
    try:
        handle, path = tempfile.mkstemp(ending, "input-", os.path.abspath(tmp_dir))
        with open(handle, "wb") as out:
            out.writelines(chunks)
    except OSError as error:
        raise OutputError(f"cannot write to {tmp_dir}: {error.strerror or error}") from error
    return path


def plain_path(path: str, packing: str, tmp_dir: Path, name: str = "lines") -> str:
    """The path itself, or a link to it where an engine would see more in it than a name."""
    path = os.path.abspath(path)
    if PLAIN_PATH.fullmatch(path) and path.endswith(packing):
        return path
    try:
        link = os.path.join(tempfile.mkdtemp("", "input-", os.path.abspath(tmp_dir)), name + packing)
        os.symlink(path, link)
    except OSError as error:
        raise OutputError(f"cannot write to {tmp_dir}: {error.strerror or error}") from error
    return link
