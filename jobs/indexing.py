"""An index of a corpus: made once, extended by new documents, and held against others without sketching it again."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, Optional

from jobs.cleaning import Cleaning, Keeping
from jobs.edges import decode_link
from jobs.errors import InputError
from jobs.forests import join_forests
from jobs.index_files import Index, described, open_index, write_manifest
from jobs.index_names import DOCUMENTS, KEYS, LINKS, is_index, piece_name
from jobs.input_files import shown
from jobs.job_runner import Run
from jobs.kept import KEPT_NAMES
from jobs.known_documents import without_known
from jobs.mr_keys import MRKeys
from jobs.outputs import write_sorted
from jobs.pipeline import CorpusRun, make_gate, open_run, write_pairs
from jobs.readers import plain_path
from jobs.records import DocId, encode_pair, json_bytes
from jobs.run_report import RunReport
from jobs.sides import unmarked
from jobs.silence import Silence
from jobs.stages import locked
from lsh_core.document import BOM
from lsh_core.errors import SettingsError
from lsh_core.settings import Settings


class Piece(NamedTuple):
    """New files of an index, and how many documents they hold."""

    files: list[dict[str, Any]]
    num_documents: int


def make_index(run: Run, settings: Settings, display: Silence) -> RunReport:
    """Write the index of a corpus to a new folder."""
    _check_run(run)
    with open_run(replace(run, links=True), settings, display) as work:
        piece = _write_piece(work, None)
        write_manifest(work.folder, settings, piece.num_documents, piece.files)
    return work.report


def extend_index(folder: Path, run: Run, settings: Settings, display: Silence) -> RunReport:
    """Add documents to an index; what goes wrong leaves it as it was."""
    _check_run(run)
    if not is_index(str(folder)):
        raise InputError(f"{folder} is not an index; lookalike index INPUT --out {folder} makes one")
    with locked(folder):
        for left in folder.glob(".adding-*"):
            # Of a run that was killed: no other is at work here.
            shutil.rmtree(left, ignore_errors=True)
        index = open_index(folder, settings)
        added = Path(tempfile.mkdtemp(prefix=".adding-", dir=folder))
        try:
            with open_run(replace(run, out=added, against=[str(folder)], links=True), settings, display) as work:
                piece = _write_piece(work, index)
            _take_in(index, added, piece, settings)
        finally:
            shutil.rmtree(added, ignore_errors=True)
    return work.report


def _check_run(run: Run) -> None:
    if run.duplicate_ids != "refuse":
        raise SettingsError("an index knows documents by their ids: --duplicate-ids must be refuse")
    if not isinstance(run.out, Path):
        raise SettingsError(f"an index is a local folder, and --out is {shown(run.out)}")


def _write_piece(work: CorpusRun, index: Optional[Index]) -> Piece:
    """Write the documents of the input, their keys, and the links of all documents."""
    number, jobs = index.num_pieces if index else 0, work.jobs
    kept = work.folder / KEPT_NAMES[jobs.settings.format]
    documents = work.folder / piece_name(DOCUMENTS, number, kept.suffix)
    keys, links = work.folder / piece_name(KEYS, number), work.folder / piece_name(LINKS, number, ".jsonl")
    gate = make_gate(work)
    found = write_pairs(work, gate)
    # Of a document on several lines one is kept, and where there are no clusters everything else.
    Keeping(work, gate, Cleaning()).write_corpus(())
    with open(kept, "rb") as lines, open(documents, "wb") as file:
        # A file that was joined from others may have marks inside, which would be taken for its own if they came first.
        file.writelines(line.removeprefix(BOM) for line in lines)
    kept.unlink()
    for name in ("removed.jsonl", "links.jsonl"):
        (work.folder / name).unlink()
    work.report.steps.append(jobs.run(MRKeys, "keys", keys, inputs=[plain_path(str(documents), "", jobs.tmp_dir)]))
    num_documents = work.report.counter("documents")
    if index:
        num_documents -= without_known(documents, keys, index, jobs.settings)
    joined = jobs.tmp_dir / "joined"
    with open(found, "rb") as lines, open(joined, "wb") as file:
        new_links = _without_marks(lines) if index else lines
        file.writelines(line + b"\n" for line in join_forests(chain(_links(index), new_links), jobs.tmp_dir))
    write_sorted(joined, links, jobs.tmp_dir)
    return Piece([described(documents, DOCUMENTS), described(keys, KEYS), described(links, LINKS)], num_documents)


def _links(index: Optional[Index]) -> Iterator[bytes]:
    for path in index.paths(LINKS) if index else ():
        with open(path, "rb") as lines:
            yield from lines


def _without_marks(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Links between old and new documents, which have the same ids from now on if they are the same."""
    for a, b, similarity in map(decode_link, lines):
        ids = sorted((unmarked(a), unmarked(b)))
        if ids[0] != ids[1]:
            one, other = (DocId(doc_id, json_bytes(doc_id)) for doc_id in ids)
            yield encode_pair(one, other, similarity)


def _take_in(index: Index, added: Path, piece: Piece, settings: Settings) -> None:
    """Let new files be part of an index; until its manifest says so, they are not."""
    folder, names = index.folder, {file["name"] for file in piece.files}
    for path in added.iterdir():
        name = path.name if path.name in names else piece_name(path.stem, index.num_pieces, path.suffix)
        path.rename(folder / name)
    former = [file for file in index.manifest["files"] if file["kind"] != LINKS]
    write_manifest(folder, settings, index.manifest["documents"] + piece.num_documents, former + piece.files)
    for path in index.paths(LINKS):
        path.unlink()
