"""A step of EMR, run as Hadoop's streaming would: mappers, a stable sort by key, reducers; files come from S3."""

from __future__ import annotations

import gzip
import os
import re
import shlex
import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from zlib import crc32

NUM_MAPPERS = 2
NUM_REDUCERS = 2
KINDS = {"-mapper": "map", "-reducer": "reduce"}
REPORTED = re.compile(rb"^reporter:counter:(.+),(.+),(\d+)$", re.MULTILINE)
"""How a task tells Hadoop to add to a counter."""


class TaskFailed(Exception):
    """A task that ended with a code, and what it wrote on its way."""

    def __init__(self, name: str, code: int, stderr: bytes) -> None:
        super().__init__(f"{name} ended with code {code}:\n{stderr.decode()[-2000:]}")
        self.stderr = stderr


class Storage:
    """S3 by addresses."""

    def __init__(self, endpoint: str, region: str) -> None:
        import boto3

        self.client: Any = boto3.client("s3", endpoint_url=endpoint, region_name=region,
                                        aws_access_key_id="test", aws_secret_access_key="test")

    def read(self, uri: str) -> bytes:
        bucket, key = _bucket_and_key(uri)
        content: bytes = self.client.get_object(Bucket=bucket, Key=key)["Body"].read()
        return content

    def write(self, uri: str, content: bytes) -> None:
        bucket, key = _bucket_and_key(uri)
        self.client.put_object(Bucket=bucket, Key=key, Body=content)

    def remove(self, uri: str) -> None:
        bucket, key = _bucket_and_key(uri)
        self.client.delete_object(Bucket=bucket, Key=key)

    def list(self, uri: str) -> list[str]:
        """The addresses that start with an address."""
        bucket, prefix = _bucket_and_key(uri)
        pages = self.client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix)
        return [f"s3://{bucket}/{item['Key']}" for page in pages for item in page.get("Contents", ())]

    def everything(self) -> dict[str, bytes]:
        """All there is, by address."""
        buckets = [bucket["Name"] for bucket in self.client.list_buckets()["Buckets"]]
        return {uri: self.read(uri) for bucket in buckets for uri in self.list(f"s3://{bucket}/")}


class StreamingStep:
    """The arguments of a streaming step, and how to do what they say."""

    def __init__(self, args: Sequence[str], storage: Storage, work: Path, path: Path, env: dict[str, str]) -> None:
        assert args[0] == "hadoop-streaming", f"not a streaming step: {args[0]}"
        self.options = parse_options(args[1:])
        self.properties = dict(item.split("=", 1) for item in self.options["-D"])
        self.storage, self.work = storage, work
        self.counters: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.env = {**env, **dict(item.split("=", 1) for item in self.options["-cmdenv"]),
                    # A machine of a cluster has nothing of what is installed here.
                    "PATH": f"{path}:{os.defpath}", "LC_ALL": "C"}

    def run(self) -> None:
        """Run all tasks; the parts of the output are uploaded at the end."""
        outputs = [self._task(f"mapper-{number}", "-mapper", lines, uri, start)
                   for number, (lines, uri, start) in enumerate(self._splits())]
        kind = "map"
        if self.options["-reducer"]:
            kind = "reduce"
            outputs = [self._task(f"reducer-{number}", "-reducer", lines)
                       for number, lines in enumerate(shuffled(outputs))]
        output = self.options["-output"][0].rstrip("/")
        for number, lines in enumerate(outputs):
            self.storage.write(f"{output}/part-{number:05}", b"".join(self._written(line, kind) for line in lines))
        self.storage.write(f"{output}/_SUCCESS", b"")

    def _splits(self) -> Iterable[tuple[list[bytes], str, int]]:
        """Lines of each map task, with the file that they come from and where they start."""
        for uri in self.options["-input"]:
            content = self.storage.read(uri)
            # As Hadoop does: a line ends at LF, CR or CRLF, and a compressed file is not split.
            lines = (gzip.decompress(content) if uri.endswith(".gz") else content).splitlines(True)
            step = len(lines) if uri.endswith(".gz") else -(-len(lines) // NUM_MAPPERS)
            for first in range(0, len(lines), max(step, 1)):
                split = [line.rstrip(b"\r\n") for line in lines[first : first + step]]
                # A split holds the lines that begin behind its first byte, but for the first.
                yield split, uri, max(sum(map(len, lines[:first])) - 1, 0)

    def _task(self, name: str, option: str, lines: Iterable[bytes], uri: str = "", start: int = 0) -> list[bytes]:
        """The lines that a task writes, in a folder of its own that has the step's files."""
        folder = self.work / name
        folder.mkdir(parents=True)
        for item in ",".join(self.options["-files"]).split(","):
            file_uri, _, file_name = item.partition("#")
            (folder / file_name).write_bytes(self.storage.read(file_uri))
        env = {**self.env, "mapreduce_map_input_file": uri, "mapreduce_map_input_start": str(start)}
        done = subprocess.run(shlex.split(self.options[option][0]), input=b"".join(line + b"\n" for line in lines),
                              capture_output=True, cwd=folder, env=env)
        if done.returncode:
            raise TaskFailed(name, done.returncode, done.stderr)
        for group, counter, amount in REPORTED.findall(done.stderr):
            self.counters[group.decode()][counter.decode()] += int(amount)
        self.counters["Job Counters "][f"Launched {KINDS[option]} tasks"] += 1
        return done.stdout.splitlines()

    def told_counters(self) -> str:
        """What Hadoop writes of all counters at the end."""
        lines = [line for group, counters in sorted(self.counters.items())
                 for line in (f"\t{group}", *(f"\t\t{name}={amount}" for name, amount in sorted(counters.items())))]
        return "\n".join([f"Counters: {sum(map(len, self.counters.values()))}", *lines])

    def _written(self, line: bytes, kind: str) -> bytes:
        """A line of output in a file: one without a tab is a key, behind which comes the separator."""
        is_key = self.properties.get(f"stream.{kind}.output") == "keyonlytext" or b"\t" in line
        return line + (b"\n" if is_key else b"\t\n")


def parse_options(args: Sequence[str]) -> dict[str, list[str]]:
    """Each option with its values.

    >>> parse_options(["-D", "a=1", "-D", "b=2"])["-D"]
    ['a=1', 'b=2']
    """
    options: defaultdict[str, list[str]] = defaultdict(list)
    for name, value in zip(args[::2], args[1::2]):
        options[name].append(value)
    return options


def shuffled(outputs: Iterable[Iterable[bytes]]) -> list[list[bytes]]:
    """What each reducer gets: the lines of its share of the keys, sorted by key alone."""
    shares: list[list[bytes]] = [[] for _ in range(NUM_REDUCERS)]
    for output in outputs:
        for line in output:
            shares[crc32(line.partition(b"\t")[0]) % NUM_REDUCERS].append(line)
    for share in shares:
        share.sort(key=lambda line: line.partition(b"\t")[0])
    return shares


def _bucket_and_key(uri: str) -> tuple[str, str]:
    bucket, _, key = uri.partition("://")[2].partition("/")
    return bucket, key
