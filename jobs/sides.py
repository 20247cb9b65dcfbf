"""Two corpora in one run: inside jobs a mark before each id tells which of them a document is of.

So ids of the two never clash, and those of the corpus that the other is held against come first.
"""

from __future__ import annotations

AGAINST, OWN = "0", "1"
AGAINST_JSON = b'"' + AGAINST.encode()
"""How the JSON of such an id begins."""


def is_against(marked_id: str) -> bool:
    """Whether a document is of the corpus that the other is held against.

    >>> is_against(AGAINST + "x"), is_against(OWN + "x")
    (True, False)
    """
    return marked_id.startswith(AGAINST)


def unmarked(marked_id: str) -> str:
    """The id as users know it.

    >>> unmarked(OWN + "x")
    'x'
    """
    return marked_id[1:]
