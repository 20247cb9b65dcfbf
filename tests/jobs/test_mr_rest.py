"""Lines without company pass as they are; all others leave a hole, or nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.kept_lines import HOLE, KEPT
from jobs.mr_rest import MRRest
from tests.cleaning import kept_cluster, side_files
from tests.helpers import json_lines, run_job
from tests.passes import written

CLUSTERS = [kept_cluster("xy", "x")]
MEMBERS = json_lines({"x": "some text", "y": "some  text"})
COPIED = json_lines({"copied": "a text of its own"})
ALONE = [*json_lines({"counts": "another", "=": "one more", "猫": "of its own"}),
         b'{"id": "spaced", "text": "a\\tb", "counts": {"lines": 5}}  ', b'\t{"text": "after a tab", "id": 5}']
REJECTED = [b"", b"{", b"=", b"?", b"-", b'{"counts": {"lines": 1}}', b"\xff"]


def test_empty(tmp_path: Path) -> None:
    assert run_job(MRRest, [], *side_files(tmp_path, [], []), "--holes") == ([], {})


@pytest.mark.parametrize("holes", [(), ("--holes",)], ids=["", "holes"])
@given(st.lists(st.sampled_from([*MEMBERS, *COPIED, *ALONE, *REJECTED]), max_size=12), st.integers(1, 3))
@settings(max_examples=15)
def test_each_line_becomes_what_it_should(
    tmp_path_factory: pytest.TempPathFactory, holes: tuple[str, ...], lines: list[bytes], num_cores: int
) -> None:
    folder = tmp_path_factory.mktemp("rest")
    options = side_files(folder, lines, CLUSTERS)
    path = written(folder / "lines.jsonl", lines)
    output = run_job(MRRest, [], *options, *holes, "--num-cores", str(num_cores), path)
    alone = [line for line in lines if line in ALONE and lines.count(line) == 1]
    company = [line for line in lines if line in MEMBERS + COPIED + ALONE and line not in alone]
    if lines.count(COPIED[0]) == 1:
        company.remove(COPIED[0])
        alone.append(COPIED[0])
    assert output.lines == sorted([KEPT + line for line in alone] + [HOLE for line in company if holes])
    assert output.counts.get("rest", 0) == len(alone)
    assert output.counts.get("lines", 0) == len(lines)


def test_lines_keep_their_order(tmp_path: Path) -> None:
    lines = [*ALONE[:2], *MEMBERS, b"{", ALONE[2]]
    job = MRRest(["-r", "inline", "--no-conf", *side_files(tmp_path, lines, CLUSTERS), "--holes", "--num-cores", "1",
                  written(tmp_path / "lines.jsonl", lines)])
    with job.make_runner() as runner:
        runner.run()
        found = b"".join(runner.cat_output()).splitlines()
    assert found == [KEPT + ALONE[0], KEPT + ALONE[1], HOLE, HOLE, KEPT + ALONE[2]]


def test_the_mark_of_a_file_is_dropped_and_ends_of_lines_are_line_feeds(tmp_path: Path) -> None:
    (tmp_path / "lines.jsonl").write_bytes(b"\xef\xbb\xbf" + b"\r".join(ALONE[:2]) + b"\r\n\xef\xbb\xbf" + ALONE[2])
    options = side_files(tmp_path, [], CLUSTERS)
    output = run_job(MRRest, [], *options, "--num-cores", "1", str(tmp_path / "lines.jsonl"))
    assert output.lines == sorted(KEPT + line for line in (*ALONE[:2], b"\xef\xbb\xbf" + ALONE[2]))


def test_where_no_line_is_rejected_only_lines_of_the_gate_are_parsed(tmp_path: Path) -> None:
    lines = [*ALONE, *MEMBERS]
    options = side_files(tmp_path, lines, CLUSTERS)
    whole, part = (run_job(MRRest, lines, *options, *more) for more in ((), ("--one-line-each",)))
    assert part.lines == whole.lines == sorted(KEPT + line for line in ALONE)
    (num_parsed,), (num_lines,) = ([number for name, number in output.counts.items() if name.startswith("unicode ")]
                                   for output in (part, whole))
    assert (num_parsed, num_lines) == (2, len(lines))
