"""The bytes of what becomes of lines, between the jobs that decide and the driver that writes files."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from jobs.records import json_bytes

KEPT, HOLE = b"=", b"?"
"""Before a line that is kept; in the place of one that another job decides about."""

KEEPER, REFERENCE, MEMBER, ALONE = b"keeper", b"reference", b"member", b"alone"
"""Roles: the keeper of a cluster where it is decided, the same elsewhere, other members, documents of no cluster."""

SAME_LINE, SAME_TEXT, SIMILAR = "same line", "same text", "similar"
"""Why a line is removed: its document stands on another line, it has the keeper's text, or it is like the keeper."""


class CompanyLine(NamedTuple):
    """A line that has company, on its way to the reducer of its cluster; ``similarity`` is empty where not known."""

    place: bytes
    role: bytes
    id_json: bytes
    cluster: bytes
    similarity: bytes
    text_digest: bytes
    line: bytes

    def encode(self) -> bytes:
        return b"\t".join(self)

    @classmethod
    def decode(cls, value: bytes) -> CompanyLine:
        return cls(*value.split(b"\t", 6))


class Removed(NamedTuple):
    """Why a line is not kept."""

    doc_id: str
    keeper: str
    similarity: float
    cluster: int
    """Its number, or -1."""
    reason: str
    line: str
    is_keeper_against: bool = False
    """Whether the keeper is of the corpus that this one is held against."""

    def to_json(self) -> dict[str, Any]:
        cluster = {"cluster": self.cluster} if self.cluster >= 0 else {}
        keeper_in = {"keeper_in": "against"} if self.is_keeper_against else {}
        return {"id": self.doc_id, "keeper": self.keeper, **keeper_in, "similarity": self.similarity, **cluster,
                "reason": self.reason, "line": self.line}


class Decision(NamedTuple):
    """What becomes of a line: kept, or a record of ``removed.jsonl`` without its place, which comes first here."""

    place: bytes
    cluster: int
    similarity: float
    is_kept: bool
    content: bytes

    def encode(self) -> bytes:
        mark = KEPT if self.is_kept else b"-"
        return b"%b\t%d\t%b\t%b%b" % (self.place, self.cluster, repr(self.similarity).encode(), mark, self.content)

    @classmethod
    def decode(cls, line: bytes) -> Decision:
        place, cluster, similarity, content = line.split(b"\t", 3)
        return cls(place, int(cluster), float(similarity), content[:1] == KEPT, content[1:])


class Place(NamedTuple):
    """Where a line comes from; places compare as lines follow each other, where the number of the input is known."""

    input_number: int
    file: str
    start: int
    line_in_split: int

    def encode(self) -> bytes:
        return json_bytes(self)

    @classmethod
    def decode(cls, place: bytes) -> Place:
        return cls(*json.loads(place))
