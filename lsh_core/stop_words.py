"""Words that may be left out before shingling, as they say little of what a text is about."""

from __future__ import annotations

_ENGLISH = """
    a about above after again against all also am an and any are aren't as at
    be because been before being below between both but by
    can can't cannot could couldn't
    did didn't do does doesn't doing don't down during
    each
    few for from further
    had hadn't has hasn't have haven't having he he'd he'll he's her here hers herself him himself his how
    i i'd i'll i'm i've if in into is isn't it it'll it's its itself
    just
    may me might more most must mustn't my myself
    no nor not now
    of off on once only or other our ours ourselves out over own
    same shall she she'd she'll she's should shouldn't since so some such
    than that that's the their theirs them themselves then there there's these they they'd they'll they're
    they've this those through to too
    under until up us
    very
    was wasn't we we'd we'll we're we've were weren't what what's when where which while who who's whom
    whose why will with won't would wouldn't
    you you'd you'll you're you've your yours yourself yourselves
"""

ENGLISH_STOP_WORDS: tuple[str, ...] = tuple(_ENGLISH.split())
