"""Property tests here assert no time: a busy machine is no failure."""

from __future__ import annotations

from hypothesis import settings

import jobs.lean_mrjob  # noqa: F401  before numpy, as in the program

settings.register_profile("lookalike", deadline=None)
settings.load_profile("lookalike")
