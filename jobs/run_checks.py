"""What must be so after a run, whatever the engine: the same input and the same tables in all passes, one id a text."""

from __future__ import annotations

from jobs.base import against_name
from jobs.errors import InputChanged, JobFailed
from jobs.run_report import RunReport


def check_same_unicode(report: RunReport) -> None:
    """Texts of two tasks are normalized alike only by the same tables."""
    versions = {name for step in report.steps for name in step.counters if name.startswith("unicode ")}
    if len(versions) > 1:
        raise JobFailed(f"tasks ran with different tables of Unicode ({', '.join(sorted(versions))}): "
                        "let all of them use the same version of Python")


def check_same_input(report: RunReport) -> None:
    """Refuse what came of an input that was not the same in all passes."""
    check_same_unicode(report)
    read = [step.counters for step in report.steps if step.reads_input]
    read_against = [step.counters for step in report.steps if step.reads_against]
    for steps, name in ((read, str), (read_against, against_name)):
        if len({(counters.get(name("lines")), counters.get(name("input_sum"))) for counters in steps}) > 1:
            raise InputChanged


def check_unique_ids(report: RunReport) -> None:
    if report.counter("same_id"):
        raise JobFailed("similar texts got the same id by --duplicate-ids number: give them ids of their own")
