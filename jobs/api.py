"""The commands as functions, for notebooks and programs: ``from jobs import dedup, find_pairs``."""

from __future__ import annotations

import jobs.lean_mrjob  # noqa: F401  before numpy, which it makes ready

# isort: split
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional, Union

from jobs import pipeline
from jobs.cleaning import Cleaning, clean_corpus
from jobs.job_runner import Run
from jobs.keep_policy import KeepPolicy
from jobs.kept import KEPT_NAMES
from jobs.silence import Silence
from lsh_core.settings import Settings

Inputs = Union[str, Path, Sequence[Union[str, Path]], Iterable[Mapping[str, Any]]]
"""A file, folder, pattern or address, several of them, or documents as mappings."""

Records = list[dict[str, Any]]


@dataclass(frozen=True)
class PairsFound:
    """What ``lookalike pairs`` writes: ``pairs`` (or links), ``rejected``, and ``run``, the content of run.json."""

    pairs: Records
    rejected: Records
    run: dict[str, Any]


@dataclass(frozen=True)
class CleanCorpus:
    """What ``lookalike dedup`` writes; ``kept`` has objects, or lines where the input is not JSON Lines."""

    kept: list[Any]
    removed: Records
    clusters: Records
    rejected: Records
    run: dict[str, Any]


def find_pairs(inputs: Inputs, *, against: Optional[Inputs] = None, out: Optional[Path] = None,
               runner: Optional[str] = None, links: bool = False, strict: bool = False, duplicate_ids: str = "refuse",
               **settings: Any) -> PairsFound:
    """All pairs at or above a similarity; with ``out`` the files stay there. Settings are those of ``Settings``.

    With ``against``, another corpus, all pairs of a document of the input, ``a``, and one of that corpus, ``b``.

    >>> play = {"id": "hamlet", "text": "To be, or not to be, that is the question"}
    >>> film = {"id": "remake", "text": "To be, or not to be; that is the question"}
    >>> find_pairs([play, film, {"id": "lear", "text": "Blow, winds, and crack your cheeks!"}], threshold=0.5).pairs
    [{'a': 'hamlet', 'b': 'remake', 'similarity': 0.5714285714285714}]
    """
    with _Call(inputs, against, out, settings) as call:
        run = Run(call.inputs, call.out, runner, strict=strict, links=links, duplicate_ids=duplicate_ids,
                  against=call.against, only_across=True)
        pipeline.find_pairs(run, call.settings, Silence())
        return PairsFound(call.records("links.jsonl" if links else "pairs.jsonl"), call.records("rejected.jsonl"),
                          call.run())


def dedup(inputs: Inputs, *, against: Optional[Inputs] = None, out: Optional[Path] = None, runner: Optional[str] = None,
          cluster: str = "chain", keep: str = "id", exact_only: bool = False, strict: bool = False,
          duplicate_ids: str = "refuse", **settings: Any) -> CleanCorpus:
    """A corpus without near-duplicates; options are those of ``lookalike dedup``.

    >>> texts = {"b": "The same text twice.", "a": "The same text twice.", "c": "Another one, by itself."}
    >>> clean = dedup({"id": doc_id, "text": text} for doc_id, text in texts.items())
    >>> [document["id"] for document in clean.kept]
    ['a', 'c']
    >>> [(removed["id"], removed["keeper"], removed["reason"]) for removed in clean.removed]
    [('b', 'a', 'same text')]
    """
    with _Call(inputs, against, out, settings) as call:
        run = Run(call.inputs, call.out, runner, strict=strict, duplicate_ids=duplicate_ids, against=call.against)
        clean_corpus(run, call.settings.only_equal_texts() if exact_only else call.settings,
                     Cleaning(cluster, KeepPolicy.parse(keep)), Silence())
        kept = (call.out / KEPT_NAMES[call.settings.format]).read_text(encoding="utf-8").split("\n")[:-1]
        return CleanCorpus(
            [json.loads(line) for line in kept] if call.settings.format == "jsonl" else kept,
            call.records("removed.jsonl"), call.records("clusters.jsonl"), call.records("rejected.jsonl"), call.run())


class _Call:
    """Inputs and output of one call; what it has no name for is in a private folder, gone afterwards."""

    def __init__(
        self, inputs: Inputs, against: Optional[Inputs], out: Optional[Path], settings: Mapping[str, Any]
    ) -> None:
        self.settings = Settings().replace(**settings)
        self._inputs, self._against, self._out = inputs, against, out
        self._folder = pipeline.private_folder(None)

    def __enter__(self) -> _Call:
        folder = self._folder.__enter__()
        self.out = folder / "out" if self._out is None else Path(self._out)
        self.inputs = _named(self._inputs, folder / "documents.jsonl")
        self.against = [] if self._against is None else _named(self._against, folder / "against.jsonl")
        return self

    def __exit__(self, *error: Any) -> None:
        self._folder.__exit__(*error)

    def records(self, name: str) -> Records:
        """The objects of a file of results; none where it was not needed."""
        path = self.out / name
        return [json.loads(line) for line in path.read_bytes().splitlines()] if path.exists() else []

    def run(self) -> dict[str, Any]:
        told: dict[str, Any] = json.loads((self.out / "run.json").read_text(encoding="utf-8"))
        return told


def _named(given: Inputs, documents: Path) -> list[str]:
    """The names that were given; documents that were are in a file."""
    if isinstance(given, (str, Path)):
        return [str(given)]
    items = list(given)
    if items and all(isinstance(item, (str, os.PathLike)) for item in items):
        return [str(item) for item in items]
    with open(documents, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(document, default=dict) + "\n" for document in items)
    return [str(documents)]
