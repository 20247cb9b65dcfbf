"""Texts that differ only in what the settings call unimportant become the same text.

Normalized texts are UTF-8 without control white space or NUL, so they travel as they are.
"""

from __future__ import annotations

import string
import unicodedata
from collections.abc import Sequence
from typing import Any

import numpy as np

from lsh_core.settings import Settings

SPACE = 32


def normalize_text(text: str, settings: Settings) -> str:
    """One text, normalized.

    >>> normalize_text("  To be,\\tor not ", Settings())
    'To be, or not'
    >>> normalize_text("To be, or NOT", Settings(case="fold", punctuation="drop"))
    'to be or not'
    """
    return normalize_texts([text], settings)[0].decode()


def normalize_texts(texts: Sequence[str], settings: Settings) -> list[bytes]:
    """A batch of texts, normalized and in UTF-8; ASCII texts go together through numpy.

    >>> normalize_texts(["a  b", "e\\u0301"], Settings())
    [b'a b', b'\\xc3\\xa9']
    """
    if settings.shingle_kind == "given":
        return [text.encode() for text in texts]
    ascii_rows = [row for row, text in enumerate(texts) if text.isascii() and "\0" not in text]
    normalized = [b""] * len(texts)
    for row, text in zip(ascii_rows, _normalize_ascii([texts[row] for row in ascii_rows], settings)):
        normalized[row] = text
    table = _TranslationTable(settings)
    for row in sorted(set(range(len(texts))).difference(ascii_rows)):
        normalized[row] = _normalize_any(texts[row], settings, table).encode()
    if settings.stop_words:
        stop_words = frozenset(_unicode_form(word.casefold(), settings) for word in settings.stop_words)
        normalized = [_without_words(text, stop_words) for text in normalized]
    return normalized


def _normalize_ascii(texts: Sequence[str], settings: Settings) -> list[bytes]:
    """ASCII texts without NUL, as one byte buffer: translate every byte, then drop repeated spaces."""
    if not texts:
        return []
    joined = "\0".join(texts).encode().translate(_ascii_table(settings))
    if settings.white_space == "keep":
        return joined.split(b"\0")
    codes = np.frombuffer(joined, np.uint8)
    is_space = codes == SPACE
    is_kept = np.ones(len(codes), bool)
    is_kept[1:] = ~(is_space[1:] & is_space[:-1])
    return [text.strip(b" ") for text in codes[is_kept].tobytes().split(b"\0")]


def _ascii_table(settings: Settings) -> bytes:
    """What each ASCII byte becomes; NUL, the separator, stays."""
    return bytes([0]) + b"".join(
        _translate_character(chr(code), settings).encode() for code in range(1, 128)
    ) + bytes(range(128, 256))


def _translate_character(character: str, settings: Settings) -> str:
    if character.isspace() or character == "\0":
        return " "
    if settings.punctuation == "drop" and unicodedata.category(character)[0] in "PS":
        return " "
    return character.casefold() if settings.case == "fold" and character.isascii() else character


class _TranslationTable(dict[int, str]):
    """``str.translate`` table that learns a character when it first meets it."""

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self.settings = settings

    def __missing__(self, code: int) -> str:
        self[code] = _translate_character(chr(code), self.settings)
        return self[code]


def _normalize_any(text: str, settings: Settings, table: _TranslationTable) -> str:
    """The same for any text, one at a time, in the order form, case, punctuation, white space."""
    text = _unicode_form(text, settings)
    if settings.case == "fold":
        text = _unicode_form(text.casefold(), settings)
    if settings.punctuation == "drop" or settings.white_space == "keep":
        text = text.translate(table)
    return " ".join(text.replace("\0", " ").split()) if settings.white_space == "collapse" else text


def _unicode_form(text: str, settings: Settings) -> str:
    form: Any = settings.unicode_form
    return text if form == "none" else unicodedata.normalize(form, text)


def _without_words(text: bytes, stop_words: frozenset[str]) -> bytes:
    """Drop each word that is a stop word once punctuation at its ends is put aside."""
    words = text.decode().split(" ")
    return " ".join(
        word for word in words if word.strip(string.punctuation).casefold() not in stop_words
    ).encode()
