"""An index on disk: documents, their band keys and their links in files, and a manifest that names them all.

What the manifest does not name is not part of the index. So documents are added by new files and one new manifest,
which takes the place of the old one at once: an index is as it was before, or has all of what was added.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Optional
from unicodedata import unidata_version

from jobs import __version__
from jobs.errors import InputError
from jobs.gate_file import fingerprint
from jobs.index_names import DOCUMENTS, KEYS, LINKS, MANIFEST
from jobs.outputs import sync
from jobs.readers import Source
from lsh_core.settings import Settings

VERSION = 1
VERSIONS = ("lookalike_index", "scheme", "unicode")
"""What the manifest tells of how keys were made, besides the settings: Unicode's tables normalize texts."""

CHUNK_BYTES = 1 << 20


class Index(NamedTuple):
    """An index that was found to be whole: its files, a piece for each time that documents were added."""

    folder: Path
    manifest: dict[str, Any]
    links_folder: Path

    def path_of(self, file: dict[str, Any]) -> Path:
        """Where a file that the manifest names is."""
        folder = self.links_folder if file["kind"] == LINKS else self.folder
        return folder / str(file["name"])

    def paths(self, kind: str) -> list[Path]:
        """The files of documents, keys or links, in their order."""
        return [self.path_of(file) for file in self.manifest["files"] if file["kind"] == kind]

    @property
    def num_pieces(self) -> int:
        return len(self.paths(DOCUMENTS))

    def sources(self) -> list[Source]:
        """The documents as files of lines that come with their keys."""
        return [Source(str(documents), str(documents.resolve()), keys_path=str(keys.resolve()))
                for documents, keys in zip(self.paths(DOCUMENTS), self.paths(KEYS))]


def open_index(folder: Path, settings: Settings, tmp_dir: Optional[Path] = None) -> Index:
    """The index of a folder, refused if it is of other settings, of another version, or not as it was written.

    Links that are copied to a temporary folder stay when others add documents meanwhile; all other files do anyway.
    """
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        files, found = manifest["files"], {name: manifest[name] for name in (*VERSIONS, "settings")}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{folder} is not an index: its {MANIFEST} is not as it was written ({error}); make it again "
                         "with lookalike index") from None
    wanted = _fingerprint(settings)
    for name in VERSIONS:
        if found[name] != wanted[name]:
            raise InputError(f"{folder} is an index of {name} {found[name]}, and this program has {wanted[name]}: "
                             "make it again with lookalike index")
    differing = [name for name, value in wanted["settings"].items() if found["settings"].get(name) != value]
    if differing:
        raise InputError(f"{folder} was made with other settings: {', '.join(differing)}; "
                         f"--settings {folder / MANIFEST} takes those of the index")
    index = Index(folder, manifest, folder)
    if tmp_dir:
        index = _with_copied_links(index, Path(tempfile.mkdtemp(prefix="links-", dir=tmp_dir)))
    for file in files:
        _check_file(folder, file, index.path_of(file))
    return index


def _with_copied_links(index: Index, links_folder: Path) -> Index:
    for path in filter(Path.is_file, index.paths(LINKS)):
        shutil.copyfile(path, links_folder / path.name)
    return index._replace(links_folder=links_folder)


def _check_file(folder: Path, file: dict[str, Any], path: Path) -> None:
    if not path.is_file():
        raise InputError(f"{folder} is not whole: {file['name']} is missing; make it again with lookalike index")
    if path.stat().st_size != file["bytes"]:
        raise InputError(f"{folder} is not whole: {file['name']} has {path.stat().st_size} bytes, not {file['bytes']}; "
                         "make it again with lookalike index")
    if checksum(path) != file["sha256"]:
        raise InputError(f"{folder} has changed since it was written: the checksum of {file['name']} is another; make "
                         "it again with lookalike index")


def checksum(path: Path) -> str:
    """The SHA-256 of a file's content."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        for chunk in iter(partial(file.read, CHUNK_BYTES), b""):
            digest.update(chunk)
    return digest.hexdigest()


def _fingerprint(settings: Settings) -> dict[str, Any]:
    told = fingerprint(settings)
    return {"lookalike_index": VERSION, "scheme": told["scheme"], "unicode": unidata_version,
            "settings": json.loads(json.dumps(told["settings"]))}


def described(path: Path, kind: str) -> dict[str, Any]:
    """What a manifest says of a file."""
    return {"kind": kind, "name": path.name, "bytes": path.stat().st_size, "sha256": checksum(path)}


def write_manifest(folder: Path, settings: Settings, num_documents: int, files: list[dict[str, Any]]) -> None:
    """Write the manifest, at once, in the place of one that may be there; all that it names is on disk before."""
    manifest = {**_fingerprint(settings), "version": __version__, "documents": num_documents, "files": files}
    unfinished = folder / f".{MANIFEST}.unfinished"
    unfinished.write_text(json.dumps(manifest, ensure_ascii=False), encoding="utf-8")
    for path in (*(folder / file["name"] for file in files), unfinished, folder):
        sync(path)
    unfinished.replace(folder / MANIFEST)
    # What it names no more may be removed now.
    sync(folder)
