"""What every job shares: options that become settings, pinned protocols, batches of lines, counts."""

from __future__ import annotations

import dataclasses
import errno
import json
import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, BinaryIO, ClassVar, Optional
from unicodedata import unidata_version

from jobs.input_split import InputSplit, input_split, reads_one_of
from jobs.lean_mrjob import BytesProtocol, BytesValueProtocol, MRJob
from jobs.records import STATS_KEY, encode_counts
from jobs.sides import AGAINST, OWN
from lsh_core.document import BOM, DocumentBatch, read_documents
from lsh_core.errors import LookalikeError, SettingsError
from lsh_core.hashing import HALF, Hashes, digests64
from lsh_core.settings import CHOICES, Settings
from lsh_core.stop_words import ENGLISH_STOP_WORDS

BATCH_BYTES = 1 << 20
BATCH_LINES = 10_000

COUNTER_GROUP = "lookalike"
UNICODE_VERSION = f"unicode {unidata_version}"
"""Normalization depends on it: the counter of lines that were read with this Python's tables."""

Record = tuple[Optional[bytes], bytes]


def settings_from(values: Mapping[str, Any], settings_json: Optional[Mapping[str, Any]] = None) -> Settings:
    """Settings from a JSON object (a former ``run.json`` included), overruled by values that are not None."""
    base = Settings()
    if settings_json is not None:
        found = settings_json.get("settings", settings_json) if isinstance(settings_json, Mapping) else settings_json
        if not isinstance(found, Mapping):
            raise SettingsError(f"a settings file must hold a JSON object, found {type(found).__name__}")
        base = Settings.from_json(found)
    return base.replace(**{name: value for name, value in values.items() if value is not None})


class BatchFailed(Exception):
    """An error that is a defect of the program or of the machine, with the lines that were in work."""

    def __init__(self, split: InputSplit, lines_before: int, num_lines: int, error: Exception) -> None:
        super().__init__(f"while reading {split.file or 'input'} (split from byte {split.start}, lines "
                         f"{lines_before + 1} to {lines_before + num_lines} of it): {type(error).__name__}: {error}")


class LookalikeJob(MRJob):
    """A job that reads documents under the settings of its command line."""

    INPUT_PROTOCOL = BytesValueProtocol
    INTERNAL_PROTOCOL = BytesProtocol
    OUTPUT_PROTOCOL = BytesValueProtocol
    # Else Hadoop writes a tab, and no value, behind each line of output.
    JOBCONF: ClassVar[dict[str, str]] = {"stream.reduce.output": "keyonlytext"}

    def jobconf(self) -> dict[str, str]:
        """With a limit of what streaming puts into a task's environment, of which no task could start with many inputs.

        Linux takes 128 KiB of each variable; a character may have four bytes.
        """
        return {"stream.jobconf.truncate.limit": "20000", **super().jobconf()}

    def run_job(self) -> None:
        """As mrjob's; what is the user's to mend is one line, but with ``-v``."""
        try:
            super().run_job()
        except (LookalikeError, OSError, ModuleNotFoundError) as error:
            # mrjob's own have no number.
            if self.options.verbose or getattr(error, "errno", None) not in (None, errno.ENOENT):
                raise
            sys.exit(f"{os.path.basename(sys.argv[0])}: {error}")

    def configure_args(self) -> None:
        super().configure_args()
        self.add_file_arg("--settings", help="JSON file of settings, or a former run.json; options win over it")
        self.add_passthru_arg("--counts", action="store_true", help="add lines of counts to the output")
        self.add_file_arg("--against", help="JSON list of those inputs that the others are held against; "
                                            "lookalike makes it, and takes off the marks that ids get by it")
        self.add_passthru_arg("--only-across", action="store_true", help="with --against: no pairs inside a corpus")
        self.add_passthru_arg("--no-id", action="store_true", help="lines have no id: it is made from the text")
        self.add_passthru_arg("--stop-words", choices=("none", "english"), help="words to leave out")
        for field in dataclasses.fields(Settings):
            if field.name != "stop_words":
                self.add_passthru_arg(
                    "--" + field.name.replace("_", "-"), help=field.metadata["help"],
                    type=option_type(str(field.type)), choices=CHOICES.get(field.name))

    def load_args(self, args: list[str]) -> None:
        super().load_args(args)
        self.counts: Counter[str] = Counter()
        try:
            self.settings = self._load_settings()
        except LookalikeError as error:
            self.arg_parser.error(str(error))

    def _load_settings(self) -> Settings:
        options = vars(self.options)
        values = {field.name: options[field.name] for field in dataclasses.fields(Settings)}
        stop_words = {"none": (), "english": ENGLISH_STOP_WORDS, None: None}
        values["stop_words"] = stop_words[self.options.stop_words]
        settings_json = None
        if self.options.settings:
            try:
                with open(self.options.settings, encoding="utf-8") as file:
                    settings_json = json.load(file)
            except (OSError, ValueError) as error:
                raise SettingsError(f"{self.options.settings}: {error}") from error
        settings = settings_from(values, settings_json)
        return dataclasses.replace(settings, id_field=None) if self.options.no_id else settings

    def count(self, counts: Mapping[str, int]) -> None:
        """Add to this task's counts: lines of output with ``--counts``, and the engine's counters."""
        self.counts.update(counts)

    def told_counts(self) -> Iterator[bytes]:
        """The counts of this task so far, told to the engine and as a line; then they start again."""
        counts, self.counts = self.counts, Counter()
        for name, number in sorted(counts.items()):
            if number:
                self.increment_counter(COUNTER_GROUP, name, number)
        if self.options.counts and counts:
            yield encode_counts(counts)

    def digest_lines(self, lines: list[bytes]) -> Hashes:
        """A digest of each line; their sum tells one input from another, whatever the order of its lines."""
        digests = digests64(lines)
        self.count_lines(digests)
        return digests

    def count_lines(self, digests: Hashes) -> None:
        """Count lines by their digests."""
        self.count_side({"lines": len(digests), "input_sum": int((digests >> HALF).sum())})

    def read_batch(self, lines: list[bytes]) -> DocumentBatch:
        """Documents of a batch of lines, with the rejected ones counted by reason."""
        batch = read_documents(lines, self.settings)
        self.count({UNICODE_VERSION: len(lines)})
        self.count_side({"rejected": len(batch.rejected)})
        self.count_side(Counter("rejected: " + error.reason for _, error in batch.rejected))
        if not self.options.against:
            return batch
        mark = AGAINST if self.is_against else OWN
        return batch._replace(doc_ids=[mark + doc_id for doc_id in batch.doc_ids])

    @cached_property
    def is_against(self) -> bool:
        """Whether what this mapper reads is of the corpus that the other is held against."""
        return self.reads_listed(self.options.against)

    def reads_listed(self, path: Optional[str]) -> bool:
        """Whether this mapper reads a file of a JSON list, if there is a list."""
        if not path:
            return False
        with open(path, encoding="utf-8") as file:
            return reads_one_of(json.load(file))

    def count_side(self, counts: Mapping[str, int]) -> None:
        """Count what is told of each corpus by itself."""
        self.count({against_name(name): number for name, number in counts.items()} if self.is_against else counts)


