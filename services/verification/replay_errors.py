"""What a damaged log may raise while its entries are decoded, applied, sealed or decided again.

Events of a log are trusted, so their fields may have any type, and what the rules raise on one that they
never wrote is what a bug raises. `replaying` catches that alone, in the one place where it can mean either,
and keeps the error as the cause; what catches damaged data then never catches a bug.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from schemas.errors import CorruptDataError, InvalidInputError, LedgerlineError
from services.runtime.worker_loop import PROGRAMMING_ERRORS


class ReplayBrokenError(LedgerlineError):
    """The code broke on an entry that can be decoded: no rules wrote it, or the code has a bug."""


REPLAY_ERRORS: Final = (CorruptDataError, InvalidInputError, ReplayBrokenError)


@contextmanager
def replaying() -> Iterator[None]:
    """For code that decodes, applies, seals or decides entries, and for no other. Raises ReplayBrokenError
    where it breaks."""
    try:
        yield
    except PROGRAMMING_ERRORS as error:
        raise ReplayBrokenError(f"{type(error).__name__}: {error}") from error
