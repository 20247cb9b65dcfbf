"""The language of generated corpora: made-up words, the terms of topics, boilerplate.

Nothing here depends on a seed: all samples are written in one language. Laws of chance are
integer tables with a slot for each equally likely draw, so no machine rounds otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, Union

import numpy as np
import numpy.typing as npt

from lsh_core.hashing import HALF, Hashes, splitmix64
from lsh_core.ragged import Ints, offsets_of

NUM_WORDS = 30_000
FIRST_CONTENT_WORD = 200
"""The words before it are the short ones that every text is full of."""
NUMBER_WORDS = np.arange(FIRST_CONTENT_WORD + 1, NUM_WORDS, 16)

NUM_TOPICS = 240
TERMS_PER_TOPIC = 64
QUOTES_PER_TOPIC = 16
"""The last terms of a topic are whole passages that its documents quote."""
TOPICAL_IN_256 = 64
"""So many terms in 256 are a topic's, the others single words."""
COMMON_IN_16 = 5
"""So many of these in 16 are of topic 0, which all documents share."""
NUM_SITES = 200
PARTS_PER_SITE = 4
"""Headers of a site, and also its footers; the first of them is none."""

WORD_BITS, TERM_BITS = 20, 12
"""Bits of a draw that choose a word from all, or a term from those of a topic."""

ENDINGS = (" ", ", ", ". ", "? ", ".\n\n")
IDEOGRAPH_ENDINGS = ("", "\uff0c", "\u3002", "\uff1f", "\u3002\n\n")
PLAIN, COMMA, STOP, QUESTION, PARAGRAPH = range(len(ENDINGS))
NUM_FORMS = 2 * len(ENDINGS)
"""A word is written small with each ending, then with a capital letter and each ending."""

CLUSTERS = ("br", "ch", "cl", "dr", "fl", "gr", "pl", "pr", "sh", "sp", "st", "th", "tr")
ONSETS: tuple[str, ...] = (*"bcdfghjklmnprstvwz", *CLUSTERS)
VOWELS: tuple[str, ...] = (*"aeiouaeio", "ai", "ea", "ou")
CODAS: tuple[str, ...] = (*"lmnrstnr", "nd", "st", "", "", "", "")
SECTIONS = (
    "Arts", "Books", "Film", "Health", "Jobs", "Markets", "News", "Science", "Sport", "Travel", "World",
)
"""As many as a prime number, so that equal steps through them give different ones."""


def choose(draws: Hashes, num_choices: Union[int, Ints]) -> Ints:
    """Draws of 64 bits to numbers from 0 to ``num_choices`` - 1, by their high half."""
    return (((draws >> HALF) * np.asarray(num_choices, np.uint64)) >> HALF).astype(np.int64)


