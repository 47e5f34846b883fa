"""The errors that the product raises on purpose. Any other exception is a bug, or a library's own.

`LedgerlineError` is the base of all of them, in every package: an `except` clause for bugs
(`PROGRAMMING_ERRORS` in services/runtime/worker_loop.py) never catches one, and a clause for one never
catches a bug. Errors that only one package raises stand in that package.
"""

from __future__ import annotations


class LedgerlineError(Exception):
    """Base of every error that this product raises."""


class InvalidInputError(LedgerlineError):
    """Something from outside is not of its contract's form. `field` names where, `reason` says why, and
    `rule` is the id of the message rule that it breaks (schemas/refusals.py). `others` are further fields that are
    wrong, with their reasons."""

    def __init__(
        self, field: str, reason: str, rule: str = "SHAPE-1", others: tuple[tuple[str, str], ...] = ()
    ) -> None:
        super().__init__(f"{field}: {reason}" if field else reason)
        self.field, self.reason, self.rule, self.others = field, reason, rule, others


class CorruptDataError(LedgerlineError):
    """A log or view holds what no referee writes: the store is damaged, not the game."""
