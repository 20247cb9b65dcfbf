"""How many reducers the gate needs, so that none of them needs too much memory."""

from __future__ import annotations

GATE_REDUCER_BYTES = 512 * 10**6
"""Memory for one reducer of the gate."""


def num_gate_shards(num_lines: int, num_bands: int) -> int:
    """The fewest shards of which each fits into a reducer's memory: shares of the bands, or ranges of their keys."""
    for num_shards in range(1, num_bands + 1):
        if num_lines * _bytes_of_row(-(-num_bands // num_shards)) <= GATE_REDUCER_BYTES:
            return num_shards
    return num_bands * -(-num_lines * _bytes_of_row(1) // GATE_REDUCER_BYTES)


def _bytes_of_row(num_keys: int) -> int:
    """What a document takes in a reducer that gets so many of its keys.

    Measured where a quarter of the documents have company; where all of them have, in every band, it is twice as much.
    """
    return 24 * (num_keys + 2) + 30
