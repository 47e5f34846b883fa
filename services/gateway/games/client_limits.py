"""Limits of a gateway's clients: their rates, the games that they create, and how long they wait for
verdicts.

A game on a board of its creator's, or from a position, has the size and the routes that its creator gives it.
Its cost is bounded (services/referee/games/trains/setup/validation.py), but an operator may want less: so a setting
says who may create one.
"""

from __future__ import annotations

import hmac
from collections.abc import Collection, Mapping
from typing import Final, NamedTuple

from schemas.errors import InvalidInputError
from schemas.web.tokens import DEFAULT_LIFE_S
from services.gateway.errors import NotYoursError
from services.gateway.web.rate_limit import RateLimiter
from services.runtime.connection_limits import ServerLimits
from services.runtime.settings import Settings
from services.runtime.webhook_urls import WebhookPolicy

KEY_SETTING: Final = "LEDGERLINE_OPERATOR_KEY"


class OwnBoards(NamedTuple):
    """The setting of games on boards of their creator's and from positions, and the operator's key, if there
    is one."""

    creators: str = "everyone"  # or "operator", or "nobody"
    operator_key: bytes = b""

    def is_operator(self, bearer: str | None) -> bool:
        """Whether this is the operator's key."""
        return bool(self.operator_key and bearer) and hmac.compare_digest(
            (bearer or "").encode(), self.operator_key
        )

    def require_creator(self, bearer: str | None) -> None:
        """Raise NotYoursError (OPERATOR-1) unless the sender of this may create such a game."""
        if self.creators == "everyone" or (self.creators == "operator" and self.is_operator(bearer)):
            return
        who = "only who sends the operator's key" if self.creators == "operator" else "nobody"
        raise NotYoursError(
            f"{who} may create games on boards of their own or from positions here "
            f"(LEDGERLINE_OWN_BOARDS={self.creators})",
            "OPERATOR-1",
        )


class ClientLimits(NamedTuple):
    """Limits of clients; None is no limit."""

    rate_limiter: RateLimiter  # of commands, by seat or address
    answer_timeout_s: float = ServerLimits.answer_s  # unless the sender of a command says how long it waits
    stall_s: float = ServerLimits.stall_s
    read_limiter: RateLimiter | None = None  # of reads and opened sockets, by address
    origins: Collection[str] | None = None  # whose pages may open sockets
    max_open_games: int = 1_000_000  # that one address, or one creator, created and that aren't over
    own_boards: OwnBoards = OwnBoards()
    webhook_policy: WebhookPolicy = WebhookPolicy()  # where webhooks may lead
    token_life_s: int = DEFAULT_LIFE_S


def read_own_boards(settings: Settings) -> OwnBoards:
    """Read it from the settings. Raises InvalidInputError: only the operator may, and there is no key."""
    key = settings.operator_key.get_secret_value()
    if settings.own_boards == "operator" and not key:
        raise InvalidInputError(KEY_SETTING, "is missing: LEDGERLINE_OWN_BOARDS=operator needs it")
    return OwnBoards(settings.own_boards, key.encode())


def has_own_board(body: Mapping[str, object]) -> bool:
    """Whether a creation's body asks for a board of its creator's, or for a position, well-formed or not."""
    return not isinstance(body.get("board", ""), str | None) or body.get("position") is not None
