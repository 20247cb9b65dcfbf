"""Imported before anything else by every job: what its Python lacks is said in one line, where a task would just fail.

An older Python than we need has to get as far as this: nothing here is newer than 3.6, nor is syntax of jobs' files.
"""

import os
import re
import socket
import sys
from importlib.util import find_spec
from typing import Optional

OLDEST_PYTHON = (3, 9)
OLDEST_NUMPY = (1, 25)
EXAMPLE = "conf/hadoop.conf"
"""Every message names it: so they are known among other lines of a log."""


def installed_numpy() -> "Optional[tuple[int, ...]]":
    """The version of numpy, by the name of what pip and others put beside it; empty without that, None without numpy.

    It must not be imported yet, and importlib.metadata is slow.
    """
    spec = find_spec("numpy")
    if spec is None:
        return None
    folders = [os.path.dirname(os.path.abspath(folder)) for folder in spec.submodule_search_locations or ()]
    found = [re.match(r"numpy-(\d+)\.(\d+)", name) for folder in folders for name in os.listdir(folder)]
    return max((tuple(map(int, match.groups())) for match in found if match), default=())


def what_is_missing(version: "tuple[int, int]", numpy: "Optional[tuple[int, ...]]") -> Optional[str]:
    """Why a job cannot run with a Python, and what to do; None if it can."""
    here = f"{sys.executable} on {socket.gethostname()}"
    if version < OLDEST_PYTHON:
        return (f"{here} is Python {version[0]}.{version[1]}: name one of {OLDEST_PYTHON[0]}.{OLDEST_PYTHON[1]} or "
                f"later in the configuration, as {EXAMPLE} does")
    if numpy is None or () < numpy < OLDEST_NUMPY:
        found = "not installed" if numpy is None else "{}.{}".format(*numpy)
        return (f"numpy is {found} for {here}: install {OLDEST_NUMPY[0]}.{OLDEST_NUMPY[1]} or later there, or bring an "
                f"environment along ({EXAMPLE} shows how)")
    return None


MISSING = what_is_missing(sys.version_info[:2], installed_numpy())
if MISSING:
    sys.exit(MISSING)
