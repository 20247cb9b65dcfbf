"""Blocks of shingles: wherever texts are cut the shingles are the same, and memory stays small."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lsh_core import Settings, ShingleBlock, shingle_blocks, shingle_set, shingle_sets, signatures
from tests import oracles
from tests.strategies import corpora, shingle_choices
from tests.windows import hashes_of_rows

MEGABYTE = 2**20

encoded_corpora = corpora.map(lambda corpus: [oracles.normalize(text).encode() for text in corpus])


def blocks_of_at_most(num_units: int, batch: list[bytes], settings: Settings) -> list[ShingleBlock]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lsh_core.shingling.BLOCK_UNITS", num_units)
        return list(shingle_blocks(batch, settings))


# Cuts


@given(encoded_corpora, shingle_choices, st.integers(1, 30))
@example([b"abcdefghij", b"", b"a", "猫".encode() * 20], "char:3", 4)
def test_small_blocks_hold_the_same_shingles(batch, shingle, num_units):
    settings = Settings(shingle=shingle)
    whole, cut = list(shingle_blocks(batch, settings)), blocks_of_at_most(num_units, batch, settings)
    texts = [text.decode() for text in batch]
    assert hashes_of_rows(cut, texts, shingle) == hashes_of_rows(whole, texts, shingle)


@given(encoded_corpora, shingle_choices, st.integers(1, 30))
def test_no_block_is_larger_than_the_limit_or_a_window(batch, shingle, num_units):
    settings = Settings(shingle=shingle)
    for block in blocks_of_at_most(num_units, batch, settings):
        assert 1 <= len(block.hashes) <= max(num_units, settings.shingle_size)
        assert (block.counts > 0).all()


@pytest.mark.parametrize("text", [b"0123456789" * 3, "零一二三四五六七八九".encode() * 3])
@pytest.mark.parametrize("k", [1, 7, 8, 9, 16, 29, 30, 31])
@pytest.mark.parametrize("num_units", [1, 7, 10, 29, 30])
def test_a_long_document_is_cut(text, k, num_units):
    settings = Settings(shingle=f"char:{k}")
    blocks = blocks_of_at_most(num_units, [text], settings)
    whole = shingle_blocks([text], settings)
    assert hashes_of_rows(blocks, [text.decode()], f"char:{k}") == hashes_of_rows(whole, [text.decode()], f"char:{k}")
    num_windows = max(1, 30 - k + 1)
    is_cut = max(30, k) > num_units
    assert len(blocks) == (-(-num_windows // max(num_units, k)) if is_cut else 1)


@pytest.mark.parametrize("changes", [
    {"shingle": "char:9"}, {"shingle": "word:3"}, {"format": "shingled"}, {"shingle": "char:5", "shingle_bits": 32}])
def test_sets_and_signatures_do_not_depend_on_blocks(changes):
    settings = Settings(**changes)
    text = " ".join(str(i * i) for i in range(500))
    batch = [text.encode(), b"1 2 3", text[:200].encode()]
    whole_sets, whole_signatures = shingle_sets(batch, settings), signatures(batch, settings)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lsh_core.shingling.BLOCK_UNITS", 50)
        assert signatures(batch, settings).tolist() == whole_signatures.tolist()
        assert shingle_set(text, settings).tolist() == shingle_sets([text.encode()], settings).values.tolist()
        for one, other in zip(shingle_sets(batch, settings), whole_sets):
            assert one.tolist() == other.tolist()


def test_k_larger_than_a_block_as_it_is():
    text = "ab" * 40_000 + "c"
    settings = Settings(shingle="char:65536")
    assert len(shingle_set(text, settings)) == 3  # from an a, from a b, and the last, which has the c
    assert len(shingle_set("short", settings)) == 1


# Memory


def peak_bytes(call: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def run_through(batch: list[bytes], settings: Settings) -> Callable[[], None]:
    """A call that iterates over the blocks of a batch and keeps none."""

    def iterate() -> None:
        for _ in shingle_blocks(batch, settings):
            pass

    return iterate


def long_document(num_characters: int, unit: str = "0123456789abcde ") -> bytes:
    return (unit * (num_characters // len(unit))).encode()


@pytest.mark.parametrize("family", ["sketch", "linear"])
def test_memory_does_not_grow_with_an_ascii_document(family):
    settings = Settings(minhash=family, bands=5, rows=4)
    for call in (run_through, lambda batch, settings: lambda: signatures(batch, settings)):
        single, double = (
            peak_bytes(call([long_document(num_characters)], settings)) for num_characters in (2 * 10**6, 4 * 10**6)
        )
        assert double < 8 * MEGABYTE
        assert double < 1.2 * single


@pytest.mark.parametrize("unit", ["0123456789abcdé ", "零一二三四五六七", "😀 "])
def test_a_wide_document_takes_no_memory_beyond_its_code_points(unit):
    text = long_document(10**6, unit)
    code_points = peak_bytes(text.decode)
    for call in (run_through([text], Settings()), lambda: signatures([text], Settings())):
        assert peak_bytes(call) < code_points + 8 * MEGABYTE


def test_memory_does_not_grow_with_the_number_of_documents():
    batch = [long_document(1000)] * 1000
    assert peak_bytes(run_through(batch, Settings())) < 4 * MEGABYTE
