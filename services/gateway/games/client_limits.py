"""What clients may do together, beside the rate of their commands."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final, NamedTuple

from services.gateway.errors import RateExceededError
from services.gateway.games.own_boards import EVERYONE, OwnBoards
from services.runtime.rate_limit import RateLimiter
from services.runtime.webhook_urls import WebhookPolicy


class ClientLimits(NamedTuple):
    """Limits of addresses and origins; None is no limit."""

    read_limiter: RateLimiter | None = None  # of reads and opened sockets, by address
    origins: Collection[str] | None = None  # whose pages may open sockets
    max_open_games: int = 1_000_000  # that one address, or one creator, created and that aren't over
    own_boards: OwnBoards = EVERYONE
    webhook_policy: WebhookPolicy = WebhookPolicy()  # where webhooks may lead


UNLIMITED_CLIENTS: Final = ClientLimits()


def enforce_limit(limiter: RateLimiter, sender: object, what: str, cost: float = 1) -> None:
    """Count a request of this sender. Raises RateExceededError: it sent too many."""
    if retry_after_s := limiter.acquire(sender, cost):
        raise RateExceededError(f"{limiter.rate:g} {what}", retry_after_s)