def slots(weights: Sequence[int], num_slots: int) -> Ints:
    """A law of chance as a table: every choice has slots in proportion to its weight.

    >>> slots([3, 1], 8).tolist()
    [0, 0, 0, 0, 0, 0, 1, 1]
    """
    bounds = [0]
    total = sum(weights)
    reached = 0
    for weight in weights:
        reached += weight
        bounds.append(reached * num_slots // total)
    return np.repeat(np.arange(len(weights)), np.diff(bounds))


def zipf_slots(num_ranks: int, num_bits: int) -> Ints:
    """The law of Zipf and Mandelbrot, weight 1 / (rank + 3) from rank 0, in 2**num_bits slots."""
    return slots([10**12 // (rank + 3) for rank in range(num_ranks)], 1 << num_bits)


class Rows(NamedTuple):
    """Words or tokens in rows, one after another, and the ``counts`` of each row."""

    values: Ints
    counts: Ints


class Language(NamedTuple):
    """Words by number, how they are written, and which of them stand together.

    Word w in form f is ``tokens[w * NUM_FORMS + f]`` in letters, ``num_tokens`` later in
    ideographs. A term is a row of words: first every word by itself, the vocabulary, headers
    and footers, then the terms of each topic.
    """

    tokens: npt.NDArray[Any]
    num_tokens: int
    term_words: Ints
    term_offsets: Ints
    first_header: int
    first_footer: int
    first_topic_term: int
    word_of_slot: Ints
    rank_of_slot: Ints
    mean_boilerplate_chars: int
    mean_term_chars_x1000: int


@lru_cache(maxsize=1)
def build_language() -> Language:
    """The one language, built on first use."""
    words = _vocabulary()
    headers, footers = _boilerplate(words)
    num_singles = len(words) + len(headers) + len(footers)
    fixed = [part for part in headers + footers for _ in range(NUM_FORMS)]
    letters = [*_forms(words, ENDINGS), *fixed]
    ideographs = [*_forms(_ideographs(words), IDEOGRAPH_ENDINGS), *fixed]
    word_of_slot = zipf_slots(NUM_WORDS, WORD_BITS)
    topic_terms = _topic_terms(word_of_slot)
    rank_of_slot = zipf_slots(TERMS_PER_TOPIC, TERM_BITS)
    return Language(
        tokens=np.array(letters + ideographs, object),
        num_tokens=len(letters),
        term_words=np.concatenate([np.arange(num_singles), topic_terms.values]),
        term_offsets=offsets_of(np.concatenate([np.ones(num_singles, np.int64), topic_terms.counts])),
        first_header=len(words),
        first_footer=len(words) + len(headers),
        first_topic_term=num_singles,
        word_of_slot=word_of_slot,
        rank_of_slot=rank_of_slot,
        mean_boilerplate_chars=sum(map(len, headers + footers)) // len(headers),
        mean_term_chars_x1000=_mean_chars_x1000(words, word_of_slot, topic_terms, rank_of_slot),
    )


def _vocabulary() -> list[str]:
    """Distinct words, numbers among them, the commonest ones short."""
    words: dict[str, None] = {}
    numbers = frozenset(NUMBER_WORDS.tolist())
    for draw in splitmix64(0, 4 * NUM_WORDS).tolist():
        rank = len(words)
        if rank == NUM_WORDS:
            break
        words[_number(draw) if rank in numbers else _word(draw, rank)] = None
    return list(words)


def _word(draw: int, rank: int) -> str:
    """Two letters for the first ranks, then one syllable, later up to four."""
    if rank < 20:
        return VOWELS[draw % 5] + CODAS[draw // 8 % 6]
    longest = 1 if rank < FIRST_CONTENT_WORD else 2 if rank < 3000 else 4
    return "".join(_syllable(draw >> (8 + 12 * i)) for i in range(max(1, longest - draw % 4)))


def _syllable(draw: int) -> str:
    return ONSETS[draw % len(ONSETS)] + VOWELS[draw // 32 % len(VOWELS)] + CODAS[draw // 512 % len(CODAS)]


def _number(draw: int) -> str:
    """A year, a price, a share or a count."""
    kind, value = draw % 4, draw >> 8
    if kind == 0:
        return str(1800 + value % 230)
    if kind == 1:
        return f"${value % 900}.{value // 1024 % 100:02}"
    return f"{value % 100}.{value // 128 % 10}%" if kind == 2 else f"{1000 + value % 99_000:,}"


def _ideographs(words: Sequence[str]) -> list[str]:
    """The words in signs, one for a common word and two for a rare one; numbers stay."""
    signs = [chr(0x4E00 + rank) for rank in range(3000)]
    pairs = [first + second for first in signs[::20] for second in signs[7::13]]
    return [sign if word.isalpha() else word for word, sign in zip(words, signs + pairs)]


def _forms(words: Sequence[str], endings: Sequence[str]) -> Iterator[str]:
    for word in words:
        for first_letter in (word[0], word[0].upper()):
            for ending in endings:
                yield first_letter + word[1:] + ending


def _topic_terms(word_of_slot: Ints) -> Rows:
    """The words of each topic's terms, the first of each a rarer one."""
    draws = splitmix64(1, NUM_TOPICS * TERMS_PER_TOPIC)
    counts = np.array([1, 1, 2, 2, 2, 3, 3, 4])[choose(draws, 8)]
    is_quote = np.arange(len(counts)) % TERMS_PER_TOPIC >= TERMS_PER_TOPIC - QUOTES_PER_TOPIC
    # The topic that all documents share has none.
    is_quote[:TERMS_PER_TOPIC] = False
    counts = np.where(is_quote, 16 + choose(draws, 32), counts)
    offsets = offsets_of(counts)
    draws = splitmix64(2, int(offsets[-1]))
    words = word_of_slot[choose(draws, len(word_of_slot))]
    words[offsets[:-1]] = FIRST_CONTENT_WORD + choose(draws[offsets[:-1]], NUM_WORDS // 5)
    return Rows(words, counts)


def _mean_chars_x1000(words: Sequence[str], word_of_slot: Ints, topic_terms: Rows, rank_of_slot: Ints) -> int:
    """The mean length of a term with its space, in thousandths of a character; endings add a quarter."""
    word_chars = np.array([len(word) + 1 for word in words])
    term_chars = np.add.reduceat(word_chars[topic_terms.values], offsets_of(topic_terms.counts)[:-1])
    chars_of_rank = term_chars.reshape(NUM_TOPICS, TERMS_PER_TOPIC)
    common = int(chars_of_rank[0][rank_of_slot].sum())
    own = int(chars_of_rank[1:].sum(axis=0)[rank_of_slot].sum()) // (NUM_TOPICS - 1)
    topical_x1000 = 1000 * (COMMON_IN_16 * common + (16 - COMMON_IN_16) * own) // (16 * len(rank_of_slot))
    single_x1000 = 1000 * int(word_chars[word_of_slot].sum()) // len(word_of_slot)
    return 250 + (TOPICAL_IN_256 * topical_x1000 + (256 - TOPICAL_IN_256) * single_x1000) // 256


def _boilerplate(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Headers (menu, byline) and footers (rights, newsletter, license) of every site."""
    names = [word.capitalize() for word in words[FIRST_CONTENT_WORD:] if word.isalpha() and len(word) > 4]
    headers, footers = [], []
    for site, draw in enumerate(splitmix64(3, NUM_SITES).tolist()):
        name, first, last, city = names[4 * site : 4 * site + 4]
        sections = " | ".join(SECTIONS[(draw + i * (1 + draw // 16 % 5)) % len(SECTIONS)] for i in range(3))
        menu, byline = f"Home | {sections} | Contact\n\n", f"By {first} {last}, {city}\n\n"
        headers += ["", menu, byline, menu + byline]
        footers += [
            "",
            f"Copyright {1995 + site % 30} {name}. All rights reserved.",
            f"Sign up for the {name} newsletter to read the best of {city} every day. Terms of use | Privacy",
            f"Text by {name} contributors under the {city} Open Content License; copies must name a source.",
        ]
    return headers, footers
