"""Errors by name: what each is called, and what a shell sees of it."""

from __future__ import annotations

import inspect

import pytest

from lsh_core import errors
from lsh_core.errors import REJECT_REASONS, LookalikeError, RejectedLine, SettingsError


def all_errors() -> list[type]:
    return [member for _, member in inspect.getmembers(errors, inspect.isclass) if member.__module__ == errors.__name__]


def test_every_error_is_the_users_to_mend():
    assert all(issubclass(error, LookalikeError) for error in all_errors())


def test_exit_codes():
    assert (LookalikeError.exit_code, RejectedLine.exit_code, SettingsError.exit_code) == (1, 1, 2)


def test_every_reason_is_listed_once():
    reasons = [error.reason for error in all_errors() if issubclass(error, RejectedLine) and error is not RejectedLine]
    assert sorted(REJECT_REASONS) == sorted(set(reasons))
    assert len(reasons) == len(set(reasons))


@pytest.mark.parametrize(("detail", "message"), [
    ("at byte 3", "bad UTF-8: at byte 3"),
    ("", "bad UTF-8"),
])
def test_message_is_the_reason_and_the_detail(detail, message):
    assert str(errors.BadUtf8(detail)) == message
