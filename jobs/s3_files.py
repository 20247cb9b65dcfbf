"""Files in S3, by way of mrjob: listed with their sizes, sampled, and written as a whole."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from fnmatch import fnmatchcase
from itertools import chain, islice
from pathlib import Path
from secrets import token_hex
from typing import Any

from jobs.errors import OutputError, RemoteError
from jobs.input_files import RemoteFile, shown

GLOB_START = re.compile(r"[*?[]")
SUCCESS = "_SUCCESS"


class S3Files:
    """Files by way of boto3, with the keys and the endpoint of mrjob's configuration."""

    def __init__(self, file_system: Any) -> None:
        """The argument is mrjob's ``S3Filesystem``."""
        self.file_system = file_system

    def find(self, pattern: str) -> list[RemoteFile]:
        """All files that match, and those below folders that match; none if nothing does."""
        if not split_uri(pattern)[1]:
            raise RemoteError(f"cannot reach {pattern}: it names no bucket")
        with told(f"cannot reach {pattern}"):
            return list(self._matching(pattern))

    def start_of(self, uri: str, num_bytes: int) -> bytes:
        """The first bytes of a file."""
        with told(f"cannot read {uri}"), closing(self._object(uri).get()["Body"]) as body:
            start: bytes = body.read(num_bytes)
        return start

    def check_output(self, uri: str, mark: str = "") -> None:
        """Refuse a folder that holds something, but for a mark."""
        with told(f"cannot reach {uri}"):
            is_taken = any(file.uri != mark for file in self._matching(uri))
        if is_taken:
            raise OutputError(f"{shown(uri)} is there already and is not empty; name another folder with --out, "
                              "or remove it")

    @contextmanager
    def complete_folder(self, uri: str, results: Path) -> Iterator[None]:
        """If nothing goes wrong inside, the files of a local folder are uploaded, and at last the mark of success.

        Nothing can be renamed in S3. From the start on a file says that the place is taken. Of several runs that put
        one there at a time, each sees those of the others, or what they have written.
        """
        mark = f"{uri}/.partial-{token_hex(4)}"
        written = [mark]
        try:
            with told(f"cannot write to {uri}"):
                self._object(mark).put(Body=b"")
            self.check_output(uri, mark)
            yield
            with told(f"cannot write to {uri}"):
                for path in sorted(path for path in results.rglob("*") if path.is_file()):
                    written.append(f"{uri}/{path.relative_to(results).as_posix()}")
                    self.file_system.put(str(path), written[-1])
                self._object(mark).delete()
                written.append(f"{uri}/{SUCCESS}")
                self._object(written[-1]).put(Body=b"")
        except BaseException:
            for name in reversed(written):
                with suppress(RemoteError), told(f"cannot remove {name}"):
                    self._object(name).delete()
            raise

    def _matching(self, pattern: str) -> Iterator[RemoteFile]:
        """The files that match, listed as far as they are asked for."""
        scheme, bucket_name, key_pattern = split_uri(pattern)
        listed, name = self._bucket(pattern).objects.filter, key_pattern.rstrip("/")
        if not name or GLOB_START.search(name):
            items = listed(Prefix=GLOB_START.split(name)[0])
        else:
            # Others begin likewise: the key itself is the first of them.
            itself = (item for item in islice(listed(Prefix=key_pattern).page_size(1), 1) if item.key == key_pattern)
            items = chain(itself, listed(Prefix=f"{name}/"))
        for item in items:
            if matches(key_pattern, item.key):
                yield RemoteFile(f"{scheme}://{bucket_name}/{item.key}", item.size)

    def _bucket(self, uri: str) -> Any:
        return self.file_system.get_bucket(split_uri(uri)[1])

    def _object(self, uri: str) -> Any:
        return self._bucket(uri).Object(split_uri(uri)[2])


@contextmanager
def told(trouble: str) -> Iterator[None]:
    """What goes wrong inside becomes one line."""
    from boto3.exceptions import Boto3Error
    from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError

    try:
        yield
    except NoCredentialsError as error:
        raise RemoteError(shown(f"{trouble}: {error}; AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment, "
                                "or ~/.aws, have them")) from error
    except (Boto3Error, BotoCoreError, ClientError) as error:
        raise RemoteError(shown(f"{trouble}: {' '.join(str(error).split())}")) from error


def split_uri(uri: str) -> tuple[str, str, str]:
    """Scheme, bucket and key.

    >>> split_uri("s3://bucket/a/b")
    ('s3', 'bucket', 'a/b')
    """
    scheme, _, place = uri.partition("://")
    bucket, _, key = place.partition("/")
    return scheme, bucket, key


def matches(pattern: str, key: str) -> bool:
    """Whether a key matches a pattern, or lies below a folder that does; a marker of a folder does not.

    >>> [matches("corpus/*.jsonl", key) for key in ("corpus/a.jsonl", "corpus/b/a.jsonl", "corpus/b.jsonl/part-0")]
    [True, False, True]
    """
    folder, names = pattern.rstrip("/"), key.split("/")
    wanted = folder.split("/") if folder else []
    return len(names) >= len(wanted) and all(map(fnmatchcase, names, wanted)) and not key.endswith("/")
