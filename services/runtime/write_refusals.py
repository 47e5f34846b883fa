"""Tells an engine that refuses writes from one that is away: the first answers, and somebody must make room.

Redis and Valkey begin such an answer with one of these words; redis-py takes the word off where it has a class
for it.
"""

from __future__ import annotations

from typing import Final

from redis.exceptions import OutOfMemoryError, ReadOnlyError, ResponseError

REFUSAL_WORDS: Final = ("OOM", "MISCONF", "READONLY", "NOREPLICAS")
WORD_BY_CLASS: Final = {OutOfMemoryError: "OOM", ReadOnlyError: "READONLY"}


def write_refusal(error: BaseException) -> str:
    """Why the engine refuses to write: its own answer, with the word that it begins with. '' for other errors."""
    if not isinstance(error, ResponseError):
        return ""
    text = str(error)
    for error_class, word in WORD_BY_CLASS.items():
        if isinstance(error, error_class):
            return f"{word} {text}"
    return text if text.lstrip("-").partition(" ")[0] in REFUSAL_WORDS else ""
