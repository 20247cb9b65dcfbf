"""Settings: what is refused, with which words, and what survives a change or JSON."""

from __future__ import annotations

import dataclasses
import json
import math

import pytest
from hypothesis import given

from lsh_core import Settings, SettingsError
from lsh_core.settings import CHOICES, MAX_FUNCTIONS, MAX_SHINGLE_SIZE
from tests.strategies import settings as any_settings

FIELDS = [field.name for field in dataclasses.fields(Settings)]

ABOVE_0_TO_1 = "it must be above 0 and at most 1"
BETWEEN_0_AND_1 = "it must be above 0 and below 1"
ONE_OR_MORE = "it must be 1 or more"
SHINGLE = "it must be char:K or word:K with K from 1 to 65536"

# changes, the start of the message, what it says is allowed
REFUSED = [
    *[({"threshold": value}, f"threshold is {value};", ABOVE_0_TO_1) for value in (0, 0.0, -0.5, 1.0001, 2, math.nan)],
    *[({"recall": value}, f"recall is {value};", BETWEEN_0_AND_1) for value in (0, 1, 1.0, -1, 1.5, math.nan)],
    *[({"threshold": value}, f"threshold is {value!r};", "it must be float") for value in ("0.8", True, None, [0.8])],
    ({"recall": "high"}, "recall is 'high';", "it must be float"),
    *[({"bands": 5, "rows": 5, name: value}, f"{name} is {value};", ONE_OR_MORE)
      for name in ("bands", "rows") for value in (0, -1)],
    ({"bands": 5}, "bands and rows go together", "give both, or neither and a recall"),
    ({"rows": 5}, "bands and rows go together", "give both, or neither and a recall"),
    ({"bands": 5.0, "rows": 5}, "bands is 5.0;", "it must be Optional[int]"),
    ({"bands": 5, "rows": "5"}, "rows is '5';", "it must be Optional[int]"),
    ({"bands": True, "rows": 5}, "bands is True;", "it must be Optional[int]"),
    ({"bands": MAX_FUNCTIONS, "rows": 2}, "131072 minhash functions are asked for;", "at most 65536 are allowed"),
    ({"max_functions": MAX_FUNCTIONS + 1}, "65537 minhash functions are asked for;", "at most 65536 are allowed"),
    *[({name: 0}, f"{name} is 0;", ONE_OR_MORE) for name in ("max_functions", "num_buckets", "max_document_bytes")],
    ({"num_buckets": 2**64}, "num_buckets is 18446744073709551616;", "it must be below 2^64"),
    ({"max_document_bytes": 1e6}, "max_document_bytes is 1000000.0;", "it must be int"),
    ({"max_bucket_docs": 1}, "max_bucket_docs is 1;", "it must be 2 or more"),
    *[({"seed": seed}, f"seed is {seed};", "it must be from 0 to 2^64 - 1") for seed in (-1, 2**64)],
    ({"seed": None}, "seed is None;", "it must be int"),
    *[({"shingle": shingle}, f"shingle is {shingle!r};", SHINGLE)
      for shingle in ("", "9", "char", "char:", "char:0", "char:-1", "char:+1", "char: 9", "char:9.0", "char:1:2",
                      "Char:9", "line:3", ":9", "word:٣", "word:²", "char:65537", "char:" + "9" * 5000)],
    ({"shingle": 9}, "shingle is 9;", "it must be str"),
    *[({name: "other"}, f"{name} is 'other';", "it must be one of " + ", ".join(allowed))
      for name, allowed in CHOICES.items() if name != "shingle_bits"],
    *[({"minhash": "whole-text", **changes}, "minhash whole-text finds equal texts only", "the threshold must be 1")
      for changes in ({}, {"threshold": 0.99}, {"threshold": 1, "bands": 5, "rows": 5})],
    ({"shingle_bits": 16}, "shingle_bits is 16;", "it must be one of 64, 32"),
    ({"shingle_bits": 64.0}, "shingle_bits is 64.0;", "it must be int"),
    ({"format": None}, "format is None;", "it must be str"),
    ({"id_field": 1}, "id_field is 1;", "it must be Optional[str]"),
    ({"text_field": None}, "text_field is None;", "it must be str"),
    ({"id_field": "text"}, "id_field and text_field are both 'text';", "they must differ"),
    *[({"stop_words": words}, f"stop_words is {words!r};", "it must be a list of words")
      for words in ("the", None, 5, [1], ["the", None])],
    ({"threshold": 0.01}, "threshold 0.01 and recall 0.95 need", "max_functions is 160"),
    ({"threshold": 0.1, "max_functions": 5}, "threshold 0.1 and recall 0.95 need", "max_functions is 5"),
]


def as_name(value: object) -> str:
    return repr(value)[:60] if isinstance(value, dict) else ""


