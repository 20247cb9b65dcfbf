"""Whatever the gate is made of, pairs, links and candidates are those of the one-step job without it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Callable, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import jobs.bundles
import jobs.gate_file
import jobs.mr_pairs
import jobs.pipeline
from jobs.gate_file import BadGate, write_gate
from jobs.mr_pairs import MRPairs
from lsh_core.settings import Settings
from tests.helpers import DATA, json_lines, made_up_documents, run_command, run_job
from tests.links import joined
from tests.passes import file_of, options_of, run_passes, write_gate_of
from tests.strategies import batches, near_duplicates

LOOSE = Settings(threshold=0.3, shingle="char:2", recall=0.9)


class Variant(NamedTuple):
    """How the gate is made, and what a bundle may hold."""

    max_members: int = jobs.gate_file.MAX_MEMBERS
    false_positive_rate: float = jobs.gate_file.FALSE_POSITIVE_RATE
    num_shards: Callable[[int], int] = lambda num_bands: 1
    max_bucket_docs: int = LOOSE.max_bucket_docs

    @contextmanager
    def patched(self) -> Iterator[None]:
        with pytest.MonkeyPatch.context() as patches:
            patches.setattr(jobs.gate_file, "MAX_MEMBERS", self.max_members)
            patches.setattr(jobs.gate_file, "FALSE_POSITIVE_RATE", self.false_positive_rate)
            patches.setattr(jobs.pipeline, "num_gate_shards", lambda _, num_bands: self.num_shards(num_bands))
            yield


# Members are withheld, so that keys are looked up in a filter; a poor one says yes to most others too.
BLOOM: dict[str, Any] = {"max_members": 0}
POOR_BLOOM: dict[str, Any] = {"max_members": 0, "false_positive_rate": 0.9}
FEW_SHARDS: dict[str, Any] = {"num_shards": lambda num_bands: 3}
SHARDS_OF_BANDS: dict[str, Any] = {"num_shards": lambda num_bands: 3 * num_bands}
VARIANTS = {
    "table": Variant(),
    "Bloom filter": Variant(**BLOOM),
    "poor Bloom filter": Variant(**POOR_BLOOM),
    "few shards": Variant(**FEW_SHARDS),
    "a shard a band": Variant(num_shards=lambda num_bands: num_bands),
    "several shards a band": Variant(**SHARDS_OF_BANDS),
    "members withheld by some shards": Variant(max_members=12, **FEW_SHARDS),
    "two texts are hot": Variant(max_bucket_docs=2),
    "hot in a Bloom filter": Variant(**BLOOM, max_bucket_docs=2),
    "hot in a poor Bloom filter": Variant(**POOR_BLOOM, max_bucket_docs=2),
    "hot in shards": Variant(**FEW_SHARDS, max_bucket_docs=2),
    "all at once": Variant(**POOR_BLOOM, **SHARDS_OF_BANDS, max_bucket_docs=3),
}


class Answer(NamedTuple):
    """All that must not change."""

    pairs: list[bytes]
    links: list[bytes]
    num_candidates: tuple[int, int]


def plain_answer(lines: list[bytes], settings: Settings) -> Answer:
    """From the one-step job without a gate."""
    options = (*options_of(settings), "--num-cores", "1")
    pairs, links = (run_job(MRPairs, lines, *options, *flag) for flag in ((), ("--links",)))
    return Answer(pairs.lines, sorted(joined(links.lines)),
                  (pairs.counts.get("candidates", 0), links.counts.get("candidates", 0)))


def gated_answer(lines: list[bytes], settings: Settings, variant: Variant, **choices: Any) -> Answer:
    """From the pipeline with a gate of some kind."""
    settings = settings.replace(max_bucket_docs=variant.max_bucket_docs)
    with variant.patched():
        pairs, links = (run_passes(lines, settings, links=links, **choices) for links in (False, True))
    return Answer(pairs.lines, links.lines, (pairs.report.counter("candidates"), links.report.counter("candidates")))


@st.composite
def lines_of_corpora(draw: Any) -> list[bytes]:
    """Families, short texts, equal texts under several ids, and copies, in any order."""
    families = draw(st.lists(near_duplicates(max_size=8) | batches, max_size=3))
    texts = [text for family in families for text in family]
    if texts:
        texts += draw(st.lists(st.sampled_from(texts), max_size=4))
    lines = json_lines({f"i{number}": text for number, text in enumerate(texts)})
    if lines:
        lines += draw(st.lists(st.sampled_from(lines), max_size=3))
    return draw(st.permutations(lines))


@pytest.mark.parametrize("name", ["table", "all at once"])
def test_empty(name: str) -> None:
    assert gated_answer([], Settings(), VARIANTS[name]) == plain_answer([], Settings()) == ([], [], (0, 0))


@pytest.mark.parametrize("name", VARIANTS)
@given(lines_of_corpora())
@settings(max_examples=5)
def test_the_gate_does_not_show(name: str, lines: list[bytes]) -> None:
    assert gated_answer(lines, LOOSE, VARIANTS[name], cores=1) == plain_answer(lines, LOOSE)


@given(lines_of_corpora(), st.sampled_from(sorted(VARIANTS)), st.sampled_from([0, 1, 3]), st.sampled_from([0, 100]))
@settings(max_examples=10)
def test_how_bundles_are_checked_does_not_show(
    lines: list[bytes], name: str, max_small_docs: int, check_bytes: int
) -> None:
    expected = plain_answer(lines, LOOSE)
    with pytest.MonkeyPatch.context() as patches:
        patches.setattr(jobs.bundles, "MAX_SMALL_DOCS", max_small_docs)
        patches.setattr(jobs.mr_pairs, "CHECK_BYTES", check_bytes)
        assert gated_answer(lines, LOOSE, VARIANTS[name], cores=1) == expected


@pytest.mark.parametrize("max_bucket_docs", (2, 3, 5, 11))
def test_a_family_split_in_any_number_of_groups_is_whole(max_bucket_docs: int) -> None:
    text = "one two three four five six seven eight nine ten eleven twelve"
    texts = {f"t{number}": f"{text} {number}" for number in range(12)}
    variant = Variant(max_bucket_docs=max_bucket_docs)
    answer = gated_answer(json_lines(texts), Settings(), variant)
    assert answer == plain_answer(json_lines(texts), Settings()) and len(answer.pairs) == 66


@pytest.fixture(scope="module")
def made_up() -> tuple[list[bytes], Answer]:
    """Some hundred documents and the answer."""
    lines = json_lines(made_up_documents(200, num_words=25))
    lines = [*lines, *lines[:5], b"no JSON"]
    answer = plain_answer(lines, Settings(threshold=0.6))
    assert len(answer.pairs) > len(answer.links) > 50
    return lines, answer


@pytest.mark.parametrize("name", [
    "table", "Bloom filter", "poor Bloom filter", "a shard a band", "two texts are hot", "hot in a poor Bloom filter",
    "all at once"])
def test_the_gate_does_not_show_in_many_documents(name: str, made_up: tuple[list[bytes], Answer]) -> None:
    lines, answer = made_up
    assert gated_answer(lines, Settings(threshold=0.6), VARIANTS[name]) == answer


# Tasks of the local runner are processes of their own, where nothing is patched: the gate file is all they see.
@pytest.mark.parametrize("name", ["hot in a Bloom filter", "hot in shards"])
def test_local_gives_what_inline_gives(name: str, made_up: tuple[list[bytes], Answer]) -> None:
    lines, answer = made_up
    assert gated_answer(lines, Settings(threshold=0.6), VARIANTS[name], runner="local") == answer


@pytest.mark.parametrize("num_shards", [1, 5, 99])
def test_a_gate_made_by_hand_gives_the_same_pairs(num_shards: int, tmp_path: Path) -> None:
    lines = json_lines(made_up_documents(100))
    gate = write_gate_of(lines, tmp_path / "gate", Settings(), num_shards)
    plain, gated = run_job(MRPairs, lines), run_job(MRPairs, lines, "--gate", gate)
    assert gated.lines == plain.lines != []
    assert gated.counts["shuffle_bytes"] < plain.counts["shuffle_bytes"]
    with pytest.raises(BadGate, match="gate was made with other settings: seed"):
        run_job(MRPairs, lines, "--gate", gate, "--seed", "5")


@pytest.mark.parametrize("start", [("jobs/mr_{}.py", "-r", "local"), ("-m", "jobs.mr_{}")], ids=str)
def test_the_scripts_work_one_after_the_other(start: tuple[str, ...], tmp_path: Path) -> None:
    options = (DATA / "articles.jsonl", "--no-conf", "-q", "--threshold", "0.6")
    script = [[part.format(name) for part in start] for name in ("gate", "pairs")]
    outcome = run_command(sys.executable, *script[0], *options)
    assert outcome.exit_code == 0, outcome.stderr
    write_gate(tmp_path / "gate", file_of(outcome.stdout.encode().splitlines()), Settings(threshold=0.6))
    outcome = run_command(sys.executable, *script[1], *options, "--gate", tmp_path / "gate")
    assert outcome.exit_code == 0, outcome.stderr
    expected = run_job(MRPairs, [], "--threshold", "0.6", str(DATA / "articles.jsonl")).lines
    assert sorted(outcome.stdout.encode().splitlines()) == expected != []
