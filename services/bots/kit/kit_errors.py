"""Errors between a client and a server. A refused move is none: it is a `Verdict`."""

from __future__ import annotations

from collections.abc import Mapping

from schemas.errors import LedgerlineError


class KitError(LedgerlineError):
    """Base of the kit's errors."""


class UnreachableError(KitError):
    """The server didn't answer for as long as the client had patience."""


class ServerRefusedError(KitError):
    """The server's final refusal: the HTTP status (0 for none), the rule's id ('' for none), and why."""

    def __init__(self, status: int, rule: str, detail: str) -> None:
        super().__init__(f"{rule}: {detail}" if rule else detail)
        self.status, self.rule, self.detail = status, rule, detail

    @classmethod
    def of_problem(cls, problem: Mapping[str, object]) -> ServerRefusedError:
        """The error that problem details (RFC 9457) describe."""
        status = problem.get("status")
        detail = problem.get("detail") or problem.get("title") or "no reason given"
        return cls(status if isinstance(status, int) else 0, str(problem.get("rule") or ""), str(detail))
