"""What tests of clusters share: lines of links between ids, rounds of ``mr_clusters``, clusters of lines of edges."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from jobs.edges import decode_edge, decode_id
from jobs.forests import join_forests
from jobs.mr_clusters import MRClusters
from jobs.records import DocId, encode_pair, json_bytes
from jobs.run_report import StepReport
from tests.helpers import JobOutput, Pairs, run_job
from tests.oracles import Pair
from tests.passes import written

NASTY_IDS = ("a", "a\tb", "a\nb", "a\r", 'a"', "a\\", "\0", "\x01", "\t", "\x0e", "\x0e)", " ", "é", "\u2028", "\ue000",
             "猫", "😀", '{"counts": {"x": 1}}')


def links_of(pairs: Iterable[Pair]) -> list[bytes]:
    """Links between ids, in lines, with their similarities if there are some."""
    similarities = pairs if isinstance(pairs, dict) else {}
    ends = ([DocId(doc_id, json_bytes(doc_id)) for doc_id in pair] for pair in pairs)
    return [encode_pair(one, other, similarities.get((one.text, other.text), 0.875)) for one, other in ends]


def joined(lines: Iterable[bytes]) -> list[bytes]:
    """The forest of some links, which are so few that nothing is written to a file."""
    return list(join_forests(lines, Path("unused")))


def edges_of(lines: Iterable[bytes]) -> list[Pair]:
    """What the job has written: each id, but the smallest of a cluster, with the one that it is linked to."""
    return [(decode_id(larger), decode_id(smaller)) for smaller, larger in map(decode_edge, lines)]


class Rounds:
    """Runs rounds of the job, as ``clusters_of_links`` asks for them, and counts them."""

    def __init__(self, *options: str) -> None:
        self.options, self.num_rounds = options, 0

    def __call__(self, lines: Path, output: Path) -> StepReport:
        self.num_rounds += 1
        found = self.run(lines)
        written(output, found.lines)
        return StepReport("clusters", 0, found.counts)

    def run(self, lines: Path) -> JobOutput:
        return run_job(MRClusters, [], *self.options, str(lines))


def kruskal(pairs: Pairs) -> Pairs:
    """The maximum spanning forest: most similar first, then a, then b; what would close a circle is left out."""
    tree_of: dict[str, set[str]] = {}
    forest = {}
    for (a, b), similarity in sorted(pairs.items(), key=lambda item: (-item[1], item[0])):
        one, other = (tree_of.setdefault(end, {end}) for end in (a, b))
        if one is not other:
            forest[a, b] = similarity
            one |= other
            tree_of.update(dict.fromkeys(other, one))
    return forest


def chain(nodes: Iterable[int]) -> Iterator[Pair]:
    """Pairs of each node and the next, as ids that sort as numbers do."""
    ids = [f"{node:06}" for node in nodes]
    return zip(ids, ids[1:])
