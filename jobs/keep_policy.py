"""Which document of a cluster stays: by its id, its length, or a number in one of its fields."""

from __future__ import annotations

import math
import re
from contextlib import suppress
from typing import Any, NamedTuple, Optional, Union
from urllib.parse import quote, unquote

from lsh_core.document import Document
from lsh_core.errors import SettingsError

Rank = Union[int, float, None]
"""The smallest stays; None, where there is no number, comes after all others."""

CLUSTERS = ("chain", "keeper")
"""What a cluster is: all that pairs connect, or a keeper and what is similar to it."""

BY_FIELD = ("max", "min")
POLICIES = "id, longest, shortest, max:FIELD or min:FIELD"


SPELLED_NUMBER = re.compile(r"\s*[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?\s*", re.ASCII | re.IGNORECASE)
"""What Python takes for numbers besides is text to others: digits of other scripts, underscores between digits."""


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
        raise SettingsError(f"keep is {text!r}; it must be {POLICIES}")

    def __str__(self) -> str:
        return self.kind if self.field is None else f"{self.kind}:{self.field}"

    def as_argument(self) -> str:
        """One plain word, which jobs parse: engines split command lines as no shell does.

        >>> KeepPolicy.parse("max:l'âge").as_argument()
        'max:l%27%C3%A2ge'
        """
        return quote(str(self), safe=":", errors="surrogatepass")

    @classmethod
    def of_argument(cls, argument: str) -> KeepPolicy:
        return cls.parse(unquote(argument, errors="surrogatepass"))

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
        number = number_of(document.fields.get(self.field))
        return -number if self.kind == "max" and number is not None else number

    def check_format(self, line_format: str) -> None:
        """Refuse a field where lines have none."""
        if self.field is not None and line_format != "jsonl":
            raise SettingsError(f"keep is '{self}', and lines of format {line_format!r} have no fields; "
                                "it must be id, longest or shortest")


def number_of(value: Any) -> Rank:
    """A number of JSON, or one that a string spells, as all fields of CSV do; else None.

    >>> number_of(7), number_of("-.5e3"), number_of("1_000"), number_of(True), number_of("inf")
    (7, -500.0, None, None, None)
    """
    if isinstance(value, str) and SPELLED_NUMBER.fullmatch(value):
        spelled = value
        value = float(spelled)
        with suppress(ValueError):
            # Large integers would lose digits.
            value = int(spelled)
    is_number = isinstance(value, int) or (isinstance(value, float) and math.isfinite(value))
    return value if is_number and not isinstance(value, bool) else None


def order_of(rank: Rank, doc_id: str) -> tuple[bool, Union[int, float], str]:
    """What documents of a cluster are ordered by: first the rank, then the id."""
    return rank is None, rank or 0, doc_id
