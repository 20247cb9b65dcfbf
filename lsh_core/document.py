"""A line becomes a document: an id and a text, or a typed reason why not."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from itertools import accumulate
from typing import Any, Callable, NamedTuple, Optional

from lsh_core.errors import (
    BadId,
    BadUtf8,
    EmptyText,
    LoneSurrogate,
    NoId,
    NotAnObject,
    NoText,
    NotJson,
    NotShingles,
    NulByte,
    RejectedLine,
    TextNotString,
    TooLong,
)
from lsh_core.hashing import text_digest
from lsh_core.normalize import normalize_texts
from lsh_core.settings import Settings

BOM = b"\xef\xbb\xbf"
JSON_WHITE_SPACE = " \t\n\r"
# One decoder for all lines spares json.loads' questions on each.
_DECODER = json.JSONDecoder()
# What raw_decode calls, one call of Python's less for each line.
_scan_json: Callable[[str, int], tuple[Any, int]] = vars(_DECODER)["scan_once"]
_JSON_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
MAX_DEPTH = 200


class Document(NamedTuple):
    """One parsed line; ``doc_id`` is None where ids come from the texts, ``fields`` are all others."""

    doc_id: Optional[str]
    text: str
    fields: dict[str, Any]


class DocumentBatch(NamedTuple):
    """The documents of some lines, ready to shingle, and the lines that are none.

    ``texts`` are normalized UTF-8; ``rejected`` has (index of the line, why).
    """

    doc_ids: list[str]
    texts: list[bytes]
    rejected: list[tuple[int, RejectedLine]]


def parse_line(line: bytes, settings: Settings) -> Document:
    """Parse one line without its end, or raise the ``RejectedLine`` that fits.

    >>> parse_line(b'{"id": 7, "text": "To be", "year": 1603}', Settings())
    Document(doc_id='7', text='To be', fields={'year': 1603})
    >>> parse_line(b't980 A man walks', Settings(format="text")).doc_id
    't980'
    """
    if len(line) > settings.max_document_bytes:
        raise TooLong(f"{len(line)} bytes, at most {settings.max_document_bytes} are allowed")
    if b"\0" in line:
        raise NulByte(f"at byte {line.index(0)}")
    try:
        text = line[len(BOM) :].decode() if line.startswith(BOM) else line.decode()
    except UnicodeDecodeError as error:
        raise BadUtf8(f"at byte {error.start}") from None
    if not text or text.isspace():
        raise EmptyText("blank line")
    return _PARSERS[settings.format](text, settings)


def read_documents(lines: Sequence[bytes], settings: Settings) -> DocumentBatch:
    """Parse and normalize a batch of lines; what is no document, or empty, is set aside.

    >>> read_documents([b'{"id": "x", "text": " a  b "}', b"{"], Settings())[:2]
    (['x'], [b'a b'])
    """
    documents, line_numbers = [], []
    rejected: list[tuple[int, RejectedLine]] = []
    is_quick = settings.format == "jsonl" and max(map(len, lines), default=0) <= settings.max_document_bytes
    for number, line in enumerate(lines):
        try:
            documents.append((_plain_json(line, settings) if is_quick else None) or parse_line(line, settings)[:2])
            line_numbers.append(number)
        except RejectedLine as error:
            rejected.append((number, error))
    texts = normalize_texts([text for _, text in documents], settings)
    doc_ids = [text_digest(text) if doc_id is None else doc_id for (doc_id, _), text in zip(documents, texts)]
    is_empty = [not text or text.isspace() for text in texts]
    if any(is_empty):
        rejected += [(number, EmptyText("nothing is left after normalization"))
                     for number, empty in zip(line_numbers, is_empty) if empty]
        doc_ids = [doc_id for doc_id, empty in zip(doc_ids, is_empty) if not empty]
        texts = [text for text, empty in zip(texts, is_empty) if not empty]
    return DocumentBatch(doc_ids, texts, sorted(rejected, key=lambda item: item[0]))


def _plain_json(line: bytes, settings: Settings) -> Optional[tuple[Optional[str], str]]:
    """The id and the text of a line that is as most are, in half of the time; of any other line nothing."""
    try:
        decoded = line.decode()
        fields, end = (None, 0) if _is_deep(decoded) else _scan_json(decoded, 0)
    except (ValueError, StopIteration):
        return None
    if end != len(decoded) or type(fields) is not dict:
        return None
    doc_id = None if settings.id_field is None else fields.pop(settings.id_field, None)
    text = fields.pop(settings.text_field, None)
    if type(doc_id) is int:
        doc_id = str(doc_id)
    if type(text) is not str or (settings.id_field is not None and not (type(doc_id) is str and doc_id)):
        return None
    # A lone surrogate is only there if it was escaped.
    is_clean = "\\u" not in decoded or (text.isascii() and (doc_id is None or doc_id.isascii()))
    return (doc_id, text) if is_clean else None


def _parse_json(line: str, settings: Settings) -> Document:
    line = line.strip(JSON_WHITE_SPACE)
    if _is_deep(line):
        raise NotJson(f"nested deeper than {MAX_DEPTH}")
    try:
        fields, end = _DECODER.raw_decode(line)
    except ValueError as error:
        raise NotJson(str(error)) from None
    if end != len(line):
        raise NotJson(f"Extra data: char {end}")
    if not isinstance(fields, dict):
        raise NotAnObject(f"found {type(fields).__name__}")
    doc_id = None
    if settings.id_field is not None:
        doc_id = _checked_id(fields.pop(settings.id_field, None), settings.id_field)
    text = fields.pop(settings.text_field, None)
    if text is None:
        raise NoText(f"field {settings.text_field!r} is missing or null")
    if not isinstance(text, str):
        raise TextNotString(f"field {settings.text_field!r} is {type(text).__name__}")
    _check_surrogates(text)
    return Document(doc_id, text, fields)


def _is_deep(line: str) -> bool:
    """Whether JSON is nested deeper than any Python and any stack can decode."""
    if "[" not in line and line.find("{", 1) < 0:
        return False
    if line.count("{") + line.count("[") <= MAX_DEPTH:
        return False
    depths = accumulate((mark in "{[") - (mark in "]}") for mark in re.findall(r"[][{}]", _JSON_STRING.sub("", line)))
    return max(depths, default=0) > MAX_DEPTH


def _checked_id(doc_id: Any, field: str) -> str:
    if doc_id is None or doc_id == "":
        raise NoId(f"field {field!r} is missing, null or empty")
    if isinstance(doc_id, bool) or not isinstance(doc_id, (str, int)):
        raise BadId(f"field {field!r} is {type(doc_id).__name__}")
    text = str(doc_id)
    _check_surrogates(text)
    return text


def _check_surrogates(text: str) -> None:
    try:
        text.isascii() or text.encode()
    except UnicodeEncodeError as error:
        raise LoneSurrogate(f"U+{ord(text[error.start]):04X} at character {error.start}") from None


def _parse_tab_separated(line: str, settings: Settings) -> Document:
    if settings.id_field is None:
        return Document(None, line, {})
    doc_id, tab, text = line.partition("\t")
    if not doc_id:
        raise NoId("nothing stands before the tab")
    if not tab:
        raise NoText("no tab")
    return Document(doc_id, text, {})


def _parse_text(line: str, settings: Settings) -> Document:
    if settings.id_field is None:
        return Document(None, line, {})
    doc_id, *rest = line.split(None, 1)
    if not rest:
        raise NoText("nothing stands after the id")
    return Document(doc_id, rest[0], {})


def _parse_shingled(line: str, settings: Settings) -> Document:
    document = _parse_text(line, settings)
    return document._replace(text=_canonical_integers(document.text))


def _canonical_integers(text: str) -> str:
    """Distinct integers in ascending order, so that equal sets are equal texts."""
    tokens = text.split()
    for token in tokens:
        if not (token.isascii() and token.isdigit() and len(token) <= 20 and int(token) < 2**64):
            raise NotShingles(f"found {token[:40]!r}")
    return " ".join(map(str, sorted(set(map(int, tokens)))))


_PARSERS = {"jsonl": _parse_json, "tsv": _parse_tab_separated, "text": _parse_text, "shingled": _parse_shingled}
