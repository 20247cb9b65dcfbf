"""Lines that engines have been seen to change: a file of everything that can be in a text, and around one."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator

CHARACTERS_OF_DOCUMENT = 4000
LARGE_BYTES = 5_000_000
ENDS = (b"\n", b"\r\n", b"\r", b"\n\n", b"\r\r\n", b" \n")

TEXTS = {
    "right to left": "שלום עולם, מה שלומך היום? \u202eاهلا بالعالم كيف حالك\u202c \u2067ltr\u2069 and back again",
    "emoji": "👩‍👩‍👧‍👦 🏳️‍🌈 👍🏽 🇨🇭 1️⃣ 🧑🏿‍🚀 and ❤️‍🔥 with skin and joiners in a row 🫠🫡🫥",
    "ends of lines": "one\rtwo\r\nthree\nfour\x0bfive\x0csix\x1cseven\x85eight\u2028nine\u2029ten",
    "controls": "".join(map(chr, range(32))) + "\x7f\x80\x9f\u200b\ufeff\ufffe\uffff and then some text",
    "combining": "e\u0301 n\u0303 o\u0308 \u1112\u1161\u11ab " + "z" + "\u0300\u0323" * 30 + " one letter, many marks",
    "escape": "\x1b \x1be \x1bn \x1br \x1b[31m red, and what records use to escape",
    "tabs": "a\tb\t\tc\t and a text that has tabs where records have them too",
}

NOT_UTF8 = (b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xc0\xaf", b"\xf4\x90\x80\x80", b"\x80\x81", b"\xfe\xfe")

REJECTED = (
    b'{"id": "raw NUL", "text": "a\0b"}', b'{"id": "cut short", "text": "', b'{"id": "surrogate", "text": "\\ud800"}',
    b'{"id": "raw tab", "text": "a\tb"}', b"\xff\xfe", b"null", b"[]", b"\x1b",
)


def nasty_file(seed: int = 1) -> bytes:
    """All documents and all lines that are none, with every kind of line end between them."""
    choose = random.Random(seed)
    lines = [*_documents(), *REJECTED, _large_document("large"), _large_document("larger", b" and more")]
    choose.shuffle(lines)
    return b"\xef\xbb\xbf" + b"".join(line + choose.choice(ENDS) for line in lines)


def _documents() -> Iterator[bytes]:
    for name, text in [*TEXTS.items(), *_all_of_unicode()]:
        yield _line(name, text)
        yield _line(f'{name}\t"\r\n\u2028\\ again', text + " ~", ensure_ascii=False)
    for number, bad in enumerate(NOT_UTF8):
        # If the bad bytes became U+FFFD, as they do in Java's strings, these would be pairs.
        words = b"the same words %d times before and after %d the bytes that are not UTF-8: " % (number, number)
        yield b'{"id": "bad %d", "text": "%b%b"}' % (number, words, bad)
        yield _line(f"replaced {number}", (words + bad).decode(errors="replace"), ensure_ascii=False)


def _line(doc_id: str, text: str, ensure_ascii: bool = True) -> bytes:
    return json.dumps({"id": doc_id, "text": text}, ensure_ascii=ensure_ascii).encode()


def _all_of_unicode() -> Iterator[tuple[str, str]]:
    characters = [chr(code) for code in range(sys.maxunicode + 1) if not 0xD800 <= code < 0xE000]
    for first in range(0, len(characters), CHARACTERS_OF_DOCUMENT):
        yield f"from U+{first:04X}", "".join(characters[first : first + CHARACTERS_OF_DOCUMENT])


def _large_document(name: str, end: bytes = b"") -> bytes:
    choose = random.Random(7)
    words = [b"%x" % choose.getrandbits(32) for _ in range(LARGE_BYTES // 9)]
    return b'{"id": "%b", "text": "%b%b"}' % (name.encode(), b" ".join(words), end)
