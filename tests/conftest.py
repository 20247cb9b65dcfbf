"""Property tests here assert no time: a busy machine is no failure."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("lookalike", deadline=None)
settings.load_profile("lookalike")
