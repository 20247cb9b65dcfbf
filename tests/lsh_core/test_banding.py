"""Band keys: equal for equal rows of the same band, and for nothing else."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsh_core import Settings, band_keys, document_keys, signatures
from lsh_core.banding import keys_of_texts
from lsh_core.hashing import splitmix64
from tests import oracles
from tests.strategies import settings as any_settings
from tests.strategies import texts, uint64s

values = st.one_of(st.integers(0, 2), st.integers(0, 2**32 - 1), st.sampled_from([2**31, 2**32 - 1]))


@st.composite
def signature_tables(draw) -> tuple[list[list[int]], Settings]:
    """A few signatures that often agree in a band, and the settings of their bands."""
    bands, rows = draw(st.integers(1, 8)), draw(st.integers(1, 8))
    table = draw(st.lists(st.lists(values, min_size=bands * rows, max_size=bands * rows), min_size=1, max_size=6))
    return table, Settings(bands=bands, rows=rows, seed=draw(uint64s))


def keys_of(table: list[list[int]], settings: Settings) -> list[list[int]]:
    bands, rows = settings.banding
    keys = band_keys(np.array(table, np.uint32).reshape(len(table), bands * rows), settings)
    assert keys.dtype == np.uint64
    assert keys.shape == (len(table), bands)
    return keys.tolist()


@given(signature_tables())
def test_keys_are_equal_where_band_and_rows_are(table_and_settings):
    table, settings = table_and_settings
    _, rows = settings.banding
    content_of, key_of = {}, {}
    for signature, keys in zip(table, keys_of(table, settings)):
        for band, key in enumerate(keys):
            content = (band, tuple(signature[band * rows : (band + 1) * rows]))
            assert content_of.setdefault(key, content) == content
            assert key_of.setdefault(content, key) == key


@given(st.lists(values, min_size=1, max_size=8), st.integers(1, 40), st.one_of(st.none(), st.integers(1, 100)))
def test_the_same_rows_have_another_key_in_each_band(row_values, bands, num_buckets):
    settings = Settings(bands=bands, rows=len(row_values), num_buckets=num_buckets)
    [keys] = keys_of([row_values * bands], settings)
    assert len(set(keys)) == bands


@pytest.mark.parametrize(("bands", "rows"), [(1, 1), (1, 50), (50, 1), (3, 7), (17, 8), (60, 16), (256, 256)])
def test_any_number_of_bands_and_rows(bands, rows):
    settings = Settings(bands=bands, rows=rows)
    table = (splitmix64(1, 3 * bands * rows) >> np.uint64(32)).reshape(3, -1).tolist()
    keys = keys_of([*table, table[0]], settings)
    assert keys[0] == keys[3]
    assert len({key for row in keys[:3] for key in row}) == 3 * bands


def test_the_order_of_rows_matters():
    one, other = keys_of([[1, 2, 3], [3, 2, 1]], Settings(bands=1, rows=3))
    assert one != other


@pytest.mark.parametrize("num_buckets", [1, 2, 7, 64, 1000])
def test_num_buckets_bounds_the_keys_of_a_band(num_buckets):
    num_documents, bands, rows = 20_000, 3, 2
    settings = Settings(bands=bands, rows=rows, num_buckets=num_buckets)
    table = (splitmix64(9, num_documents * bands * rows) >> np.uint64(32)).astype(np.uint32)
    keys = band_keys(table.reshape(num_documents, -1), settings)
    for band in range(bands):
        buckets, counts = np.unique(keys[:, band], return_counts=True)
        # So many documents fill every bucket, none of them much fuller than the mean.
        assert len(buckets) == num_buckets
        mean = num_documents / num_buckets
        assert counts.max() < mean + 6 * mean**0.5


@pytest.mark.parametrize("num_buckets", [2**32, 2**63, 2**64 - 1])
def test_any_allowed_number_of_buckets(num_buckets):
    settings = Settings(bands=2, rows=2, num_buckets=num_buckets)
    assert keys_of([[1, 2, 3, 4], [1, 2, 0, 4]], settings)[0][0] == keys_of([[1, 2, 3, 4]], settings)[0][0]


def test_seeds_make_other_keys():
    one, other = (set(keys_of([[1] * 20], Settings(bands=20, rows=1, seed=seed))[0]) for seed in (1, 2))
    assert not one & other


def test_no_documents():
    assert keys_of([], Settings()) == []


@given(st.lists(texts, max_size=4), any_settings().filter(lambda settings: settings.shingle_kind != "given"))
def test_keys_of_one_text_are_those_of_a_batch(raw_texts, settings):
    normalized = [
        oracles.normalize(text, settings.unicode_form, settings.case, settings.punctuation, settings.white_space,
                          settings.stop_words).encode()
        for text in raw_texts
    ]
    keys = keys_of_texts(normalized, settings)
    assert np.array_equal(keys, band_keys(signatures(normalized, settings), settings))
    assert keys.tolist() == [document_keys(text, settings).tolist() for text in raw_texts]
