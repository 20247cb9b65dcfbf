"""What tests of cleaning share: side files of its jobs, the whole command, and what should become of lines."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Callable, NamedTuple

from jobs.keepers import KeptCluster, members_of
from jobs.members import write_members
from lsh_core.settings import Settings
from tests import oracles
from tests.helpers import lookalike, read_json_lines, read_run
from tests.oracles import Pair
from tests.passes import write_gate_of, written

POLICIES = ("id", "longest", "shortest", "max:score", "min:score")
RANK_OF_TEXT: dict[str, Callable[[str], int]] = {
    "id": lambda text: 0, "longest": lambda text: -len(text), "shortest": len}
"""The policies that any format allows."""

KEEPERS = {"chain": oracles.chain_keepers, "keeper": oracles.greedy_keepers}

ALL_PAIRS = ("--recall", "0.999999", "--max-functions", "2000")
"""So many functions that of a small corpus no pair is missed."""


DEFAULTS = Settings()


# Jobs


def kept_cluster(doc_ids: Iterable[str], keeper: str, similarities: Sequence[tuple[str, float]] = ()) -> KeptCluster:
    return KeptCluster(keeper, sorted(doc_ids), dict(similarities))


def side_files(
    folder: Path, lines: Iterable[bytes], clusters: Iterable[KeptCluster], paths: Sequence[str] = (),
    settings: Settings = DEFAULTS,
) -> list[str]:
    """The options by which a job is told what has become of a corpus before."""
    members, input_names = folder / "members", folder / "input-names.json"
    with open(members, "wb") as file:
        write_members(file, members_of(clusters))
    input_names.write_text(json.dumps([[path] for path in paths]))
    return ["--gate", write_gate_of(lines, folder / "gate", settings), "--members", str(members),
            "--input-names", str(input_names)]


# The command


class Cleaned(NamedTuple):
    """The results of a run, with all lines accounted for."""

    kept: list[bytes]
    removed: list[dict[str, Any]]
    clusters: list[dict[str, Any]]
    rejected: list[dict[str, Any]]
    run: dict[str, Any]

    @property
    def kept_ids(self) -> list[str]:
        return [json.loads(line)["id"] for line in self.kept]


def clean(out: Path, *arguments: object, stdin: bytes = b"") -> Cleaned:
    """Run the command on the inputs and options that are given."""
    outcome = lookalike("dedup", *arguments, "--out", out, "-q", stdin=stdin)
    assert (outcome.exit_code, outcome.stdout) == (0, ""), outcome.stderr
    return read_cleaned(out)


def read_cleaned(out: Path) -> Cleaned:
    (kept,) = out.glob("kept.*")
    lines = kept.read_bytes().split(b"\n")
    assert lines.pop() == b""
    rejected = out / "rejected.jsonl"
    cleaned = Cleaned(lines, read_json_lines(out / "removed.jsonl"), read_json_lines(out / "clusters.jsonl"),
                      read_json_lines(rejected) if rejected.exists() else [], read_run(out))
    told = cleaned.run["cleaning"]
    assert (told["kept"], told["removed"]) == (len(cleaned.kept), len(cleaned.removed))
    assert told["clusters"] == len(cleaned.clusters)
    assert cleaned.run["input"]["lines"] == len(cleaned.kept) + len(cleaned.removed) + len(cleaned.rejected)
    return cleaned


def clean_lines(folder: Path, lines: Iterable[bytes], *options: object) -> Cleaned:
    """Run the command on lines."""
    return clean(folder / "out", written(folder / "in.jsonl", lines), *options)


def contents(out: Path) -> dict[str, bytes]:
    """The bytes of all results but ``run.json``."""
    return {path.name: path.read_bytes() for path in out.iterdir() if path.name != "run.json"}


# What should become of lines


class Fate(NamedTuple):
    """What should become of documents: lines that stay, and (id, keeper, reason) of those that go."""

    kept: list[bytes]
    removed: list[tuple[str, str, str]]
    clusters: list[list[str]]
    similarities: dict[Pair, float]


def rank(line: bytes, policy: str) -> tuple[bool, float]:
    """Where a line stands under a policy, the smallest first."""
    record = json.loads(line)
    kind, _, field = policy.partition(":")
    number = {"id": 0, "longest": -len(record["text"]), "shortest": len(record["text"])}.get(kind)
    if field and isinstance(record.get(field), (int, float)):
        number = -record[field] if kind == "max" else record[field]
    return number is None, number or 0


def fate_of(lines: Sequence[bytes], policy: str = "id", cluster: str = "chain", threshold: float = 0.8, k: int = 9
            ) -> Fate:
    """What should become of lines that are all documents, by brute force."""
    lines_of = defaultdict(list)
    for line in lines:
        lines_of[json.loads(line)["id"]].append(line)
    first_line = {doc_id: min(own, key=lambda line: (rank(line, policy), line)) for doc_id, own in lines_of.items()}
    texts = {doc_id: oracles.normalize(json.loads(line)["text"]) for doc_id, line in first_line.items()}
    pairs = oracles.brute_force_pairs(texts, threshold, k=k)
    keeper_of = KEEPERS[cluster](pairs, lambda doc_id: (rank(first_line[doc_id], policy), doc_id))
    kept, removed, decided = [], [], set()
    for line in lines:
        doc_id = json.loads(line)["id"]
        keeper = keeper_of.get(doc_id, doc_id)
        if line != first_line[doc_id] or line in decided:
            removed.append((doc_id, doc_id, "same line"))
            continue
        decided.add(line)
        if keeper == doc_id:
            kept.append(line)
        else:
            removed.append((doc_id, keeper, "same text" if texts[doc_id] == texts[keeper] else "similar"))
    sets = {doc_id: oracles.shingles(text, k=k) for doc_id, text in texts.items()}
    similarities = {(doc_id, keeper): oracles.jaccard(sets[doc_id], sets[keeper]) for doc_id, keeper, _ in removed}
    return Fate(kept, removed, kept_clusters(keeper_of), similarities)


class Documents(NamedTuple):
    """What documents on one line each are, by id: lines, raw texts, and the sets of those that are in a pair."""

    lines: Mapping[str, bytes]
    texts: Mapping[str, str]
    sets: Mapping[str, set[str]]


def fate_of_documents(known: Documents, pairs: Iterable[Pair], policy: str, cluster: str) -> Fate:
    """What should become of documents that have these pairs."""
    keeper_of = KEEPERS[cluster](pairs, lambda doc_id: (RANK_OF_TEXT[policy](known.texts[doc_id]), doc_id))
    gone = {doc_id: keeper_of[doc_id] for doc_id in known.lines if keeper_of.get(doc_id, doc_id) != doc_id}
    normal = {doc_id: oracles.normalize(known.texts[doc_id]) for doc_id in keeper_of}
    removed = [(doc_id, keeper, "same text" if normal[doc_id] == normal[keeper] else "similar")
               for doc_id, keeper in gone.items()]
    similarities = {pair: oracles.jaccard(*(known.sets[doc_id] for doc_id in pair)) for pair in gone.items()}
    return Fate([line for doc_id, line in known.lines.items() if doc_id not in gone], removed,
                kept_clusters(keeper_of), similarities)


def kept_clusters(keeper_of: Mapping[str, str]) -> list[list[str]]:
    """The members of clusters of several documents, each sorted, in the order of their first members."""
    clusters = defaultdict(list)
    for doc_id, keeper in sorted(keeper_of.items()):
        clusters[keeper].append(doc_id)
    return sorted(own for own in clusters.values() if len(own) > 1)


def assert_fate(cleaned: Cleaned, fate: Fate) -> None:
    """All became of the lines that should have, with the right similarities."""
    assert cleaned.kept == fate.kept
    assert [(record["id"], record["keeper"], record["reason"]) for record in cleaned.removed] == fate.removed
    assert [record["members"] for record in cleaned.clusters] == fate.clusters
    for record in cleaned.removed:
        assert record["similarity"] == fate.similarities[record["id"], record["keeper"]]
    for record in cleaned.clusters:
        keeper = record["keeper"]
        found = [fate.similarities[doc_id, keeper] for doc_id in record["members"] if doc_id != keeper]
        assert (record["size"], record["min_similarity"]) == (len(record["members"]), min(found))