@pytest.mark.parametrize(("changes", "start", "allowed"), REFUSED, ids=as_name)
def test_refused(changes, start, allowed):
    with pytest.raises(SettingsError) as caught:
        Settings(**changes)
    assert str(caught.value).startswith(start)
    assert allowed in str(caught.value)
    assert caught.value.exit_code == 2
    for change in (Settings().replace, lambda **values: Settings.from_json(values)):
        with pytest.raises(SettingsError):
            change(**changes)


def test_every_setting_is_refused_somewhere():
    assert {name for changes, _, _ in REFUSED for name in changes} == set(FIELDS)


@pytest.mark.parametrize("changes", [
    {"threshold": 1}, {"threshold": 1.0}, {"recall": 1e-9}, {"recall": 0.999999}, {"bands": 1, "rows": 1},
    {"bands": MAX_FUNCTIONS, "rows": 1}, {"bands": 1, "rows": MAX_FUNCTIONS}, {"max_functions": MAX_FUNCTIONS},
    {"num_buckets": 1}, {"num_buckets": 2**64 - 1}, {"seed": 0}, {"seed": 2**64 - 1}, {"max_document_bytes": 1},
    {"max_bucket_docs": 2}, {"shingle": "char:1"}, {"shingle": f"word:{MAX_SHINGLE_SIZE}"}, {"id_field": None},
    {"format": "tsv", "id_field": "text"}, {"stop_words": ()}, {"stop_words": ["the"]}, {"threshold": 0.02},
    *[{name: choice} for name, allowed in CHOICES.items() for choice in allowed if choice != "whole-text"],
    {"minhash": "whole-text", "threshold": 1},
])
def test_allowed(changes):
    settings = Settings(**changes)
    for name, value in changes.items():
        assert getattr(settings, name) == (tuple(value) if name == "stop_words" else value)


def test_settings_cannot_be_changed_and_can_be_keys():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Settings().seed = 2
    assert {Settings(stop_words=["a"]): 1}[Settings(stop_words=("a",))] == 1


def test_every_setting_explains_itself():
    assert all(field.metadata["help"] for field in dataclasses.fields(Settings))


# What follows from them


@pytest.mark.parametrize(("changes", "kind", "size"), [
    ({}, "char", 9), ({"shingle": "word:3"}, "word", 3), ({"shingle": "char:05"}, "char", 5),
    ({"shingle": "word:3", "format": "shingled"}, "given", 3)])
def test_shingle(changes, kind, size):
    assert (Settings(**changes).shingle_kind, Settings(**changes).shingle_size) == (kind, size)


def test_banding_is_given_or_chosen():
    assert Settings().banding == (17, 8)
    assert Settings(bands=10, rows=3).banding == (10, 3)
    assert Settings(bands=10, rows=3, max_functions=5).banding == (10, 3)


@given(any_settings())
def test_promised_recall_is_that_of_the_s_curve(settings):
    bands, rows = settings.banding
    expected = 1 - (1 - settings.threshold**rows) ** bands
    assert settings.recall_promised == pytest.approx(expected, abs=1e-12)
    if settings.bands is None:
        assert bands * rows <= settings.max_functions
        assert settings.recall_promised >= settings.recall - 1e-12


# Changes


def test_a_new_recall_undoes_given_bands():
    given_bands = Settings(bands=10, rows=3)
    assert given_bands.replace(recall=0.9).banding == Settings(recall=0.9).banding
    assert given_bands.replace(recall=0.9, bands=4, rows=2).banding == (4, 2)
    assert given_bands.replace(threshold=0.5).banding == (10, 3)
    assert given_bands.replace(bands=20).banding == (20, 3)


def test_given_bands_undo_a_recall():
    assert Settings(recall=0.9).replace(bands=4, rows=2).banding == (4, 2)


def test_bands_without_rows_are_refused_in_a_change_too():
    with pytest.raises(SettingsError, match="bands and rows go together"):
        Settings().replace(bands=4)


def test_a_change_keeps_everything_else():
    before = Settings(seed=5, case="fold", stop_words=["a"])
    after = before.replace(threshold=0.5)
    assert [name for name in FIELDS if getattr(before, name) != getattr(after, name)] == ["threshold"]


# JSON


@given(any_settings())
def test_settings_survive_json(settings):
    written = json.dumps(settings.to_json(), allow_nan=False)
    assert Settings.from_json(json.loads(written)) == settings


def test_json_may_leave_settings_out():
    assert Settings.from_json({}) == Settings()
    assert Settings.from_json({"seed": 4}) == Settings(seed=4)


def test_json_names_every_setting():
    assert list(Settings().to_json()) == FIELDS


def test_unknown_settings_are_named():
    with pytest.raises(SettingsError, match=r"^unknown setting bnads, treshold$"):
        Settings.from_json({"treshold": 0.8, "seed": 1, "bnads": 2})
