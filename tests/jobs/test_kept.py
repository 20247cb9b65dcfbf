"""The cleaned corpus: every line in its place, whatever it looks like."""

from __future__ import annotations

import io
import json
import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import jobs.job_runner
import jobs.kept
from jobs.errors import JobFailed
from jobs.kept import CorpusWriter, Outcome, sortable_decisions, write_clusters
from jobs.kept_lines import HOLE, KEPT, CompanyLine, Decision, Place, Removed
from jobs.places import Places
from jobs.readers import Source
from tests.cleaning import kept_cluster
from tests.passes import file_of

PLACES = Places([Source("first.jsonl", "/first.jsonl"), Source("second.jsonl", "/second.jsonl")], {})
ODD_LINES = (b"", b"=", b"==", b"?", b"-", b"=?", b"\t", b"a\tb", b'{"counts": {"lines": 1}}', "é\u2028猫".encode())

# A line, and what becomes of it: kept without a question, kept by a decision, or removed from a cluster.
odd_lines = st.one_of(st.sampled_from(ODD_LINES), st.text().map(lambda text: text.replace("\r", "").encode())).map(
    lambda line: line.replace(b"\n", b""))
fates = st.lists(st.tuples(odd_lines, st.sampled_from(["rest", "kept", "removed"])), max_size=20)


def place(number: int, file: str = "/first.jsonl") -> bytes:
    return Place(0, file, 0, number).encode()


def decided(number: int, line: bytes, is_kept: bool, similarity: float = 0.9, cluster: int = 0) -> bytes:
    removed = Removed("x", "y", similarity, cluster, "similar", line.decode()).to_json()
    content = line if is_kept else json.dumps(removed, ensure_ascii=False).encode()
    return Decision(place(number), cluster, similarity, is_kept, content).encode()


def put_together(rest: list[bytes], decisions: list[bytes], threshold: float = 0.8) -> tuple[bytes, bytes, Outcome]:
    """What is kept, what is removed, and the numbers."""
    kept, removed = io.BytesIO(), io.BytesIO()
    in_order = sorted(sortable_decisions((line + b"\n" for line in decisions), PLACES))
    outcome = CorpusWriter(kept, removed, PLACES, 3, threshold).write_all(file_of(rest), iter(in_order))
    return kept.getvalue(), removed.getvalue(), outcome


def test_empty() -> None:
    kept, removed, outcome = put_together([], [])
    assert (kept, removed, outcome[:3]) == (b"", b"", (0, 0, 0))


@given(fates, st.integers(1, 50), st.randoms(use_true_random=False))
def test_lines_come_in_the_order_of_the_input(
    lines: list[tuple[bytes, str]], block_bytes: int, choose: random.Random
) -> None:
    rest = [KEPT + line if fate == "rest" else HOLE for line, fate in lines]
    decisions = [decided(number, line, fate == "kept")
                 for number, (line, fate) in enumerate(lines, 1) if fate != "rest"]
    choose.shuffle(decisions)
    with pytest.MonkeyPatch.context() as patches:
        patches.setattr(jobs.kept, "BLOCK_BYTES", block_bytes)
        patches.setattr(jobs.job_runner, "BLOCK_BYTES", block_bytes)
        kept, removed, outcome = put_together(rest, decisions)
    stay = [line for line, fate in lines if fate != "removed"]
    assert kept == b"".join(line + b"\n" for line in stay)
    gone = [(f"first.jsonl:{number}", line.decode())
            for number, (line, fate) in enumerate(lines, 1) if fate == "removed"]
    assert [(record["place"], record["line"]) for record in map(json.loads, removed.splitlines())] == gone
    assert (outcome.num_kept, outcome.num_removed, outcome.num_chained) == (len(stay), len(gone), 0)


def test_without_holes_decided_lines_come_last() -> None:
    kept, _, outcome = put_together([KEPT + b"c", KEPT + b"d"], [decided(2, b"b", True), decided(1, b"a", True)])
    assert (kept, outcome.num_kept) == (b"c\nd\na\nb\n", 4)


def test_a_record_begins_with_its_place() -> None:
    _, removed, _ = put_together([], [decided(7, b"the line", False)])
    assert removed == (b'{"place": "first.jsonl:7", "id": "x", "keeper": "y", "similarity": 0.9, "cluster": 0, '
                       b'"reason": "similar", "line": "the line"}\n')


def test_the_smallest_similarity_of_each_cluster_and_what_is_below_the_threshold() -> None:
    similarities = [(0, 0.9), (0, 0.7), (2, 0.8), (-1, 1.0), (0, 0.75)]
    decisions = [decided(number, b"", False, similarity, cluster)
                 for number, (cluster, similarity) in enumerate(similarities)]
    _, _, outcome = put_together([], [*decisions, decided(9, b"", True, 1.0, 1)])
    assert outcome.min_similarities.tolist() == [0.7, 1.0, 0.8]
    assert outcome.num_chained == 2


def test_a_hole_without_a_decision_is_told() -> None:
    with pytest.raises(JobFailed, match="fewer decisions than lines"):
        put_together([HOLE, HOLE], [decided(1, b"a", True)])


def test_clusters_are_numbered_as_they_come(tmp_path: Path) -> None:
    outcome = Outcome(0, 0, 0, np.array([0.5, 1.0]))
    assert write_clusters(tmp_path / "clusters.jsonl", [], outcome) == (0, 0)
    assert (tmp_path / "clusters.jsonl").read_bytes() == b""
    clusters = [kept_cluster(["a", "é"], "é"), kept_cluster("bcd", "b")]
    assert write_clusters(tmp_path / "clusters.jsonl", clusters, outcome) == (2, 3)
    assert (tmp_path / "clusters.jsonl").read_text(encoding="utf-8").splitlines() == [
        '{"cluster": 0, "keeper": "é", "size": 2, "min_similarity": 0.5, "members": ["a", "é"]}',
        '{"cluster": 1, "keeper": "b", "size": 3, "min_similarity": 1.0, "members": ["b", "c", "d"]}']


@given(odd_lines, st.text(), st.floats(0, 1), st.integers(-1, 9))
def test_records_are_read_as_they_were_written(line: bytes, name: str, similarity: float, cluster: int) -> None:
    where = Place(1, name, 2, 3)
    assert Place.decode(where.encode()) == where
    company = CompanyLine(where.encode(), b"member", b'"x"', b"%d" % cluster, b"", b"00", line)
    assert CompanyLine.decode(company.encode()) == company
    for is_kept in (True, False):
        decision = Decision(where.encode(), cluster, similarity, is_kept, line)
        assert Decision.decode(decision.encode()) == decision
        assert b"\n" not in decision.encode()
