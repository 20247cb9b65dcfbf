"""The script that Spark's driver runs: mrjob's harness, with lines as the bytes that they are.

Spark's ``textFile`` makes Java strings of lines, and U+FFFD of what is not UTF-8: a line that has to be
rejected would become a document. Spark SQL's reader ends lines at the same places and keeps their bytes.

Spark is imported only where it is used: on most machines that have this file it is not installed.
"""

from __future__ import annotations

from typing import Any

from jobs.lean_mrjob import stand_ins


def read_lines(context: Any, paths: str, **_: Any) -> Any:
    """Stands in for ``SparkContext.textFile``: the lines of some files, whose paths are joined by commas."""
    from pyspark.sql import SparkSession
    from pyspark.sql.functions import col

    table = SparkSession(context).read.text(paths.split(","))
    return table.select(col("value").cast("binary")).rdd.map(lambda row: bytes(row[0]))


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
