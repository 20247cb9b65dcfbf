"""Rounds of large-star and small-star: each id is linked to the smallest of its cluster, however the work is split."""

from __future__ import annotations

import random
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import jobs.mr_clusters
from jobs.clusters import find_stars
from jobs.mr_clusters import MRClusters, readable_twice
from tests.helpers import LOCAL, run_job
from tests.links import NASTY_IDS, Rounds, chain, edges_of, links_of
from tests.oracles import Pair, clusters
from tests.passes import written

IDS = ("10", "9", *NASTY_IDS)
graphs = st.lists(st.tuples(st.sampled_from(IDS), st.sampled_from(IDS)).filter(lambda pair: pair[0] != pair[1]),
                  max_size=30)


def stars(pairs: list[Pair]) -> list[Pair]:
    return sorted((doc_id, members[0]) for members in clusters(pairs) for doc_id in members[1:])


def found_stars(pairs: list[Pair], folder: Path, rounds: Rounds) -> list[Pair]:
    links = Path(written(folder / "links.jsonl", links_of(pairs)))
    return sorted(edges_of(find_stars(links, rounds, folder).read_bytes().splitlines()))


@pytest.mark.parametrize("options", [(), LOCAL], ids=["inline", "local"])
def test_empty(options: tuple[str, ...]) -> None:
    assert run_job(MRClusters, [], *options) == ([], {})


def test_a_round_of_a_chain() -> None:
    """Large-star links c to a, and d to b; small-star has nothing to do."""
    output = run_job(MRClusters, links_of(["ab", "bc", "cd"]))
    assert sorted(edges_of(output.lines)) == [("b", "a"), ("c", "a"), ("d", "b")]
    assert output.counts["changed_edges"] == 2
    # Each edge twice, then once: two ids of a character, a tab and the end of the line.
    assert output.counts["shuffle_bytes"] == 3 * 2 * 4 + 3 * 4


def test_a_round_that_changes_nothing_writes_what_it_read() -> None:
    lines = [b"\ta\tb", b"\ta\td", b"\tc\te"]
    output = run_job(MRClusters, lines)
    assert output.lines == lines and output.counts["changed_edges"] == 0


@given(graphs, st.sampled_from([1, 2, jobs.mr_clusters.MAX_HELD]))
@settings(max_examples=30)
def test_clusters_are_those_of_the_oracle(
    tmp_path_factory: pytest.TempPathFactory, pairs: list[Pair], max_held: int
) -> None:
    with pytest.MonkeyPatch.context() as patches:
        patches.setattr(jobs.mr_clusters, "MAX_HELD", max_held)
        assert found_stars(pairs, tmp_path_factory.mktemp("links"), Rounds()) == stars(pairs)


def random_pairs() -> list[Pair]:
    choose = random.Random(1)
    ids = [choose.choice(IDS) + str(number) for number in range(2000)]
    return [(one, other) for one, other in (choose.sample(ids, 2) for _ in range(1600))]


def test_many_random_links(tmp_path: Path) -> None:
    assert found_stars(random_pairs(), tmp_path, Rounds()) == stars(random_pairs())


def test_processes_write_what_one_process_writes() -> None:
    lines = links_of(random_pairs())
    assert run_job(MRClusters, lines, *LOCAL, "--num-cores", "3") == run_job(MRClusters, lines)


def test_a_long_chain_takes_few_rounds(tmp_path: Path) -> None:
    rounds = Rounds()
    found = found_stars(list(chain(range(10_000))), tmp_path, rounds)
    assert found == [(f"{node:06}", "000000") for node in range(1, 10_000)]
    assert rounds.num_rounds <= 20


@pytest.mark.parametrize("pairs", [
    [("a", f"b{node}") for node in range(3000)],
    [("z", f"b{node}") for node in range(3000)],
    list(combinations([f"b{node}" for node in range(80)], 2)),
], ids=["star", "star from the largest", "clique"])
def test_stars_and_cliques_take_one_round_and_one_to_know(pairs: list[Pair], tmp_path: Path) -> None:
    rounds, ids = Rounds(), sorted({doc_id for pair in pairs for doc_id in pair})
    assert found_stars(pairs, tmp_path, rounds) == [(doc_id, ids[0]) for doc_id in ids[1:]]
    assert rounds.num_rounds <= 2


@given(graphs, st.integers(1, 4), st.randoms(use_true_random=False))
@settings(max_examples=20)
def test_a_round_does_not_depend_on_how_its_input_is_split(
    tmp_path_factory: pytest.TempPathFactory, pairs: list[Pair], num_files: int, choose: random.Random
) -> None:
    lines, folder = links_of(pairs), tmp_path_factory.mktemp("links")
    whole = run_job(MRClusters, lines)
    choose.shuffle(lines)
    files = [written(folder / str(number), lines[number::num_files]) for number in range(num_files)]
    assert run_job(MRClusters, [], "--num-cores", str(num_files), *files) == whole


@pytest.mark.parametrize("max_held", [1, 2, 3, 4])
def test_values_can_be_read_twice(max_held: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs.mr_clusters, "MAX_HELD", max_held)
    for values in ([], [b"x"], [b"x", b"", b"y"]):
        with readable_twice(iter(values)) as held:
            assert isinstance(held, list) == (len(values) < max_held)
            assert list(held) == list(held) == values
