"""Clusters of links: the same in memory and by rounds, in the order of ids."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import jobs.clusters
from jobs.clusters import RunRound, clusters_of_links
from jobs.edges import decode_link
from jobs.errors import InputError
from jobs.job_runner import JobRunner, Run
from jobs.mr_clusters import MRClusters
from jobs.run_report import StepReport
from lsh_core.settings import Settings
from tests.helpers import tree
from tests.links import NASTY_IDS, Rounds, chain, links_of
from tests.oracles import Pair, clusters
from tests.passes import QUIET, open_inputs, written

IDS = ("10", "9", "b", "c", "d", *NASTY_IDS)
graphs = st.lists(st.tuples(st.sampled_from(IDS), st.sampled_from(IDS)).filter(lambda pair: pair[0] != pair[1]),
                  max_size=20)
BOTH_WAYS = {"memory": jobs.clusters.MEMORY_LINKS, "rounds": -1}


def no_round(*_: object) -> StepReport:
    raise AssertionError("links that fit into memory need no rounds")


def found(links: Path, run_round: RunRound, tmp_dir: Path, memory_links: int) -> list[list[str]]:
    """The ids of clusters, found to be the same when they are gone through again, and to have their links or none."""
    found_clusters = clusters_of_links(links, run_round, tmp_dir, memory_links)
    all_links = [link for cluster in found_clusters for link in cluster.links]
    for doc_ids, own_links, *_ in found_clusters:
        assert all({a, b} <= set(doc_ids) for a, b, _ in own_links)
    assert all_links == [] or sorted(all_links) == sorted(map(decode_link, links.read_bytes().splitlines()))
    assert list(found_clusters) == list(found_clusters)
    return [cluster.doc_ids for cluster in found_clusters]


@pytest.mark.parametrize("memory_links", BOTH_WAYS.values(), ids=BOTH_WAYS)
def test_empty(memory_links: int, tmp_path: Path) -> None:
    links = Path(written(tmp_path / "links.jsonl", []))
    assert found(links, Rounds(), tmp_path, memory_links) == []


@given(graphs)
@settings(max_examples=30)
def test_both_ways_give_the_clusters_of_the_oracle(
    tmp_path_factory: pytest.TempPathFactory, pairs: list[Pair]
) -> None:
    folder = tmp_path_factory.mktemp("links")
    links = Path(written(folder / "links.jsonl", links_of(pairs)))
    for memory_links in BOTH_WAYS.values():
        assert found(links, Rounds(), folder, memory_links) == clusters(pairs)


def test_links_above_the_limit_go_by_rounds(tmp_path: Path) -> None:
    pairs = list(chain(range(6)))
    links, rounds = Path(written(tmp_path / "links.jsonl", links_of(pairs))), Rounds()
    assert found(links, no_round, tmp_path, 5) == clusters(pairs)
    assert found(links, rounds, tmp_path, 4) == clusters(pairs)
    assert rounds.num_rounds > 2


@pytest.mark.parametrize("runner", ["inline", "local"])
def test_rounds_run_by_the_job_runner_on_other_inputs_than_its_sources(runner: str, tmp_path: Path) -> None:
    choose = random.Random(2)
    pairs = [(f"d{one}", f"d{other}") for one, other in (choose.sample(range(900), 2) for _ in range(500))]
    links = Path(written(tmp_path / "links.jsonl", links_of(pairs)))
    sources = open_inputs([written(tmp_path / "documents.jsonl", [b"these are no links"])], Settings(), tmp_path)
    work = tmp_path / "work"
    work.mkdir()
    steps = []
    with JobRunner(Run([], tmp_path / "out", runner, cores=2), Settings(), sources, work, QUIET) as jobs_here:

        def run_round(lines: Path, output: Path) -> StepReport:
            steps.append(jobs_here.run(MRClusters, "clusters", output, inputs=[str(lines)]))
            return steps[-1]

        assert found(links, run_round, work, 0) == clusters(pairs)
    assert [bool(step.counters["changed_edges"]) for step in steps] == [True] * (len(steps) - 1) + [False]
    assert all(step.shuffle_bytes for step in steps)
    # Edges of former rounds are not kept.
    assert sum("edges" in name for name in tree(work)) <= 2


@pytest.mark.parametrize("memory_links", BOTH_WAYS.values(), ids=BOTH_WAYS)
def test_a_line_that_is_no_link_is_an_error(memory_links: int, tmp_path: Path) -> None:
    links = Path(written(tmp_path / "links.jsonl", [*links_of(["ab"]), b'{"id": "x", "text": "y"}']))
    with pytest.raises(InputError, match=r'^not a link: b\'{"id": "x", "text": "y"}'):
        clusters_of_links(links, Rounds(), tmp_path, memory_links)
