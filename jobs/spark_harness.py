"""The script that Spark's driver runs: mrjob's harness, with lines as the bytes that they are.

Spark's ``textFile`` makes Java strings of lines, and U+FFFD of what is not UTF-8: a line that has to be
rejected would become a document. Spark SQL's reader ends lines at the same places and keeps their bytes.
It also knows the file of a line, which mappers are told as Hadoop does.

Spark is imported only where it is used: on most machines that have this file it is not installed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import chain
from typing import Any
from urllib.parse import unquote

from jobs.lean_mrjob import stand_ins

ROW_NUMBER_BITS = 33
"""Of Spark's ``monotonically_increasing_id`` these are the number of the row in its partition."""


def read_lines(context: Any, paths: str, **_: Any) -> Any:
    """Stands in for ``SparkContext.textFile``: the lines of some files, whose paths are joined by commas."""
    from pyspark.sql import SparkSession
    from pyspark.sql import functions as sql

    session = SparkSession(context)
    table = session.read.text(paths.split(","))
    keep_files_apart(session, table)
    is_first = sql.monotonically_increasing_id() % 2**ROW_NUMBER_BITS == 0
    file = sql.when(is_first, sql.input_file_name())
    start = sql.when(is_first, sql.input_file_block_start())
    return table.select(sql.col("value").cast("binary"), file, start).rdd.mapPartitions(told_lines)


def keep_files_apart(session: Any, table: Any) -> None:
    """Let no partition hold pieces of two files; pieces are as large as Spark would make them."""
    conf = session._jsparkSession.sessionState().conf()
    num_bytes = int(str(table._jdf.queryExecution().optimizedPlan().stats().sizeInBytes()))
    bytes_of_core = num_bytes // session.sparkContext.defaultParallelism
    piece_bytes = min(conf.filesMaxPartitionBytes(), max(conf.filesOpenCostInBytes(), bytes_of_core))
    session.conf.set("spark.sql.files.maxPartitionBytes", piece_bytes)
    # A piece joins others only while their bytes, and this much for each of them, are not more than that.
    session.conf.set("spark.sql.files.openCostInBytes", piece_bytes + 1)


def told_lines(rows: Iterator[Any]) -> Iterator[bytes]:
    """The lines of a partition, whose file the first row names; it is told before the mapper is made."""
    first = next(rows, None)
    if first is None:
        return iter(())
    _, file, start = first
    # Spark has it as URIs have it, other engines as it is.
    os.environ.update(mapreduce_map_input_file=unquote(file), mapreduce_map_input_start=str(start))
    return (bytes(row[0]) for row in chain([first], rows))


def main() -> None:
    """Run a job, and stop Spark before this process ends: else executors that end are started again."""
    from pyspark import SparkContext
    from pyspark.cloudpickle import register_pickle_by_value

    with stand_ins():
        from mrjob.spark import harness

    # Tasks cannot import mrjob on every Python before the job's own modules made room for it.
    register_pickle_by_value(harness)
    SparkContext.textFile = read_lines
    try:
        harness.main()
    finally:
        if SparkContext._active_spark_context is not None:
            SparkContext._active_spark_context.stop()


if __name__ == "__main__":
    main()
