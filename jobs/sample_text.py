"""Generated documents by number: a 64-bit key decides the whole of a text.

Documents are made a batch at a time, as rows of tokens: header, words, footer. A text
depends on its key alone, not on its batch, so it can be made again at any time.
"""

from __future__ import annotations

import math
from typing import Callable

import numpy as np

from jobs.sample_words import (
    COMMON_IN_16,
    ENDINGS,
    NUM_FORMS,
    NUM_SITES,
    NUM_TOPICS,
    PARAGRAPH,
    PARTS_PER_SITE,
    PLAIN,
    STOP,
    TERM_BITS,
    TERMS_PER_TOPIC,
    TOPICAL_IN_256,
    WORD_BITS,
    Language,
    Rows,
    choose,
    slots,
)
from lsh_core.hashing import GOLDEN, Hashes, mix64
from lsh_core.ragged import Ints, offsets_of, ranges

LENGTH, TOPIC, SITE, OTHER_SITE, HEADER, FOOTER, SCRIPT, KIND, RATE, SIDE, PLACE = range(11)
"""What a key decides about a document or a variant as a whole."""

LATIN, ACCENTS, CYRILLIC, GREEK, EMOJI, IDEOGRAPHS = range(6)
SCRIPT_OF_SLOT = slots([243, 4, 3, 2, 2, 2], 256)
ENDING_OF_SLOT = slots([206, 26, 16, 3, 5], 256)

# A length is a product of 16 factors, 10/9 or 8/9 by chance: near log-normal, in integers.
NUM_FACTORS = 16
NUM_LONG_OF_SLOT = slots([math.comb(NUM_FACTORS, i) for i in range(NUM_FACTORS + 1)], 1 << NUM_FACTORS)
LENGTH_X1000 = np.array([
    1000 * 10**i * 8 ** (NUM_FACTORS - i) // 9**NUM_FACTORS for i in range(NUM_FACTORS + 1)
])
MIN_TERMS = 3


def bits(draws: Hashes, first: int, count: int) -> Ints:
    """``count`` bits of each draw, from bit ``first`` on, as a number.

    >>> bits(np.array([0b110100], np.uint64), 2, 3).tolist()
    [5]
    """
    return ((draws >> np.uint64(first)) & np.uint64((1 << count) - 1)).astype(np.int64)


def trait(keys: Hashes, number: int) -> Hashes:
    """One draw a key, another for every number."""
    return mix64(keys ^ np.uint64(number))


def stream(keys: Hashes, counts: Ints) -> Hashes:
    """``counts[i]`` draws of key i, one key after another."""
    steps = ranges(np.ones_like(counts), counts).astype(np.uint64)
    steps *= GOLDEN
    steps += np.repeat(keys, counts)
    return mix64(steps)


