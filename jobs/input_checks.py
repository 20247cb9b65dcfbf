"""What a run refuses on the way: an input that is not what it should be, or changes, or whose lines are not told."""

from __future__ import annotations

import json
from pathlib import Path

from jobs.base import against_name
from jobs.errors import InputChanged, InputError, JobFailed
from jobs.input_files import split_endings
from jobs.job_runner import JobRunner, Run
from jobs.mr_rejects import MRRejects
from jobs.places import Places
from jobs.rejected import placed, sortable, write_rejected
from jobs.run_report import RunReport, StepReport

NUM_SHOWN = 5


def check_input(jobs: JobRunner, report: RunReport, run: Run, gate: Path) -> None:
    """What the first pass found of the input, before the expensive one."""
    for counter in (str, against_name):
        read, told = report.counter(counter("lines")), report.total(*map(counter, ("documents", "copies", "rejected")))
        if read != told:
            raise JobFailed(f"{read} lines were read, but {told} are accounted for: this is a defect, please report it")
    if any(source.num_bytes and not split_endings(source.path)[1] for source in jobs.against) \
            and not report.counter(against_name("lines")):
        raise JobFailed("tasks did not know the files of --against by their names: this is a defect, please report it")
    _check_same_unicode(report)
    num_rejected, num_repeated = (report.total(name, against_name(name)) for name in ("rejected", "repeated_ids"))
    if run.strict and num_rejected:
        find_rejects(jobs, jobs.tmp_dir / "strict.jsonl", num_shown=0, in_all=True)
        _stop(jobs.tmp_dir / "strict.jsonl", f"--strict stops at the first of {num_rejected} such lines")
    if num_repeated and run.duplicate_ids == "refuse":
        find_rejects(jobs, jobs.tmp_dir / "repeated.jsonl", "--repeated-ids", str(gate), in_all=True)
        _stop(jobs.tmp_dir / "repeated.jsonl", f"{num_repeated} ids stand for more than one text; "
                                               "--duplicate-ids number would make them id~<hash of the text>")
    for counter, whose in ((str, ""), (against_name, " of --against")):
        if report.counter(counter("rejected")) and not report.counter(counter("documents")):
            jobs.display.note(f"every line{whose} was rejected: are they really --format {jobs.settings.format}"
                              + (f", with fields {jobs.settings.id_field!r} and {jobs.settings.text_field!r}?"
                                 if jobs.settings.format == "jsonl" and jobs.settings.id_field else "?"))
    if report.counter("against_rejected"):
        jobs.display.note(f"{report.counter('against_rejected'):,} lines of --against are no documents, and are not "
                          "compared")


def _stop(records: Path, why: str) -> None:
    with open(records, encoding="utf-8") as file:
        first = json.loads(next(file, "null"))
    if first is None:
        raise InputChanged
    raise InputError(f"{first['place']}: {first['detail']} ({why})")


def _check_same_unicode(report: RunReport) -> None:
    """Texts of two tasks are normalized alike only by the same tables."""
    versions = {name for step in report.steps for name in step.counters if name.startswith("unicode ")}
    if len(versions) > 1:
        raise JobFailed(f"tasks ran with different tables of Unicode ({', '.join(sorted(versions))}): "
                        "let all of them use the same version of Python")


def check_same_input(report: RunReport) -> None:
    """Refuse what came of an input that was not the same in all passes."""
    _check_same_unicode(report)
    read = [step.counters for step in report.steps if step.reads_input]
    read_against = [step.counters for step in report.steps if step.reads_against]
    for steps, name in ((read, str), (read_against, against_name)):
        if len({(counters.get(name("lines")), counters.get(name("input_sum"))) for counters in steps}) > 1:
            raise InputChanged


def check_unique_ids(report: RunReport) -> None:
    """Refuse pairs that would be of one id."""
    if report.counter("same_id"):
        raise JobFailed("similar texts got the same id by --duplicate-ids number: give them ids of their own")


def find_rejects(
    jobs: JobRunner, path: Path, *args: str, num_shown: int = NUM_SHOWN, in_all: bool = False
) -> StepReport:
    """Write the rejected lines, or those of repeated ids, in the order of the input, and show some.

    Those of the corpus that the input is held against are among them only if all are asked for.
    """
    found, keyed = jobs.tmp_dir / "rejects", jobs.tmp_dir / "rejects-keyed"
    step = (jobs.run if in_all else jobs.run_over_input)(MRRejects, "rejects", found, *args)
    places = Places(jobs.all_sources, jobs.uris)
    with open(found, "rb") as lines, open(keyed, "wb") as file:
        file.writelines(sortable(lines, places))
    messages, num_records = write_rejected(placed(keyed, places, jobs.tmp_dir), path, num_shown)
    for message in messages:
        jobs.display.note(message)
    if num_shown and num_records > num_shown:
        jobs.display.note(f"... and {num_records - num_shown:,} more")
    return step
