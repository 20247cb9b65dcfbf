"""Everything that decides the answer, in one frozen dataclass, checked once."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Optional

from lsh_core.errors import SettingsError
from lsh_core.tuning import choose_bands, s_curve

CHOICES: dict[str, tuple[Any, ...]] = {
    "format": ("jsonl", "tsv", "text", "shingled"),
    "shingle_bits": (64, 32),
    "minhash": ("sketch", "linear", "whole-text"),
    "unicode_form": ("NFC", "NFKC", "none"),
    "case": ("keep", "fold"),
    "punctuation": ("keep", "drop"),
    "white_space": ("collapse", "keep"),
}

MAX_FUNCTIONS = 2**16
WHOLE_TEXT_BANDING = (1, 2)
"""The two halves of a text's digest."""

MAX_SHINGLE_SIZE = 2**16


def _setting(default: Any, help_text: str) -> Any:
    """A field that carries the one line by which every command line explains it."""
    return dataclasses.field(default=default, metadata={"help": help_text})


@dataclass(frozen=True)
class Settings:
    """What to read, how to shingle it, and how similar is similar.

    >>> Settings(threshold=0.8, recall=0.95).banding
    (17, 8)
    >>> Settings(shingle="word:3").shingle_size
    3
    """

    threshold: float = _setting(0.8, "least similarity of a reported pair, above 0 and at most 1")
    recall: float = _setting(0.95, "least share of the pairs at the threshold to find; chooses bands and rows")
    bands: Optional[int] = _setting(None, "number of bands, with --rows instead of --recall")
    rows: Optional[int] = _setting(None, "rows of a band, with --bands")
    max_functions: int = _setting(160, "most minhash functions that --recall may choose")
    num_buckets: Optional[int] = _setting(None, "buckets of a band (default: 64-bit buckets)")
    shingle: str = _setting("char:9", "what documents are compared by: char:K or word:K")
    shingle_bits: int = _setting(64, "bits of a shingle's hash")
    minhash: str = _setting("sketch", "minhash functions: one-pass sketch, (a x + b) mod p, or whole texts, if equal")
    seed: int = _setting(1, "seed of the minhash functions")
    format: str = _setting("jsonl", "lines are: JSON; id TAB text; id SPACE text; id and integers")
    id_field: Optional[str] = _setting("id", "JSON field or column of the id")
    text_field: str = _setting("text", "JSON field or column of the text")
    unicode_form: str = _setting("NFC", "Unicode form that texts are brought to")
    case: str = _setting("keep", "keep capital letters, or fold case")
    punctuation: str = _setting("keep", "keep punctuation and symbols, or make them spaces")
    white_space: str = _setting("collapse", "collapse runs of white space, or keep each as one space")
    stop_words: tuple[str, ...] = _setting((), "words to leave out")
    max_document_bytes: int = _setting(16 * 2**20, "longer lines are rejected")
    max_bucket_docs: int = _setting(4000, "distinct texts of a bundle; more are split (without a gate: the job stops)")

    def __post_init__(self) -> None:
        self._check_types()
        object.__setattr__(self, "stop_words", tuple(self.stop_words))
        self._check_ranges()
        _ = self.banding

    @property
    def shingle_kind(self) -> str:
        """``char``, ``word``, or ``given`` where the input is already shingled."""
        return "given" if self.format == "shingled" else self.shingle.partition(":")[0]

    @property
    def shingle_size(self) -> int:
        """k: characters or words of a shingle."""
        return int(self.shingle.partition(":")[2])

    @property
    def banding(self) -> tuple[int, int]:
        """(bands, rows): as given, or chosen for the promised recall."""
        if self.minhash == "whole-text":
            return WHOLE_TEXT_BANDING
        if self.bands is not None and self.rows is not None:
            return self.bands, self.rows
        return choose_bands(self.threshold, self.recall, self.max_functions)

    @property
    def recall_promised(self) -> float:
        """The least share of pairs at the threshold that become candidates."""
        return float(s_curve(self.threshold, *self.banding))

    def replace(self, **changes: Any) -> Settings:
        """A copy with other values; a new recall undoes given bands and rows, and the reverse."""
        if "recall" in changes and not {"bands", "rows"} & set(changes):
            changes.update(bands=None, rows=None)
        return dataclasses.replace(self, **changes)

    def only_equal_texts(self) -> Settings:
        """The same settings, but that nothing but equal texts is found."""
        return self.replace(minhash="whole-text", threshold=1.0, bands=None, rows=None)

    def to_json(self) -> dict[str, Any]:
        """The settings as plain JSON values, for ``run.json``."""
        return dataclasses.asdict(self) | {"stop_words": list(self.stop_words)}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Settings:
        """The inverse of ``to_json``; unknown names are refused.

        >>> Settings.from_json(Settings(seed=7).to_json()) == Settings(seed=7)
        True
        """
        unknown = sorted(set(values) - {field.name for field in dataclasses.fields(cls)})
        if unknown:
            raise SettingsError(f"unknown setting {', '.join(unknown)}")
        return cls(**values)

    def _check_types(self) -> None:
        for field in dataclasses.fields(self):
            value, kind = getattr(self, field.name), str(field.type)
            if value is None and kind.startswith("Optional"):
                continue
            allowed: dict[str, tuple[type, ...]] = {"float": (float, int), "int": (int,), "str": (str,)}
            types = allowed.get(kind.replace("Optional[", "").rstrip("]"))
            if types and (isinstance(value, bool) or not isinstance(value, types)):
                raise SettingsError(f"{field.name} is {value!r}; it must be {kind}")
        words: Any = self.stop_words
        is_list = isinstance(words, Collection) and not isinstance(words, (str, bytes))
        if not (is_list and all(isinstance(word, str) for word in words)):
            raise SettingsError(f"stop_words is {words!r}; it must be a list of words")

    def _check_ranges(self) -> None:
        for name, allowed in CHOICES.items():
            if getattr(self, name) not in allowed:
                choices = ", ".join(map(str, allowed))
                raise SettingsError(f"{name} is {getattr(self, name)!r}; it must be one of {choices}")
        if not 0 < self.threshold <= 1:
            raise SettingsError(f"threshold is {self.threshold}; it must be above 0 and at most 1")
        if not 0 < self.recall < 1:
            raise SettingsError(f"recall is {self.recall}; it must be above 0 and below 1")
        if (self.bands is None) != (self.rows is None):
            raise SettingsError("bands and rows go together: give both, or neither and a recall")
        for name in ("bands", "rows", "max_functions", "num_buckets", "max_document_bytes"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise SettingsError(f"{name} is {value}; it must be 1 or more")
        if self.minhash == "whole-text" and (self.threshold < 1 or self.bands is not None):
            raise SettingsError("minhash whole-text finds equal texts only: the threshold must be 1, without bands")
        if self.max_bucket_docs < 2:
            raise SettingsError(f"max_bucket_docs is {self.max_bucket_docs}; it must be 2 or more")
        if self.num_buckets is not None and self.num_buckets >= 2**64:
            raise SettingsError(f"num_buckets is {self.num_buckets}; it must be below 2^64")
        if not 0 <= self.seed < 2**64:
            raise SettingsError(f"seed is {self.seed}; it must be from 0 to 2^64 - 1")
        if self.format == "jsonl" and self.id_field == self.text_field:
            raise SettingsError(f"id_field and text_field are both {self.text_field!r}; they must differ")
        kind, _, size = self.shingle.partition(":")
        is_number = size.isascii() and size.isdigit() and len(size) <= len(str(MAX_SHINGLE_SIZE))
        if kind not in ("char", "word") or not is_number or not 1 <= int(size) <= MAX_SHINGLE_SIZE:
            raise SettingsError(
                f"shingle is {self.shingle!r}; it must be char:K or word:K with K from 1 to {MAX_SHINGLE_SIZE}"
            )
        num_functions = self.bands * self.rows if self.bands and self.rows else self.max_functions
        if num_functions > MAX_FUNCTIONS:
            raise SettingsError(f"{num_functions} minhash functions are asked for; at most {MAX_FUNCTIONS} are allowed")
