"""Signatures become band keys: documents that agree on all rows of a band share its bucket."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lsh_core.hashing import Hashes, mix64, splitmix64
from lsh_core.minhash import Signatures, signature, signatures
from lsh_core.settings import Settings


def document_keys(text: str, settings: Settings) -> Hashes:
    """The band keys (bands,) of one raw text.

    >>> document_keys("one text", Settings()).shape
    (17,)
    """
    keys: Hashes = band_keys(signature(text, settings)[np.newaxis], settings)[0]
    return keys


def keys_of_texts(texts: Sequence[bytes], settings: Settings) -> Hashes:
    """The band keys (n, bands) of normalized texts."""
    return band_keys(signatures(texts, settings), settings)


def band_keys(columns: Signatures, settings: Settings) -> Hashes:
    """Signatures (n, bands * rows) to band keys (n, bands): the bucket with the band mixed in.

    A bucket is ``sum(a_i s_i)`` over the band's rows, hashed; with ``num_buckets`` it is taken
    modulo that number.
    """
    bands, rows = settings.banding
    coefficients = splitmix64(settings.seed + 1 & (1 << 64) - 1, rows + bands)
    weights, band_salts = coefficients[:rows] | np.uint64(1), coefficients[rows:]
    rows_of_bands = columns.reshape(len(columns), bands, rows).astype(np.uint64)
    buckets = mix64(rows_of_bands @ weights)
    if settings.num_buckets is not None:
        buckets %= np.uint64(settings.num_buckets)
    return mix64(buckets + band_salts)
