"""Property tests here assert no time: a busy machine is no failure. Nor is it one to run in the background."""

from __future__ import annotations

import signal

from hypothesis import settings

import jobs.lean_mrjob  # noqa: F401  before numpy, as in the program

settings.register_profile("lookalike", deadline=None)
settings.load_profile("lookalike")

# A shell may have told what it runs in the background to ignore interrupts, and all that is started here would too.
signal.signal(signal.SIGINT, signal.default_int_handler)
