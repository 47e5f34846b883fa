"""Errors of a damaged log, raised while its entries are decoded, applied, sealed or decided again.

Events of a log are trusted, so their fields may have any type, and what the rules raise on one that they
never wrote is what a bug raises. `replaying` catches that alone, in the one place where it can mean either,
and keeps the error as the cause; what catches damaged data then never catches a bug.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Final

from schemas.errors import CorruptDataError, InvalidInputError, LedgerlineError
from services.runtime.worker_loop import PROGRAMMING_ERRORS


class ReplayBrokenError(LedgerlineError):
    """The code broke on an entry that can be decoded: no rules wrote it, or the code has a bug."""


REPLAY_ERRORS: Final = (CorruptDataError, InvalidInputError, ReplayBrokenError)


class _Replaying:
    """The context of `replaying`: a class, as it is entered twice for each entry of a log."""

    def __enter__(self) -> None: ...

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if isinstance(error, PROGRAMMING_ERRORS):
            raise ReplayBrokenError(f"{type(error).__name__}: {error}") from error


_REPLAYING: Final = _Replaying()


def replaying() -> AbstractContextManager[None]:
    """For code that decodes, applies, seals or decides entries, and for no other. Raises ReplayBrokenError
    where it breaks."""
    return _REPLAYING