def mean_num_terms(language: Language, mean_chars: int) -> int:
    """Terms of a document of the mean length, boilerplate put aside."""
    body_chars = mean_chars - language.mean_boilerplate_chars
    return max(MIN_TERMS, body_chars * 1000 // language.mean_term_chars_x1000)


def num_terms_of(language: Language, keys: Hashes, mean_chars: int) -> Ints:
    """How many terms the documents of these keys have, for a mean length in characters."""
    draws = trait(keys, LENGTH)
    length_x1000 = LENGTH_X1000[NUM_LONG_OF_SLOT[bits(draws, 0, NUM_FACTORS)]]
    share_x1024 = 896 + bits(draws, 40, 8)
    num_terms = mean_num_terms(language, mean_chars) * length_x1000 * share_x1024 // 1_024_000
    return np.maximum(num_terms, MIN_TERMS)


def scripts_of(keys: Hashes) -> Ints:
    """The script of each document: most are in plain letters."""
    return SCRIPT_OF_SLOT[bits(trait(keys, SCRIPT), 0, 8)]


def original_rows(language: Language, keys: Hashes, num_terms: Ints) -> Rows:
    """The documents of these keys, with so many terms each between header and footer."""
    counts = num_terms + 2
    draws = stream(keys, counts)
    terms = _terms(language, draws, np.repeat(choose(trait(keys, TOPIC), NUM_TOPICS), counts))
    endings = ENDING_OF_SLOT[bits(draws, 28, 8)]
    # A sentence has two terms or more.
    endings[1:][endings[:-1] >= STOP] = PLAIN
    offsets = offsets_of(counts)
    firsts, lasts = offsets[:-1], offsets[1:] - 1
    terms[firsts] = headers_of(language, keys)
    terms[lasts] = footers_of(language, keys)
    # Boilerplate looks the same in every form: its ending only tells that a sentence begins after it.
    endings[firsts], endings[lasts - 1], endings[lasts] = STOP, PARAGRAPH, PLAIN
    return _spelled(language, Rows(terms, counts), endings)


def headers_of(language: Language, keys: Hashes) -> Ints:
    """The word that is the document's header, one of its site's or none."""
    return language.first_header + _site_parts(keys, HEADER)


def footers_of(language: Language, keys: Hashes) -> Ints:
    """The word that is the document's footer, one of its site's or none."""
    return language.first_footer + _site_parts(keys, FOOTER)


def _site_parts(keys: Hashes, side: int) -> Ints:
    """A site is the lower of two draws, so that some are larger than others."""
    sites = choose(np.minimum(trait(keys, SITE), trait(keys, OTHER_SITE)), NUM_SITES)
    return sites * PARTS_PER_SITE + choose(trait(keys, side), PARTS_PER_SITE)


def _terms(language: Language, draws: Hashes, topics: Ints) -> Ints:
    """Words from the whole vocabulary, and terms of the document's topic or of the common one."""
    topics = np.where(bits(draws, 12, 4) < COMMON_IN_16, 0, topics)
    ranks = language.rank_of_slot[bits(draws, 16, TERM_BITS)]
    topical = language.first_topic_term + topics * TERMS_PER_TOPIC + ranks
    general = language.word_of_slot[bits(draws, 44, WORD_BITS)]
    return np.where(bits(draws, 36, 8) < TOPICAL_IN_256, topical, general)


def _spelled(language: Language, terms: Rows, endings: Ints) -> Rows:
    """Terms to words: an ending after a term's last word, a capital letter where a sentence begins."""
    sizes = np.diff(language.term_offsets)[terms.values]
    words = language.term_words[ranges(language.term_offsets[terms.values], sizes)]
    forms = np.zeros_like(words)
    bounds = offsets_of(sizes)
    forms[bounds[1:] - 1] = endings
    forms[bounds[1:-1]] += len(ENDINGS) * (endings[:-1] >= STOP)
    return Rows(words * NUM_FORMS + forms, np.diff(bounds[offsets_of(terms.counts)]))


def _both_cases(letters: str) -> dict[int, int]:
    small = "abcdefghijklmnopqrstuvwxyz"
    return str.maketrans(small + small.upper(), letters + letters.upper())


ACCENT_TABLE = str.maketrans("aouci", "áöüçî")
CYRILLIC_TABLE = _both_cases("абцдефгхийклмнопярстувшюзж")
GREEK_TABLE = _both_cases("αβψδεφγηιξκλμνοπχρστθωάύυζ")
REWRITE_OF_SCRIPT: dict[int, Callable[[str], str]] = {
    ACCENTS: lambda text: text.translate(ACCENT_TABLE),
    CYRILLIC: lambda text: text.translate(CYRILLIC_TABLE),
    GREEK: lambda text: text.translate(GREEK_TABLE),
    EMOJI: lambda text: text.replace("? ", "? \U0001f914 ").replace(".\n\n", " \U0001f389\U0001f680\n\n"),
}


def write_texts(language: Language, rows: Rows, scripts: Ints) -> list[str]:
    """Rows of tokens to texts, each in its script."""
    shifts = np.where(scripts == IDEOGRAPHS, language.num_tokens, 0)
    pieces = language.tokens[rows.values + np.repeat(shifts, rows.counts)].tolist()
    bounds = offsets_of(rows.counts).tolist()
    texts = ["".join(pieces[first:end]) for first, end in zip(bounds, bounds[1:])]
    for row in np.flatnonzero((scripts != LATIN) & (scripts != IDEOGRAPHS)).tolist():
        texts[row] = REWRITE_OF_SCRIPT[int(scripts[row])](texts[row])
    return [text.rstrip() for text in texts]
