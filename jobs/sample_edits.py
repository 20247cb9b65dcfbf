"""Generated near-duplicates: rows of tokens, edited as a variant's own key says."""

from __future__ import annotations

import unicodedata

import numpy as np
import numpy.typing as npt

from jobs.sample_text import KIND, PLACE, RATE, SIDE, bits, footers_of, headers_of, stream, trait
from jobs.sample_words import (
    ENDINGS,
    NUM_FORMS,
    NUM_WORDS,
    NUMBER_WORDS,
    PLAIN,
    STOP,
    WORD_BITS,
    Language,
    Rows,
    choose,
    slots,
)
from lsh_core.hashing import Hashes
from lsh_core.ragged import Ints, offsets_of, ranges

Mask = npt.NDArray[np.bool_]

EQUAL, SPACES, NUMBERS, BOILERPLATE, SENTENCES, WORDS, TEMPLATE = range(7)
"""How a variant differs from its original; one of a template fills in the blanks."""
KIND_OF_SLOT = slots([2, 4, 8, 10, 12, 28], 64)
MAX_RATE_OF_KIND = np.array([0, 0, 1300, 1300, 12_000, 8000, 0])
"""Words (sentences, where they are dropped) in 65,536 that are edited at most."""
MANY_WORDS = 200
TEMPLATE_STEP, FIRST_BLANK = 22, 5
"""One word in so many is a blank of a template, for numbers."""

KEEP, REPLACE, DROP, INSERT, SWAP = range(5)
COPIES_OF_EDIT = np.array([1, 1, 0, 2, 1])


def kinds_of(keys: Hashes) -> Ints:
    """The kind of each variant in a near-duplicate group."""
    return KIND_OF_SLOT[bits(trait(keys, KIND), 0, 6)]


def edited_rows(language: Language, rows: Rows, keys: Hashes, kinds: Ints) -> Rows:
    """Variants of these rows, edited as their own keys and kinds say."""
    draws = stream(keys, rows.counts)
    words, forms = np.divmod(rows.values, NUM_FORMS)
    is_body = words < NUM_WORDS
    edits = np.where(is_body, _edits(rows, draws, keys, kinds), KEEP)
    # A word goes in only where no ending stands between it and the one before.
    edits[(edits == INSERT) & (forms != PLAIN)] = REPLACE
    fresh = language.word_of_slot[bits(draws, 44, WORD_BITS)]
    is_number = _is_number(words) | np.repeat(kinds == TEMPLATE, rows.counts)
    fresh = np.where(is_number, NUMBER_WORDS[choose(draws, len(NUMBER_WORDS))], fresh)
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
    rates = MAX_RATE_OF_KIND[kinds] * bits(trait(keys, RATE), 0, 16) >> 16
    # Chance evens out over many words: only short documents need a margin above similarity 0.5.
    rates = np.where(rows.counts > MANY_WORDS, rates * 4 // 3, rates)
    is_chosen = bits(draws, 0, 16) < np.repeat(rates, rows.counts)
    edits = np.where(is_chosen, REPLACE + bits(draws, 16, 2), KEEP)
    edits[(kind == NUMBERS) & _is_number(rows.values // NUM_FORMS)] = REPLACE
    edits = np.where(kind == SENTENCES, np.where(_is_in_dropped_sentence(rows, is_chosen), DROP, KEEP), edits)
    edits[(kind == TEMPLATE) & _is_filled_in(rows, draws, keys)] = REPLACE
    # Few are to be equal by chance: somewhere between header and footer one word is another.
    places = offsets_of(rows.counts)[:-1] + 1 + choose(trait(keys, PLACE), rows.counts - 2)
    edits[places[MAX_RATE_OF_KIND[kinds] > 0]] = REPLACE
    return edits


def _is_in_dropped_sentence(rows: Rows, is_chosen: Mask) -> Mask:
    """A sentence goes where its first word is chosen, unless it is more than a quarter of the document."""
    is_start = np.ones(len(rows.values), bool)
    is_start[1:] = rows.values[:-1] % len(ENDINGS) >= STOP
    starts = np.flatnonzero(is_start)
    sizes = np.diff(np.append(starts, len(is_start)))
    is_dropped = is_chosen[starts] & (sizes * 4 <= np.repeat(rows.counts, rows.counts)[starts])
    return np.repeat(is_dropped, sizes)


def _is_filled_in(rows: Rows, draws: Hashes, keys: Hashes) -> Mask:
    """The first blank is always filled in, of the others a share that the variant's key decides."""
    in_row = ranges(np.zeros_like(rows.counts), rows.counts)
    is_blank: Mask = in_row % TEMPLATE_STEP == FIRST_BLANK
    shares_x256 = np.repeat(16 + choose(trait(keys, RATE), 240), rows.counts)
    is_filled: Mask = (in_row == FIRST_BLANK) | (bits(draws, 18, 8) < shares_x256)
    return is_blank & is_filled


def _is_number(words: Ints) -> Mask:
    is_number_of_word = np.zeros(NUM_WORDS + 1, bool)
    is_number_of_word[NUMBER_WORDS] = True
    return is_number_of_word[np.minimum(words, NUM_WORDS)]


def _swap_with_next(words: Ints, is_chosen: Mask, is_body: Mask) -> None:
    """Exchange chosen words with the next, in place; of neighbors the first wins; none leaves the body."""
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
