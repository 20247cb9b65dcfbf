"""Generated corpora: reproducible, as large and as similar as asked, and with a true truth."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import re
import unicodedata
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from jobs import sample
from jobs.errors import OutputError
from jobs.sample import SampleReport, SampleSpec, write_sample
from jobs.sample_plan import make_plan, make_texts
from lsh_core.errors import SettingsError
from lsh_core.jaccard import shingle_sets
from lsh_core.normalize import normalize_texts
from lsh_core.settings import Settings


class Sample(NamedTuple):
    """A corpus as read from its files."""

    texts: dict[str, str]
    truth: list[dict[str, Any]]
    report: SampleReport
    corpus_bytes: bytes
    truth_bytes: bytes


def generate(folder: Path, spec: SampleSpec) -> Sample:
    corpus, truth = folder / "corpus.jsonl", folder / "truth.jsonl"
    report = write_sample(spec, corpus, truth)
    assert sorted(path.name for path in folder.iterdir()) == ["corpus.jsonl", "truth.jsonl"]
    documents = [json.loads(line) for line in corpus.read_bytes().decode().split("\n")[:-1]]
    pairs = [json.loads(line) for line in truth.read_bytes().decode().split("\n")[:-1]]
    assert all(list(document) == ["id", "text"] for document in documents)
    assert all(list(pair) == ["a", "b", "similarity"] for pair in pairs)
    texts = {document["id"]: document["text"] for document in documents}
    assert len(texts) == len(documents) == report.num_docs == spec.num_docs
    return Sample(texts, pairs, report, corpus.read_bytes(), truth.read_bytes())


def shingles_of(text: str) -> set[str]:
    text = " ".join(unicodedata.normalize("NFC", text).split())
    return {text[i : i + 9] for i in range(max(1, len(text) - 8))}


def similarity_of(one: str, other: str) -> float:
    a, b = shingles_of(one), shingles_of(other)
    return len(a & b) / len(a | b)


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> Sample:
    return generate(tmp_path_factory.mktemp("sample"), SampleSpec(num_docs=4000))


@pytest.mark.parametrize("num_docs", [0, 1, 2, 3])
def test_tiny_corpora(tmp_path: Path, num_docs: int) -> None:
    made = generate(tmp_path, SampleSpec(num_docs=num_docs, near_share=1))
    assert list(made.texts) == [f"d000000{i + 1}" for i in range(num_docs)]
    assert len(made.truth) == max(0, num_docs - 1)
    assert made.report.num_groups == (num_docs > 1)
    assert made.report.largest_group == (num_docs if num_docs > 1 else 0)


def test_bytes_are_the_same_for_ever(tmp_path: Path) -> None:
    made = generate(tmp_path, SampleSpec(num_docs=500, num_template=20, num_equal=10, near_share=0.5))
    assert made.report.share_beyond_ascii > 0
    digest = hashlib.sha256(made.corpus_bytes + made.truth_bytes).hexdigest()
    assert digest == "ad97cd4cc380912e7fd6b4cae03dfc47ee26899f09e9ae514c39b14330dd5b05"


@pytest.mark.parametrize("batch_chars", [sample.BATCH_CHARS, 30_000])
def test_two_runs_give_the_same_bytes_in_any_batches(
    tmp_path: Path, usual: Sample, monkeypatch: pytest.MonkeyPatch, batch_chars: int
) -> None:
    monkeypatch.setattr(sample, "BATCH_CHARS", batch_chars)
    assert generate(tmp_path, SampleSpec(num_docs=4000)) == usual


def test_another_seed_gives_another_corpus(tmp_path: Path, usual: Sample) -> None:
    other = generate(tmp_path, SampleSpec(num_docs=4000, seed=2))
    assert not set(other.texts.values()) & set(usual.texts.values())


def test_truth_is_the_similarity_of_sets_of_strings(usual: Sample) -> None:
    assert len(usual.truth) == usual.report.num_pairs > 500
    for pair in usual.truth:
        assert pair["similarity"] == similarity_of(usual.texts[pair["a"]], usual.texts[pair["b"]])


def test_truth_is_sorted_and_names_each_pair_once(usual: Sample) -> None:
    pairs = [(pair["a"], pair["b"]) for pair in usual.truth]
    assert all(a < b for a, b in pairs)
    assert pairs == sorted(set(pairs))


def test_ids_sort_as_documents_lie_and_stay_as_wide(usual: Sample) -> None:
    assert list(usual.texts) == sorted(usual.texts)
    spec = SampleSpec(num_docs=123_456_789)
    assert sample.doc_id(spec, 0) == "d000000001"
    assert sample.doc_id(spec, 123_456_788) == "d123456789"


def test_truth_is_a_star_a_group(usual: Sample) -> None:
    """As many pairs as documents of groups, less one a group; so many documents were to be in groups."""
    in_groups = {doc_id for pair in usual.truth for doc_id in (pair["a"], pair["b"])}
    assert len(in_groups) == 1000
    assert len(usual.truth) == 1000 - usual.report.num_groups
    assert sum(usual.report.group_sizes.values()) == usual.report.num_groups


def test_relatives_lie_far_apart(usual: Sample) -> None:
    distances = [int(pair["b"][1:]) - int(pair["a"][1:]) for pair in usual.truth]
    # Two random places of n are n / 3 apart on average.
    assert 4000 / 3 * 0.9 < np.mean(distances) < 4000 / 3 * 1.1


def test_planted_similarities_spread(usual: Sample) -> None:
    counts = Counter(math.floor(pair["similarity"] * 10) for pair in usual.truth)
    assert sum(counts.values()) == usual.report.num_pairs
    assert all(counts[tenth] > 0.02 * len(usual.truth) for tenth in (5, 6, 7, 8, 9, 10))
    assert sum(counts[tenth] for tenth in range(5)) < 0.05 * len(usual.truth)
    assert counts[10] < 0.2 * len(usual.truth)
    assert usual.report.planted["1"] == counts[10]
    assert usual.report.planted["0.7-0.8"] == sum(0.7 <= pair["similarity"] < 0.8 for pair in usual.truth)


def test_some_equal_ones_differ_in_white_space_only(usual: Sample) -> None:
    equal = [pair for pair in usual.truth if pair["similarity"] == 1]
    is_same_text = {usual.texts[pair["a"]] == usual.texts[pair["b"]] for pair in equal}
    assert is_same_text == {True, False}


def test_background_is_not_empty(usual: Sample) -> None:
    background, nearest = usual.report.background, usual.report.nearest
    assert sum(list(background.values())[3:]) > 0.1 * sum(background.values()) > 0
    assert background["0.5-1"] == nearest["0.5-1"] == 0
    assert nearest["0.1-0.2"] + nearest["0.2-0.3"] + nearest["0.3-0.5"] > 0.3 * sum(nearest.values())
    assert sum(nearest.values()) == sample.NEAREST_DOCS


def test_nearest_and_background_against_all_pairs() -> None:
    spec = SampleSpec(num_docs=60, near_share=0.5)
    plan = make_plan(spec)
    texts, group_of = make_texts(spec, plan, plan.number_at).texts, plan.original_of[plan.number_at]
    sets = shingle_sets(normalize_texts(texts, Settings()), Settings())
    unrelated = [[j for j in range(60) if group_of[i] != group_of[j]] for i in range(60)]
    nearest = [max(similarity_of(texts[i], texts[j]) for j in unrelated[i]) for i in range(20)]
    assert sample.nearest_similarities(sets, group_of, 20).tolist() == nearest
    places = [(i, (i - step) % 60) for step in (1, 30) for i in range(60)]
    background = [similarity_of(texts[i], texts[j]) for i, j in places if j in unrelated[i]]
    assert sample.background_similarities(sets, group_of).tolist() == background


def test_lengths_vary_around_the_mean(usual: Sample) -> None:
    lengths = np.array([len(text) for text in usual.texts.values()])
    assert abs(lengths.mean() - 400) < 40
    assert np.median(lengths) < lengths.mean()
    assert lengths.std() > 100


def test_long_documents(tmp_path: Path) -> None:
    made = generate(tmp_path, SampleSpec(num_docs=60, mean_chars=10_000))
    lengths = [len(text) for text in made.texts.values()]
    assert abs(np.mean(lengths) - 10_000) < 2000
    for pair in made.truth:
        assert pair["similarity"] == similarity_of(made.texts[pair["a"]], made.texts[pair["b"]])


def test_scripts(usual: Sample) -> None:
    texts = list(usual.texts.values())
    share = sum(not text.isascii() for text in texts) / len(texts)
    assert share == usual.report.share_beyond_ascii > 0.02
    everything = "".join(texts)
    for letters in ("[áöü]", "[а-я]", "[α-ω]", "[一-龥]", "[\U0001f300-\U0001faff]"):
        assert re.search(letters, everything)


def test_words_follow_zipf(usual: Sample) -> None:
    words = re.findall(r"[a-z]+", " ".join(text for text in usual.texts.values() if text.isascii()))
    counts = np.array(sorted(Counter(words).values(), reverse=True))
    assert len(counts) > 5000
    ranks = np.arange(10, 1000)
    slope, _ = np.polyfit(np.log(ranks), np.log(counts[ranks]), 1)
    assert -1.25 < slope < -0.75


def test_texts_look_like_texts(usual: Sample) -> None:
    plain = [text for text in usual.texts.values() if text.isascii()]
    for pattern in (r"[a-z], [a-z]", r"[a-z]\. [A-Z$\d]", r"\? [A-Z$\d]", r"\.\n\n[A-Z]", r" \d", r" \| "):
        assert sum(bool(re.search(pattern, text)) for text in plain) > 0.05 * len(plain)
    rights = sum("All rights reserved." in text for text in plain)
    assert 0.2 < rights / len(plain) < 0.3


def test_template(tmp_path: Path) -> None:
    made = generate(tmp_path, SampleSpec(num_docs=300, num_template=200, near_share=0))
    assert len(made.truth) == 199
    members = sorted({made.texts[pair[side]] for pair in made.truth for side in ("a", "b")})
    assert len(members) > 150
    found = [similarity_of(one, other) for one, other in itertools.combinations(members[::7], 2)]
    assert 0.75 <= min(found) < max(found) <= 1
    assert made.report.largest_group == 200


def test_equal(tmp_path: Path) -> None:
    made = generate(tmp_path, SampleSpec(num_docs=300, num_equal=120, near_share=0))
    assert sorted(Counter(made.texts.values()).values())[-2:] == [1, 120]
    assert [pair["similarity"] for pair in made.truth] == [1.0] * 119


def test_progress_ends_with_all_documents(tmp_path: Path) -> None:
    heard: list[int] = []
    write_sample(SampleSpec(num_docs=6000), tmp_path / "corpus", tmp_path / "truth", heard.append)
    assert len(heard) > 1
    assert heard == sorted(heard)
    assert heard[-1] == 6000


def test_nothing_is_left_of_a_failure(tmp_path: Path) -> None:
    def stop(num_docs: int) -> None:
        raise KeyboardInterrupt

    (tmp_path / "corpus").write_text("old")
    with pytest.raises(KeyboardInterrupt):
        write_sample(SampleSpec(num_docs=10), tmp_path / "corpus", tmp_path / "truth", stop)
    assert [path.name for path in tmp_path.iterdir()] == ["corpus"]
    assert (tmp_path / "corpus").read_text() == "old"


def test_paths_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="nowhere"):
        write_sample(SampleSpec(num_docs=1), tmp_path / "corpus", tmp_path / "nowhere" / "truth")
    with pytest.raises(SettingsError, match="two files"):
        write_sample(SampleSpec(num_docs=1), tmp_path / "same", tmp_path / "same")
    assert list(tmp_path.iterdir()) == []
