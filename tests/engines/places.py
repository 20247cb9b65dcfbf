"""Where engines keep files, and a corpus there: HDFS and S3, for tests that read and write at addresses."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from tests.engines.emr import EmulatedEmr
from tests.engines.engine import Engine
from tests.engines.hadoop import HadoopCluster
from tests.helpers import DATA, lookalike

BUCKET = "corpora"


class Corpus:
    """Files in a folder, some hidden, and what one process finds in the others."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "corpus"
        lines = (DATA / "articles.jsonl").read_bytes().splitlines(True)
        self.files = {
            "a.jsonl": b"".join(lines[:100]) + b"no document\n",
            "deep/er/b.jsonl.gz": gzip.compress(b"".join(lines[100:200])),
            "deep/with space.jsonl": b"".join(lines[200:]),
        }
        hidden = {"_SUCCESS": b"", "_logs/x.jsonl": b"hidden\n", "deep/.b.jsonl.crc": b"hidden\n"}
        for name, content in {**self.files, **hidden}.items():
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / name).write_bytes(content)
        done = lookalike("pairs", *(self.folder / name for name in self.files), "-r", "inline", "-q",
                         "--out", folder / "out")
        assert done.exit_code == 0, done.stderr
        self.pairs = (folder / "out" / "pairs.jsonl").read_bytes()
        self.rejected = [{**json.loads(line), "place": None}
                         for line in (folder / "out" / "rejected.jsonl").read_text().splitlines()]


class Place:
    """Files that an engine reaches, below an address."""

    root = ""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def put(self, folder: Path, uri: str) -> None:
        """Upload a folder as ``uri``."""
        raise NotImplementedError

    def names(self, uri: str) -> list[str]:
        """The files below an address, hidden ones too, relative to it; none if there is no such address."""
        raise NotImplementedError

    def read(self, uri: str) -> bytes:
        """The content of a file."""
        raise NotImplementedError


class Hdfs(Place):
    """Of a Hadoop, also for an engine beside it."""

    root = "hdfs:///tests"

    def __init__(self, engine: Engine, cluster: HadoopCluster) -> None:
        super().__init__(engine)
        self.cluster = cluster
        self.fs("-mkdir", "-p", self.root)

    def fs(self, *arguments: object) -> str:
        done = self.cluster.fs(*arguments)
        assert done.exit_code == 0, done.stderr
        return done.stdout

    def put(self, folder: Path, uri: str) -> None:
        self.fs("-put", folder, uri)

    def names(self, uri: str) -> list[str]:
        if self.cluster.fs("-test", "-e", uri).exit_code:
            return []
        listed = self.fs("-ls", "-R", "-C", uri).splitlines()
        folders = {line.rpartition("/")[0] for line in listed}
        return sorted(line[len(uri) + 1:] for line in listed if line not in folders)

    def read(self, uri: str) -> bytes:
        return self.fs("-cat", uri).encode()


class S3(Place):
    """Of the emulated EMR."""

    root = f"s3://{BUCKET}/tests"

    def __init__(self, engine: EmulatedEmr) -> None:
        super().__init__(engine)
        self.storage = engine.storage
        self.storage.client.create_bucket(Bucket=BUCKET)

    def put(self, folder: Path, uri: str) -> None:
        for path in folder.rglob("*"):
            if path.is_file():
                self.storage.write(f"{uri}/{path.relative_to(folder)}", path.read_bytes())

    def names(self, uri: str) -> list[str]:
        return [found[len(uri) + 1:] for found in self.storage.list(f"{uri}/")]

    def read(self, uri: str) -> bytes:
        return self.storage.read(uri)

    def clear(self) -> None:
        """Remove everything: the emulation keeps it as long as this process lives."""
        for uri in self.storage.list(f"s3://{BUCKET}/"):
            self.storage.remove(uri)
