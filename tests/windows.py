"""Windows cut from strings, and the hashes that blocks hold of them."""

from __future__ import annotations

from collections.abc import Iterable

from lsh_core.shingling import ShingleBlock


def windows(text: str, shingle: str) -> list[str]:
    """The shingles of a text as strings, repeats and all."""
    kind, k = shingle.split(":")
    units = list(text) if kind == "char" else text.split()
    joint = "" if kind == "char" else " "
    return [joint.join(units[i : i + int(k)]) for i in range(max(1, len(units) - int(k) + 1))] if text else []


def hashes_of_rows(blocks: Iterable[ShingleBlock], batch: list[str], shingle: str) -> list[list[int]]:
    """The hashes of the windows of each text of a batch, in their order.

    Of those that are more, fewer than a window has units, each is once more the last.
    """
    rows: list[list[int]] = [[] for _ in batch]
    for block in blocks:
        assert len(block.hashes) == block.counts.sum()
        start = 0
        for row, count in zip(block.rows.tolist(), block.counts.tolist()):
            rows[row] += block.hashes[start : start + count].tolist()
            start += count
    for number, text in enumerate(batch):
        num_windows = len(windows(text, shingle))
        rows[number], added = rows[number][:num_windows], rows[number][num_windows:]
        assert len(rows[number]) == num_windows
        assert len(added) < int(shingle.split(":")[1]) and set(added) <= set(rows[number][-1:])
    return rows
