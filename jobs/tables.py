"""Before the first job, driver side: rows of CSV and Parquet files become JSON Lines."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TextIO

from jobs.errors import InputError, MissingExtra
from lsh_core.settings import Settings

# Far above any document that a job accepts, so that long texts are rejected there and not here; what
# is longer still comes from a quote that is never closed.
MIN_FIELD_LIMIT_CHARS = 2**27
MAX_FIELD_LIMIT_CHARS = 2**31 - 1

BATCH_ROWS = 256

# Lone surrogates that decoding with surrogateescape never gives. csv refuses NUL before Python 3.11.
NUL_STAND_IN = "\ud800"
END_OF_ROWS = "\ud801"


def csv_lines(path: str, name: str, settings: Settings) -> Iterator[bytes]:
    """Each row under the header as a JSON line; fields beyond the header are dropped.

    Bytes that are not UTF-8 come out as they went in, so that a job rejects that line alone.
    """
    limit = min(max(MIN_FIELD_LIMIT_CHARS, 2 * settings.max_document_bytes), MAX_FIELD_LIMIT_CHARS)
    with open(path, encoding="utf-8-sig", errors="surrogateescape", newline="") as stream, field_limit(limit):
        rows = _csv_rows(_bounded_lines(stream, limit), name)
        header = next(rows, [])
        check_columns(header, name, settings)
        for row in rows:
            yield json_line(dict(zip(header, row)))


def parquet_lines(path: str, name: str, settings: Settings) -> Iterator[bytes]:
    """Each row as a JSON line; an id or a text that is null is left out."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra("Parquet", "pyarrow") from None
    own_columns = {settings.id_field, settings.text_field}
    try:
        with pyarrow.parquet.ParquetFile(path) as table:
            columns = table.schema_arrow.names
            check_columns(columns, name, settings)
            for batch in table.iter_batches(BATCH_ROWS):
                values = [_python_values(batch.column(i), column in own_columns)
                          for i, column in enumerate(columns)]
                for row in zip(*values):
                    yield json_line({column: value for column, value in zip(columns, row)
                                     if value is not None or column not in own_columns})
    except (pyarrow.ArrowException, ValueError) as error:
        raise InputError(f"cannot read {name}: {error}") from error


def check_columns(columns: Sequence[str], name: str, settings: Settings) -> None:
    """Refuse a table without the id or text column, or whose column names are unclear."""
    shown = ", ".join(map(repr, columns)) or "none"
    if any("\ud800" <= char <= "\udfff" for char in "".join(columns)):
        raise InputError(f"{name}: column names must be UTF-8 without NUL, found {shown}")
    for wanted in (settings.id_field, settings.text_field):
        if wanted is not None and wanted not in columns:
            raise InputError(f"{name} has no column {wanted!r}; its columns are {shown}")
    repeated = sorted({column for column in columns if column and columns.count(column) > 1})
    if repeated:
        raise InputError(f"{name} has several columns {repeated[0]!r}; names must differ")


def json_line(row: dict[str, Any]) -> bytes:
    """One row as a line of JSON; what JSON cannot hold becomes a string.

    >>> json_line({"id": 7, "score": float("nan")})
    b'{"id": 7, "score": "nan"}\\n'
    """
    try:
        text = json.dumps(row, ensure_ascii=False, allow_nan=False, default=_as_text)
    except ValueError:
        text = json.dumps(_spell_out(row), ensure_ascii=False, default=_as_text)
    return (text.replace(NUL_STAND_IN, "\\u0000") + "\n").encode("utf-8", "surrogateescape")


@contextmanager
def field_limit(num_chars: int) -> Iterator[None]:
    """Let ``csv`` read long fields for a while: its limit is global to the process."""
    previous = csv.field_size_limit(num_chars)
    try:
        yield
    finally:
        csv.field_size_limit(previous)


def _bounded_lines(stream: TextIO, max_chars: int) -> Iterator[str]:
    while line := stream.readline(max_chars):
        if len(line) == max_chars and line[-1] not in "\r\n":
            raise csv.Error(f"line longer than {max_chars} characters")
        yield line.replace("\0", NUL_STAND_IN)
    yield END_OF_ROWS


def _csv_rows(lines: Iterator[str], name: str) -> Iterator[list[str]]:
    """Header and rows that are not blank; an end that lies inside quotes is an error, not a row."""
    num_rows = 0
    try:
        for row in csv.reader(lines):
            if row == [END_OF_ROWS]:
                return
            if row and row[-1].endswith(END_OF_ROWS):
                raise csv.Error("a quote is opened and never closed")
            if row:
                yield row
                num_rows += 1
    except csv.Error as error:
        place = f"row {num_rows}" if num_rows else "header"
        raise InputError(f"{name}, {place}: {error}") from error


def _python_values(column: Any, is_own: bool) -> list[Any]:
    """An Arrow column as Python values; strings go by way of bytes, as Arrow does not check them."""
    import pyarrow
    from pyarrow import types

    if types.is_dictionary(column.type):
        column = column.dictionary_decode()
    is_text = types.is_string(column.type) or types.is_large_string(column.type)
    if is_text:
        column = column.cast(pyarrow.large_binary())
    elif types.is_temporal(column.type) or types.is_decimal(column.type):
        column = column.cast(pyarrow.string())
    # Only a document's own columns may spoil its line; binary columns beside them seldom are UTF-8.
    errors = "surrogateescape" if is_text or is_own else "backslashreplace"
    return [value.decode("utf-8", errors) if isinstance(value, bytes) else value
            for value in column.to_pylist()]


def _as_text(value: Any) -> str:
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)


def _spell_out(value: Any) -> Any:
    """A copy with every NaN and infinity, at any depth, as a string."""
    if isinstance(value, dict):
        return {key: _spell_out(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_spell_out(inner) for inner in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


LinesOfTable = Callable[[str, str, Settings], Iterator[bytes]]
TABLES: dict[str, LinesOfTable] = {".csv": csv_lines, ".parquet": parquet_lines}
