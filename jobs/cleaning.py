"""From a corpus to the same without near-duplicates: pairs, clusters, a keeper of each, the lines that stay and go."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Callable

from jobs.against import OwnClusters, marked_links, told_names
from jobs.clusters import MEMORY_LINKS, Cluster, clusters_of_links, has_more_lines
from jobs.errors import JobFailed
from jobs.input_checks import check_same_input
from jobs.job_runner import Run
from jobs.keep_policy import CLUSTERS, KeepPolicy, Rank
from jobs.keepers import KeptCluster, KeptClusters, members_of, read_ranks
from jobs.kept import KEPT_NAMES, CorpusWriter, Outcome, sortable_decisions, write_clusters
from jobs.kept_lines import SAME_TEXT, SIMILAR
from jobs.known_documents import known_ids
from jobs.lean_mrjob import HERE
from jobs.members import Members, write_members
from jobs.mr_clusters import MRClusters
from jobs.mr_keep import MRKeep
from jobs.mr_ranks import MRRanks
from jobs.mr_rest import MRRest
from jobs.outputs import sorted_lines
from jobs.pipeline import CorpusRun, make_gate, open_run, write_pairs
from jobs.places import Places
from jobs.run_report import RunReport, StepReport
from jobs.silence import Silence
from lsh_core.errors import SettingsError
from lsh_core.settings import Settings

MAX_PAIRS = 2_000_000
"""Of more pairs than these --cluster keeper is refused: all of them are in memory then."""

BY_ID = KeepPolicy("id")
RunJob = Callable[..., StepReport]


@dataclass(frozen=True)
class Cleaning:
    """What a cluster is, and which of its documents stays."""

    cluster: str = "chain"
    keep: KeepPolicy = BY_ID

    def __post_init__(self) -> None:
        if self.cluster not in CLUSTERS:
            raise SettingsError(f"cluster is {self.cluster!r}; it must be {' or '.join(CLUSTERS)}")


def clean_corpus(run: Run, settings: Settings, cleaning: Cleaning, display: Silence) -> RunReport:
    """Write the corpus without near-duplicates, what was removed and why, the clusters, and ``run.json``."""
    cleaning.keep.check_format(settings.format)
    run = replace(run, links=cleaning.cluster == "chain")
    asked_for = {"cluster": cleaning.cluster, "keep": str(cleaning.keep), "duplicate_ids": run.duplicate_ids,
                 "strict": run.strict}
    with open_run(run, settings, display, asked_for) as work:
        gate = make_gate(work)
        links = _with_old_links(work, write_pairs(work, gate))
        keeping = Keeping(work, gate, cleaning)
        clusters = keeping.keepers(links)
        outcome = keeping.write_corpus(clusters)
        written = write_clusters(work.folder / "clusters.jsonl", clusters, outcome, bool(run.against))
        work.report.cleaning = {
            "cluster": cleaning.cluster, "keep": str(cleaning.keep), "clusters": written.num_clusters,
            "kept": outcome.num_kept, "removed": outcome.num_removed, "chained": outcome.num_chained}
        _check_all_told(work.report, outcome, written.num_going)
    return work.report


def _with_old_links(work: CorpusRun, links: Path) -> Path:
    """The links with those of indexes, by which old documents are connected; of pairs all that count are there."""
    if not (work.indexes and work.run.links):
        return links
    together = work.jobs.tmp_dir / "links-together"
    shutil.copyfile(links, together)
    with open(together, "ab") as file:
        for index in work.indexes:
            file.writelines(marked_links(index))
    return together


def _check_all_told(report: RunReport, outcome: Outcome, num_going: int) -> None:
    told = outcome.num_kept + outcome.num_removed + report.counter("rejected")
    if told != report.counter("lines"):
        raise JobFailed(f"{report.counter('lines')} lines were read, but {told} were kept, removed or rejected: "
                        "this is a defect, please report it")
    gone = report.total(*(f"removed: {reason}" for reason in (SAME_TEXT, SIMILAR)))
    if gone != num_going:
        raise JobFailed(f"{num_going} documents of clusters are to go, but {gone} of them were found: "
                        "did the input change?")


class Keeping:
    """The jobs that go through the corpus again, once clusters are known."""

    def __init__(self, work: CorpusRun, gate: Path, cleaning: Cleaning) -> None:
        self.work, self.jobs, self.report, self.cleaning = work, work.jobs, work.report, cleaning
        names = self.jobs.tmp_dir / "input-names.json"
        names.write_text(json.dumps([[source.path, *told_names([source])] for source in self.jobs.sources]))
        self._members = self.jobs.tmp_dir / "members"
        self._args = ["--gate", str(gate), "--members", str(self._members), "--input-names", str(names),
                      "--keep", cleaning.keep.as_argument(), "--duplicate-ids", work.run.duplicate_ids]
        if not (self.report.counter("rejected") or self.report.counter("copies")):
            self._args.append("--one-line-each")

    def keepers(self, links: Path) -> KeptClusters:
        """The clusters of all links or pairs, each with its keeper."""
        needs_all = self.cleaning.cluster == "keeper"
        if needs_all and has_more_lines(links, MAX_PAIRS):
            raise SettingsError(f"--cluster keeper needs all pairs in memory, and there are more than {MAX_PAIRS:,}; "
                                "--cluster chain does not")
        memory_links = MAX_PAIRS if needs_all else MEMORY_LINKS
        clusters: Iterable[Cluster] = clusters_of_links(links, self._run_round, self.jobs.tmp_dir, memory_links)
        if self.work.indexes:
            has_others = any(source.keys_path is None for source in self.jobs.against)
            ids = known_ids(self.work.indexes, self.jobs.settings) if has_others else None
            clusters = OwnClusters(clusters, ids)
        ranks = self._ranks(clusters) if self.cleaning.keep.needs_texts else {}
        return KeptClusters(self.cleaning.cluster, clusters, ranks)

    def _run_round(self, lines: Path, output: Path) -> StepReport:
        self.report.steps.append(self.jobs.run(MRClusters, "clusters", output, inputs=[str(lines)]))
        return self.report.steps[-1]

    def _ranks(self, clusters: Iterable[Cluster]) -> dict[str, Rank]:
        self._write(members_of(KeptCluster(cluster.doc_ids[0], cluster.doc_ids, {}) for cluster in clusters))
        ranks = self.work.stages.make(
            "ranks", self.report, lambda path: self._run(self.jobs.run_over_input, MRRanks, "ranks", path))
        if self.report.counter("without_rank"):
            self.jobs.display.note(f"{self.report.counter('without_rank'):,} lines of clusters have no number in "
                                   f"{self.cleaning.keep.field!r}: others are kept before them")
        with open(ranks, "rb") as lines:
            return read_ranks(lines)

    def write_corpus(self, clusters: Iterable[KeptCluster]) -> Outcome:
        """Write what is kept and what is removed."""
        num_clusters = self._write(members_of(clusters))
        decisions = self.work.stages.make("keep", self.report, lambda path: self._decide(path, num_clusters))
        holes = ["--holes"] if self.jobs.runner in HERE else []
        rest = self.work.stages.make(
            "rest", self.report, lambda path: self._run(self.jobs.run_over_input, MRRest, "rest", path, *holes))
        check_same_input(self.report)
        settings, places = self.jobs.settings, Places(self.jobs.sources, {})
        kept_path, removed_path = (self.work.folder / name for name in (KEPT_NAMES[settings.format], "removed.jsonl"))
        with open(kept_path, "wb") as kept, open(removed_path, "wb") as removed, open(rest, "rb") as others, \
                sorted_lines(decisions, self.jobs.tmp_dir) as in_order:
            return CorpusWriter(kept, removed, places, num_clusters, settings.threshold).write_all(others, in_order)

    def _decide(self, path: Path, num_clusters: int) -> None:
        """Write decisions behind keys that sort as the lines of the input."""
        unplaced = self.jobs.tmp_dir / "decisions"
        # Of what the input is held against only keepers matter.
        run = self.jobs.run if num_clusters else self.jobs.run_over_input
        old_links = ["--old-links"] if self.work.indexes and self.work.run.links else []
        self._run(run, MRKeep, "keep", unplaced, *old_links)
        places = Places(self.jobs.sources, self.jobs.uris)
        with open(unplaced, "rb") as lines, open(path, "wb") as file:
            file.writelines(sortable_decisions(lines, places))

    def _run(self, run: RunJob, job_class: type, name: str, output: Path, *args: str) -> None:
        self.report.steps.append(run(job_class, name, output, *self._args, *args))

    def _write(self, members: Members) -> int:
        """Write the side file; how many clusters it has."""
        with open(self._members, "wb") as file:
            write_members(file, members)
        return int(members.clusters.max(initial=-1)) + 1
