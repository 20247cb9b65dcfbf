"""The forest of links is Kruskal's, whether they are joined in memory or in the order of a sorted file."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import jobs.forests
from jobs.errors import InputError
from jobs.forests import MEMORY_LINKS, join_forests
from tests.helpers import Pairs
from tests.links import NASTY_IDS, chain, joined, kruskal, links_of

IDS = ("10", "9", "b", "c", "d", *NASTY_IDS)
BOTH_WAYS = {"memory": MEMORY_LINKS, "order": -1}

pairs_of_ids = st.tuples(st.sampled_from(IDS), st.sampled_from(IDS)).filter(lambda pair: pair[0] < pair[1])
graphs = st.dictionaries(pairs_of_ids, st.sampled_from([1.0, 0.9, 0.8, 1 / 3]) | st.floats(0, 1), max_size=60)


def joined_in_order(lines: list[bytes], folder: Path, block_links: int) -> list[bytes]:
    with pytest.MonkeyPatch.context() as patches:
        patches.setattr(jobs.forests, "BLOCK_LINKS", block_links)
        return list(join_forests(lines, folder, memory_links=-1))


@pytest.mark.parametrize("memory_links", BOTH_WAYS.values(), ids=BOTH_WAYS)
def test_empty(memory_links: int, tmp_path: Path) -> None:
    assert list(join_forests([], tmp_path, memory_links)) == []


@given(graphs, st.integers(1, 4), st.randoms(use_true_random=False), st.integers(1, 9))
def test_the_forest_of_forests_is_kruskals_both_ways(
    tmp_path_factory: pytest.TempPathFactory, pairs: Pairs, num_pieces: int, choose: random.Random, block_links: int
) -> None:
    pieces: list[Pairs] = [{} for _ in range(num_pieces)]
    for pair, similarity in pairs.items():
        # A pair may be known to several reducers.
        for piece in choose.choices(pieces, k=2):
            piece[pair] = similarity
    lines = [line for piece in pieces for line in joined(links_of(piece))]
    choose.shuffle(lines)
    expected = links_of(kruskal(pairs))
    assert joined(lines) == expected
    assert joined_in_order(lines, tmp_path_factory.mktemp("links"), block_links) == expected


@pytest.mark.parametrize("block_links", [1, 300, jobs.forests.BLOCK_LINKS])
def test_chains_stars_and_classes_of_one_similarity(block_links: int, tmp_path: Path) -> None:
    choose = random.Random(3)
    nodes = choose.sample(range(1000), 1000)
    ends = [*chain(nodes), *chain(range(0, 1000, 2)), *((f"{0:06}", other) for _, other in chain(range(1, 900))),
            *((f"{node:06}", f"{999:06}") for node in range(0, 999, 3))]
    pairs = {(min(pair), max(pair)): choose.choice([1.0, 1.0, 0.9, 5 / 6]) for pair in ends}
    lines = links_of(pairs)
    expected = links_of(kruskal(pairs))
    assert joined(lines) == expected
    assert joined_in_order(lines, tmp_path, block_links) == expected


def test_links_above_the_limit_are_sorted_in_a_file(tmp_path: Path) -> None:
    lines = links_of(chain(range(6)))
    assert list(join_forests(lines, tmp_path, 5)) == lines and not [*tmp_path.iterdir()]
    assert list(join_forests(lines, tmp_path, 4)) == lines and [*tmp_path.iterdir()]


@pytest.mark.parametrize("memory_links", BOTH_WAYS.values(), ids=BOTH_WAYS)
def test_a_line_that_is_no_link_is_an_error(memory_links: int, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a link: b'x'"):
        list(join_forests([*links_of(["ab"]), b"x"], tmp_path, memory_links))
