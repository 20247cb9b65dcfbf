"""Results in an emulated S3: complete or absent, and of one run only."""

from __future__ import annotations

from pathlib import Path

import pytest

from jobs.errors import OutputError, RemoteError
from jobs.s3_files import S3Files
from tests.engines.emr import EmulatedEmr
from tests.engines.places import BUCKET, S3

pytestmark = pytest.mark.engines


def s3_files(s3: S3) -> S3Files:
    from mrjob.fs.s3 import S3Filesystem

    assert isinstance(s3.engine, EmulatedEmr)
    return S3Files(S3Filesystem("test", "test", s3_endpoint=s3.engine.endpoint, s3_region=s3.engine.region))


def test_only_one_of_two_runs_gets_a_place_in_s3(s3: S3, results: Path) -> None:
    files, uri = s3_files(s3), f"{s3.root}/wanted"
    with files.complete_folder(uri, results):
        # The other has found the place free before there was a mark.
        with pytest.raises(OutputError, match="is there already"), files.complete_folder(uri, results):
            pass
        assert len(s3.names(uri)) == 1
    assert s3.names(uri) == ["_SUCCESS", "pairs/part-00000.jsonl", "run.json"]


def test_neighbors_of_a_place_are_not_listed(s3: S3) -> None:
    assert isinstance(s3.engine, EmulatedEmr)
    files, uri, key = s3_files(s3), f"{s3.root}/r", f"{s3.root}/r".partition(f"{BUCKET}/")[2]
    for name in ("r-old/a", "r2/a"):
        s3.storage.write(f"{s3.root}/{name}", b"")
    num_before = len(s3.engine.listings())
    files.check_output(uri)
    s3.storage.write(f"{uri}/deep/a", b"")
    assert [file.uri for file in files.find(uri)] == [f"{uri}/deep/a"]
    s3.storage.write(uri, b"")
    assert [file.uri for file in files.find(uri)] == [uri, f"{uri}/deep/a"]
    assert [file.uri for file in files.find(f"{uri}/")] == [f"{uri}/deep/a"]
    assert s3.engine.listings()[num_before:] == [
        *[(key, "1"), (f"{key}/", None)] * 3, (f"{key}/", "1"), (f"{key}/", None)]
    assert len(files.find(f"{uri}*")) == 4


@pytest.mark.parametrize("error", [KeyboardInterrupt, RemoteError])
def test_a_run_that_fails_leaves_nothing_in_s3(s3: S3, results: Path, error: type[BaseException]) -> None:
    files, uri = s3_files(s3), f"{s3.root}/failed"
    with pytest.raises(error), files.complete_folder(uri, results):
        # Meanwhile the place is taken.
        with pytest.raises(OutputError, match="is there already"):
            files.check_output(uri)
        raise error
    assert s3.names(uri) == []


def test_an_upload_that_fails_leaves_nothing_in_s3(s3: S3, results: Path) -> None:
    uri = f"{s3.root}/cut"
    assert isinstance(s3.engine, EmulatedEmr)
    with (pytest.raises(RemoteError, match=f"cannot write to {uri}: .*Forbidden"), s3.engine.refusing("/run.json"),
          s3_files(s3).complete_folder(uri, results)):
        assert len(s3.names(uri)) == 1  # which says that the place is taken
    assert s3.names(uri) == []
