"""The MapReduce jobs, the pipeline that chains them, the command line, and its commands as functions.

>>> from jobs import dedup, find_pairs
"""

__version__ = "0.1.0"


def __getattr__(name):  # type: ignore[no-untyped-def]
    # Tasks import this package too, and need none of what these do.
    if name in ("dedup", "find_pairs"):
        from jobs import api

        return getattr(api, name)
    raise AttributeError(f"module 'jobs' has no attribute {name!r}")
