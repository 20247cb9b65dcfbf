"""What can go wrong, by name: settings that cannot work, and lines that are not documents."""

from __future__ import annotations

from typing import ClassVar


class LookalikeError(Exception):
    """Base of every error that is the user's to mend: shown as one line, without a traceback."""

    exit_code: ClassVar[int] = 1


class SettingsError(LookalikeError):
    """A setting that cannot work; the message has its value and what is allowed."""

    exit_code = 2


class RejectedLine(LookalikeError):
    """A line that is not a document.

    ``reason`` is its counter, its value in ``rejected.jsonl`` and its entry in the README.
    """

    reason: ClassVar[str] = "rejected"

    def __init__(self, detail: str = "") -> None:
        super().__init__(f"{self.reason}: {detail}" if detail else self.reason)


class BadUtf8(RejectedLine):
    reason = "bad UTF-8"


class NulByte(RejectedLine):
    reason = "raw NUL byte"


class TooLong(RejectedLine):
    reason = "too long"


class NotJson(RejectedLine):
    reason = "not JSON"


class NotAnObject(RejectedLine):
    reason = "not a JSON object"


class NoId(RejectedLine):
    reason = "no id"


class BadId(RejectedLine):
    reason = "id not a string or an integer"


class NoText(RejectedLine):
    reason = "no text"


class TextNotString(RejectedLine):
    reason = "text not a string"


class NotShingles(RejectedLine):
    reason = "shingle not an integer from 0 to 2^64 - 1"


class LoneSurrogate(RejectedLine):
    reason = "lone surrogate"


class EmptyText(RejectedLine):
    reason = "empty"


REJECT_REASONS: tuple[str, ...] = tuple(cls.reason for cls in RejectedLine.__subclasses__())
