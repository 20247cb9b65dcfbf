"""Imported before anything else by every job: what its Python lacks is said in one line, where a task would just fail.

An older Python than we need has to get as far as this: nothing here is newer than 3.6, nor is syntax of jobs' files.
"""

import socket
import sys
from importlib.util import find_spec
from typing import Optional

OLDEST_PYTHON = (3, 9)


def what_is_missing(version: "tuple[int, int]", has_numpy: bool) -> Optional[str]:
    """Why a job cannot run with a Python, and what to do; None if it can."""
    here = f"{sys.executable} on {socket.gethostname()}"
    if version < OLDEST_PYTHON:
        return (f"{here} is Python {version[0]}.{version[1]}: name one of {OLDEST_PYTHON[0]}.{OLDEST_PYTHON[1]} or "
                "later in the configuration, as conf/hadoop.conf does")
    if not has_numpy:
        return (f"numpy is not installed for {here}: install it there, or bring an environment along "
                "(conf/hadoop.conf shows how)")
    return None


MISSING = what_is_missing(sys.version_info[:2], find_spec("numpy") is not None)
if MISSING:
    sys.exit(MISSING)
