"""Generated near-duplicates: rows of tokens, edited as a variant's own key says."""

from __future__ import annotations

import unicodedata

import numpy as np
import numpy.typing as npt

from jobs.sample_text import KIND, RATE, SIDE, Rows, bits, footers_of, headers_of, stream, trait
from jobs.sample_words import ENDINGS, NUM_FORMS, NUM_WORDS, NUMBER_WORDS, PLAIN, STOP, WORD_BITS, Language, choose, slots
from lsh_core.hashing import Hashes
from lsh_core.ragged import Ints, offsets_of, ranges

Mask = npt.NDArray[np.bool_]

EQUAL, SPACES, NUMBERS, BOILERPLATE, SENTENCES, WORDS, TEMPLATE = range(7)
"""How a variant differs from its original; one of a template fills in the blanks."""
KIND_OF_SLOT = slots([2, 4, 8, 10, 12, 28], 64)
MAX_RATE_OF_KIND = np.array([0, 0, 1300, 1300, 13_000, 9000, 0])
"""Words (sentences, where they are dropped) in 65,536 that are edited at most."""
TEMPLATE_STEP = 22
"""One word in so many is a blank of a template; three of four variants fill it in."""

KEEP, REPLACE, DROP, INSERT, SWAP = range(5)
COPIES_OF_EDIT = np.array([1, 1, 0, 2, 1])


def kinds_of(keys: Hashes) -> Ints:
    """The kind of each variant in a near-duplicate group."""
    return KIND_OF_SLOT[bits(trait(keys, KIND), 0, 6)]


def edited_rows(language: Language, rows: Rows, keys: Hashes, kinds: Ints) -> Rows:
    """Variants of these rows, edited as their own keys and kinds say."""
    draws = stream(keys, rows.counts)
    words, forms = np.divmod(rows.tokens, NUM_FORMS)
    is_body = words < NUM_WORDS
    edits = np.where(is_body, _edits(rows, draws, keys, kinds), KEEP)
    # A word goes in only where no ending stands between it and the one before.
    edits[(edits == INSERT) & (forms != PLAIN)] = REPLACE
    fresh = language.word_of_slot[bits(draws, 44, WORD_BITS)]
    fresh = np.where(_is_number(words), NUMBER_WORDS[choose(draws, len(NUMBER_WORDS))], fresh)
    words = np.where(edits == REPLACE, fresh, words)
    _swap_with_next(words, edits == SWAP, is_body)
    _change_boilerplate(language, words, rows.counts, keys, kinds)
    copies = COPIES_OF_EDIT[edits]
    tokens = np.repeat(words * NUM_FORMS + forms, copies)
    is_inserted = edits == INSERT
    tokens[np.cumsum(copies)[is_inserted] - 1] = fresh[is_inserted] * NUM_FORMS + PLAIN
    return Rows(tokens, np.diff(offsets_of(copies)[offsets_of(rows.counts)]))


def respaced(text: str) -> str:
    """The same text with other white space and its accents taken apart: equal once normalized."""
    text = text.replace("\n\n", "\n \n\t").replace(". ", ".\n").replace(", ", ",  ")
    return unicodedata.normalize("NFD", text)


def _edits(rows: Rows, draws: Hashes, keys: Hashes, kinds: Ints) -> Ints:
    """What happens to each token, by the kind and rate of its row and its own draw."""
    kind = np.repeat(kinds, rows.counts)
    rates = np.repeat(MAX_RATE_OF_KIND[kinds] * bits(trait(keys, RATE), 0, 16) >> 16, rows.counts)
    is_chosen = bits(draws, 0, 16) < rates
    edits = np.where(is_chosen, REPLACE + bits(draws, 16, 2), KEEP)
    edits[(kind == NUMBERS) & _is_number(rows.tokens // NUM_FORMS)] = REPLACE
    is_dropped = is_chosen[_sentence_starts(rows.tokens)]
    edits = np.where(kind == SENTENCES, np.where(is_dropped, DROP, KEEP), edits)
    is_blank = ranges(np.zeros_like(rows.counts), rows.counts) % TEMPLATE_STEP == TEMPLATE_STEP // 2
    edits[(kind == TEMPLATE) & is_blank & (bits(draws, 18, 2) > 0)] = REPLACE
    return edits


def _sentence_starts(tokens: Ints) -> Ints:
    """For each token, where its sentence begins."""
    is_start = np.ones(len(tokens), bool)
    is_start[1:] = tokens[:-1] % len(ENDINGS) >= STOP
    return np.maximum.accumulate(np.where(is_start, np.arange(len(tokens)), 0))


def _is_number(words: Ints) -> Mask:
    step = NUMBER_WORDS[1] - NUMBER_WORDS[0]
    return (words >= NUMBER_WORDS[0]) & (words <= NUMBER_WORDS[-1]) & ((words - NUMBER_WORDS[0]) % step == 0)


def _swap_with_next(words: Ints, is_chosen: Mask, is_body: Mask) -> None:
    """Exchange chosen words with the next, in place; of neighbors the first wins, and none leaves the body."""
    lefts = np.flatnonzero(is_chosen[:-1] & is_body[1:])
    lefts = lefts[np.diff(lefts, prepend=-2) > 1]
    words[lefts], words[lefts + 1] = words[lefts + 1], words[lefts]


def _change_boilerplate(language: Language, words: Ints, counts: Ints, keys: Hashes, kinds: Ints) -> None:
    """Another header or footer, in place, where that is the variant's kind."""
    offsets = offsets_of(counts)
    is_header = bits(trait(keys, SIDE), 0, 1) == 1
    headers, footers = (kinds == BOILERPLATE) & is_header, (kinds == BOILERPLATE) & ~is_header
    words[offsets[:-1][headers]] = headers_of(language, keys[headers])
    words[offsets[1:][footers] - 1] = footers_of(language, keys[footers])
