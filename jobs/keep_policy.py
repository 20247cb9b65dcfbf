"""Which document of a cluster stays: by its id, its length, or a number in one of its fields."""

from __future__ import annotations

import math
from typing import NamedTuple, Optional, Union

from lsh_core.document import Document
from lsh_core.errors import SettingsError

Rank = Union[int, float, None]
"""The smallest stays; None, where there is no number, comes after all others."""

BY_FIELD = ("max", "min")
ALLOWED = "id, longest, shortest, max:FIELD or min:FIELD"


class KeepPolicy(NamedTuple):
    """``id`` keeps the smallest id; under all others it decides between equals.

    >>> KeepPolicy.parse("max:score")
    KeepPolicy(kind='max', field='score')
    """

    kind: str
    field: Optional[str] = None

    @classmethod
    def parse(cls, text: str) -> KeepPolicy:
        kind, colon, field = text.partition(":")
        if (kind in BY_FIELD and field) or (kind in ("id", "longest", "shortest") and not colon):
            return cls(kind, field or None)
        raise SettingsError(f"keep is {text!r}; it must be {ALLOWED}")

    def __str__(self) -> str:
        return self.kind if self.field is None else f"{self.kind}:{self.field}"

    @property
    def needs_texts(self) -> bool:
        """Whether documents have to be looked at, and not only their ids."""
        return self.kind != "id"

    def rank(self, document: Document) -> Rank:
        """The place of a document in its cluster.

        >>> KeepPolicy("max", "year").rank(Document("x", "To be", {"year": 1603}))
        -1603
        """
        if self.field is None:
            return {"id": 0, "longest": -len(document.text), "shortest": len(document.text)}[self.kind]
        value = document.fields.get(self.field)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
            return None
        return -value if self.kind == "max" else value


def order_of(rank: Rank, doc_id: str) -> tuple[bool, Union[int, float], str]:
    """What documents of a cluster are ordered by: first the rank, then the id."""
    return rank is None, rank or 0, doc_id
