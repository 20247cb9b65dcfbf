"""The program again with strings, sets, dicts and fractions: slow, plain, and of its own.

It imports nothing of lsh_core or jobs, so that a test which compares the two can fail.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

Pair = tuple[str, str]


# Texts


def normalize(
    text: str,
    form: str = "NFC",
    case: str = "keep",
    punctuation: str = "keep",
    white_space: str = "collapse",
    stop_words: Collection[str] = (),
) -> str:
    """One text, step by step: Unicode form, case, punctuation, white space, stop words.

    >>> normalize(" To  be,\\tOR not", case="fold", punctuation="drop", stop_words=["or"])
    'to be not'
    """
    text = _in_form(text, form)
    if case == "fold":
        text = _in_form(text.casefold(), form)
    text = "".join(" " if _is_space(character, punctuation) else character for character in text)
    if white_space == "collapse":
        text = " ".join(word for word in text.split(" ") if word)
    if stop_words:
        text = " ".join(word for word in text.split(" ") if not _is_stop_word(word, stop_words))
    return text


def _in_form(text: str, form: Any) -> str:
    return text if form == "none" else unicodedata.normalize(form, text)


def _is_space(character: str, punctuation: str) -> bool:
    is_mark = unicodedata.category(character)[0] in ("P", "S")
    return character.isspace() or character == "\0" or (punctuation == "drop" and is_mark)


def _is_stop_word(word: str, stop_words: Collection[str]) -> bool:
    bare = word.strip("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
    return bare.casefold() in [stop_word.casefold() for stop_word in stop_words]


def shingles(text: str, kind: str = "char", k: int = 9) -> set[str]:
    """The distinct shingles of a normalized text; one shorter than k is one shingle, an empty one has none.

    >>> sorted(shingles("abcdabd", "char", 2))
    ['ab', 'bc', 'bd', 'cd', 'da']
    >>> sorted(shingles("This LSH Project is good", "word", 3))
    ['LSH Project is', 'Project is good', 'This LSH Project']
    """
    if not text:
        return set()
    if kind == "char":
        return {text[i : i + k] for i in range(max(1, len(text) - k + 1))}
    words = text.split()
    return {" ".join(words[i : i + k]) for i in range(max(1, len(words) - k + 1))}


# Similarity


def jaccard_fraction(one: Collection[Hashable], other: Collection[Hashable]) -> Fraction:
    """Shared members of all members, exactly; two empty sets are equal.

    >>> jaccard_fraction({2, 3, 4, 5, 6}, {1, 3, 4, 5, 6, 7})
    Fraction(4, 7)
    """
    union = set(one) | set(other)
    return Fraction(len(set(one) & set(other)), len(union)) if union else Fraction(1)


def jaccard(one: Collection[Hashable], other: Collection[Hashable]) -> float:
    """The same as the double that is nearest."""
    fraction = jaccard_fraction(one, other)
    return fraction.numerator / fraction.denominator


def brute_force_pairs(
    documents: Mapping[str, str], threshold: float, kind: str = "char", k: int = 9, **normalization: Any
) -> dict[Pair, float]:
    """Every pair (a, b), a < b, of raw texts at or above the threshold, with its similarity.

    Takes the arguments of ``normalize``; a text of which nothing is left is in no pair.

    >>> brute_force_pairs({"y": "abcd", "x": "abc", "z": "q"}, 0.5, k=2)
    {('x', 'y'): 0.6666666666666666}
    """
    sets = {doc_id: shingles(normalize(text, **normalization), kind, k) for doc_id, text in documents.items()}
    return similar_pairs(sets, threshold)


def similar_pairs(sets: Mapping[str, Collection[Hashable]], threshold: float) -> dict[Pair, float]:
    """Every pair (a, b), a < b, of sets at or above the threshold; empty sets are in none.

    >>> similar_pairs({"b": {1, 2, 3, 4}, "a": {1, 2, 3, 4, 5}, "c": {9}}, 0.8)
    {('a', 'b'): 0.8}
    """
    members_of = {doc_id: frozenset(members) for doc_id, members in sets.items() if members}
    similarity_of = {}
    for a, b in combinations(sorted(members_of), 2):
        shared = len(members_of[a] & members_of[b])
        similarity = shared / (len(members_of[a]) + len(members_of[b]) - shared)
        if similarity >= threshold:
            similarity_of[a, b] = similarity
    return similarity_of


def clusters(pairs: Iterable[Pair]) -> list[list[str]]:
    """Connected components of pairs, each sorted, in the order of their first members.

    >>> clusters([("a", "b"), ("c", "d"), ("b", "e")])
    [['a', 'b', 'e'], ['c', 'd']]
    """
    cluster_of: dict[str, set[str]] = {}
    for a, b in pairs:
        joined = cluster_of.get(a, {a}) | cluster_of.get(b, {b})
        cluster_of.update(dict.fromkeys(joined, joined))
    return sorted({tuple(sorted(members)): sorted(members) for members in cluster_of.values()}.values())


def chain_keepers(pairs: Iterable[Pair], order: Callable[[str], Any]) -> dict[str, str]:
    """The keeper of each document of a pair: the first of its cluster.

    >>> chain_keepers([("a", "b"), ("b", "c")], order=str)
    {'a': 'a', 'b': 'a', 'c': 'a'}
    """
    return {doc_id: min(cluster, key=order) for cluster in clusters(pairs) for doc_id in cluster}


def greedy_keepers(pairs: Iterable[Pair], order: Callable[[str], Any]) -> dict[str, str]:
    """The keeper of each document of a pair: the first takes its neighbors, then the first of those left, and so on.

    >>> sorted(greedy_keepers([("a", "b"), ("b", "c")], order=str).items())
    [('a', 'a'), ('b', 'a'), ('c', 'c')]
    """
    neighbors = defaultdict(set)
    for a, b in pairs:
        neighbors[a].add(b)
        neighbors[b].add(a)
    keeper_of: dict[str, str] = {}
    for doc_id in sorted(neighbors, key=order):
        if doc_id not in keeper_of:
            keeper_of.update(dict.fromkeys({doc_id, *neighbors[doc_id]} - set(keeper_of), doc_id))
    return keeper_of


# Candidates


def buckets(keys_of: Mapping[str, Collection[int]]) -> dict[int, list[str]]:
    """The documents of each band key.

    >>> buckets({"a": [1, 2], "b": [2]})
    {1: ['a'], 2: ['a', 'b']}
    """
    documents = defaultdict(list)
    for doc_id, keys in keys_of.items():
        for key in sorted(set(keys)):
            documents[key].append(doc_id)
    return dict(documents)


def maximal_buckets(members_of: Mapping[int, Iterable[Hashable]]) -> dict[int, set[Hashable]]:
    """The buckets of two documents or more that lie in no other; of equal ones the first.

    >>> sorted(maximal_buckets({1: "a", 2: "ab", 3: "ab", 4: "bcd", 5: "cd"}))
    [2, 4]
    """
    firsts = {frozenset(members): key for key, members in reversed(list(members_of.items()))}
    shared = {members: key for members, key in firsts.items() if len(members) > 1}
    return {key: set(members) for members, key in shared.items() if not any(members < other for other in shared)}


def bucket_pairs(bucket_counts: Sequence[int]) -> Iterator[tuple[int, int]]:
    """All pairs of rows inside each bucket, rows numbered bucket by bucket.

    >>> list(bucket_pairs([2, 1, 2]))
    [(0, 1), (3, 4)]
    """
    first = 0
    for count in bucket_counts:
        yield from combinations(range(first, first + count), 2)
        first += count


# Signatures


def splitmix64(seed: int, count: int) -> list[int]:
    """The splitmix64 generator as its authors' loop has it.

    >>> [hex(number) for number in splitmix64(0, 2)]
    ['0xe220a8397b1dcdaf', '0x6e789e6aa1b965f4']
    """
    numbers = []
    for _ in range(count):
        seed = (seed + 0x9E3779B97F4A7C15) % 2**64
        mixed = (seed ^ seed >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB % 2**64
        numbers.append(mixed ^ mixed >> 31)
    return numbers


def linear_signature(inputs: Collection[int], seed: int, num_functions: int) -> list[int]:
    """For each function the least ((a x + b) mod p) mod (2^32 - 1) over 32-bit inputs x."""
    numbers = [number >> 32 for number in splitmix64(seed, 2 * num_functions)]
    coefficients = [(max(1, numbers[i]), numbers[i + 1]) for i in range(0, len(numbers), 2)]
    return [min((a * x + b) % 4294967311 % (2**32 - 1) for x in inputs) for a, b in coefficients]


def sketch_signature(inputs: Collection[int], seed: int, num_functions: int, num_rounds: int = 16) -> list[int]:
    """For each function the least of its fixed order of 32-bit inputs: round first, then value."""
    numbers = [number >> 32 for number in splitmix64(seed, 2 * (num_rounds + 1) + num_functions)]
    salts = numbers[2 * (num_rounds + 1) :]

    def mixed(x: int, round_number: int) -> int:
        first, second = numbers[2 * round_number] | 1, numbers[2 * round_number + 1] | 1
        product = x * first % 2**32
        return (product ^ product >> 15) * second % 2**32

    def order(x: int) -> list[tuple[int, int]]:
        """Where x stands in each function: the first round in which it picks it, or the last of all."""
        places = [(num_rounds, mixed(x ^ salt, num_rounds) >> 8) for salt in salts]
        for round_number in reversed(range(num_rounds)):
            thrown = mixed(x, round_number)
            value = thrown * (numbers[2 * num_rounds] | 1) % 2**32 >> 8
            places[(thrown >> 16) * num_functions >> 16] = (round_number, value)
        return places

    return [round_number << 24 | value for round_number, value in map(min, zip(*map(order, inputs)))]
