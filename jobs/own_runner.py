"""What the runners here do otherwise than mrjob's: a private folder, no lock, and options that can be what they are."""

from __future__ import annotations

import json
import os
import re
import shlex
from typing import Any

from jobs.errors import InputError
from jobs.lean_mrjob import stand_ins

with stand_ins():
    from mrjob.conf import (
        ClearedValue,
        combine_cmds,
        combine_dicts,
        combine_envs,
        combine_jobconfs,
        combine_path_lists,
        combine_paths,
    )
    from mrjob.options import _RUNNER_OPTS, _AppendArgsAction
    from mrjob.parse import is_s3_uri
    from mrjob.util import expand_path

OF_LOCK = re.compile(r"# (obtain|release) exclusive file lock\n")
"""The first line of what mrjob's wrapper of tasks does so that only one of them runs a user's commands at a time."""

TABLES = (combine_dicts, combine_envs, combine_jobconfs)
IN_S3 = ("cloud_tmp_dir", "cloud_log_dir")

COUNT = re.compile(r"mapre.*\.(maps|reduces|mb)")
"""Names of Hadoop's options that are numbers, of which it does not say when they are none."""

WHOLE_NUMBER = re.compile(r"\s*-?(0[xX][0-9a-fA-F]+|\d+)\s*|.*\$\{.*")
"""As Hadoop reads it, variables of its own included."""


def checked_option(name: str, value: Any, source: str) -> Any:
    """An option of mrjob, refused where it is not of its kind; engines want words in tables, and arguments in lists.

    >>> checked_option("cmdenv", {"A": 1, "B": True}, "my.conf")
    {'A': '1', 'B': 'true'}
    >>> checked_option("spark_args", "--queue mine", "my.conf")
    ['--queue', 'mine']
    """
    option = _RUNNER_OPTS[name]
    combiner = option.get("combiner")
    kinds = [switch.get(key) for _, switch in option.get("switches", ()) for key in ("type", "action")]

    def check(is_right: bool, wanted: str) -> None:
        if not is_right:
            raise InputError(f"{source}: {name} is {value!r}; it must be {wanted}")

    if value is None:
        return None
    if combiner in TABLES:
        check(isinstance(value, dict), "a table of names and values")
        # Only these hold more than words.
        return value if name == "extra_cluster_params" else {key: as_word(key, value[key], source) for key in value}
    if int in kinds or float in kinds:
        check(isinstance(value, (int, float)) and not isinstance(value, bool), "a number")
    elif "store_true" in kinds:
        check(isinstance(value, bool), "true or false")
    elif combiner is combine_paths:
        check(isinstance(value, str), "a path or an address")
        check(name not in IN_S3 or is_s3_uri(expand_path(value)), "an address such as s3://BUCKET/FOLDER/")
    elif combiner in (combine_cmds, combine_path_lists):
        what = "command, or a list of its words" if combiner is combine_cmds else "path, or a list of paths"
        check(isinstance(value, str) or is_list_of_words(value), f"a {what}")
    elif _AppendArgsAction in kinds:
        try:
            return shlex.split(value) if isinstance(value, str) else list(map(str, value))
        except (TypeError, ValueError):
            check(False, "a list of arguments")
    return value


def as_word(name: str, value: Any, source: str) -> Any:
    """A number or a truth of a table as engines write it, and the rest as it is; some have to be numbers."""
    if isinstance(value, ClearedValue):
        return ClearedValue(as_word(name, value.value, source))
    if COUNT.fullmatch(str(name)) and value is not None and not WHOLE_NUMBER.fullmatch(str(value)):
        raise InputError(f"{source}: {name} is {value!r}; it must be a whole number")
    return json.dumps(value) if isinstance(value, (bool, int, float)) else value


def is_list_of_words(value: Any) -> bool:
    """Whether a value is a list of strings."""
    return isinstance(value, (list, tuple)) and all(isinstance(item, str) for item in value)


class OwnRunner:
    """What all runners here share: a temporary folder that is its user's alone, and tasks that start without a lock.

    mrjob's lock takes another Python and leaves a file on every machine. Only commands of a user may need it: ours put
    the program on the path of their own task.
    """

    @property
    def withheld(self) -> frozenset[str]:
        """Variables of the environment that the engine does not get."""
        return frozenset()

    def _fix_opt(self, opt_key: str, opt_value: Any, source: str) -> Any:
        return super()._fix_opt(opt_key, checked_option(opt_key, opt_value, source), source)  # type: ignore[misc]

    def _get_local_tmp_dir(self: Any) -> str:
        is_new = not self._local_tmp_dir
        folder: str = super()._get_local_tmp_dir()  # type: ignore[misc]
        if is_new:
            os.chmod(folder, 0o700)
        return folder

    def _setup_cmd_content(self: Any, setup: Any) -> list[str]:
        lines: list[str] = super()._setup_cmd_content(setup)  # type: ignore[misc]
        if self._opts["setup"]:
            return lines
        paragraphs = "\n".join(lines).split("\n\n")
        return "\n\n".join(part for part in paragraphs if not OF_LOCK.match(part)).split("\n")