def against_name(counter: str) -> str:
    """The counter of the same thing in the corpus that the other is held against."""
    return "against_" + counter


class BatchMapJob(LookalikeJob):
    """A job whose mapper sees a batch of lines at a time: give it ``map_batch``."""

    def run_mapper(self, step_num: int = 0) -> None:
        """As mrjob's, which would hand over line by line at a third of a mapper's time."""
        if self.options.args:
            super().run_mapper(step_num)
            return
        _, encode = self.pick_protocols(step_num, "mapper")
        self.mapper_init()
        for lines in line_batches(self.stdin):
            self.stdout.writelines(encode(*record) + b"\n" for record in self._map_placed(lines))
        self.stdout.writelines(encode(*record) + b"\n" for record in self.mapper_final())

    def mapper_init(self) -> None:
        self._lines: list[bytes] = []
        self._num_bytes = 0
        self.lines_before = 0
        """Lines of the split that stand before the batch in work."""

    def mapper(self, _: None, line: bytes) -> Iterator[Record]:
        self._lines.append(line)
        self._num_bytes += len(line)
        if self._num_bytes > BATCH_BYTES or len(self._lines) == BATCH_LINES:
            yield from self._flush()

    def mapper_final(self) -> Iterator[Record]:
        yield from self._flush()
        for counts in self.told_counts():
            yield STATS_KEY, counts

    def _flush(self) -> Iterator[Record]:
        lines, self._lines, self._num_bytes = self._lines, [], 0
        if lines:
            yield from self._map_placed(lines)

    def _map_placed(self, lines: list[bytes]) -> Iterator[Record]:
        """As ``map_batch``, but what nobody expected to go wrong says where it did."""
        if not (self.lines_before or input_split().start):
            # It marks the file, and is not the line's; Hadoop takes it off itself.
            lines[0] = lines[0].removeprefix(BOM)
        try:
            yield from self.map_batch(lines)
        except LookalikeError:
            raise
        except Exception as error:
            raise BatchFailed(input_split(), self.lines_before, len(lines), error) from error
        self.lines_before += len(lines)

    def map_batch(self, lines: list[bytes]) -> Iterable[Record]:
        raise NotImplementedError


def line_batches(file: BinaryIO) -> Iterator[list[bytes]]:
    """All lines, ended by LF, CR or CRLF, in batches of bounded size.

    >>> import io
    >>> list(line_batches(io.BytesIO(b"a\\r\\nb\\rc")))
    [[b'a', b'b', b'c']]
    """
    while block := file.read(BATCH_BYTES):
        block += file.readline()
        lines = block.splitlines()
        # A file whose lines end at CR is one block.
        step = max(1, min(BATCH_LINES, len(lines) * 2 * BATCH_BYTES // len(block)))
        for first in range(0, len(lines), step):
            yield lines[first : first + step]


def option_type(annotation: str) -> Any:
    """The type that parses an option of a setting, from its annotation."""
    return {"float": float, "int": int, "Optional[int]": int}.get(annotation, str)
