"""Delivers a game's entries to its subscriptions: to a few of them at once, to a crowd a chunk at a time.

Each delivery is a write to a socket. Four thousand in a row would hold the event loop for over half a second, and
with it every other game; between two chunks it does what else waits. Players come before those who watch.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Final

from services.gateway.following.subscriptions import FollowedGame, Recipient

CHUNK_SIZE: Final = 64  # entries that are written in one go
MAX_QUEUED_PAGES: Final = 8  # of a game, before its next entries are read later


class DeliveryQueue:
    """Entries that are still to be delivered to crowds, in the order in which they were read. `on_drained` is called with a game
    that was full, once everything of it is delivered."""

    def __init__(self, on_drained: Callable[[str], None]) -> None:
        self._on_drained = on_drained
        self._queued: deque[tuple[str, FollowedGame, list[Recipient]]] = deque()
        self._has_queued = asyncio.Event()

    def deliver(self, game: str, followed: FollowedGame, recipients: list[Recipient]) -> None:
        """Deliver now, or behind what is queued for this game."""
        if not followed.queued_pages and len(recipients) <= CHUNK_SIZE:
            for subscription, entries in recipients:
                for entry in entries:
                    subscription.deliver(entry)
            return
        recipients.sort(key=lambda recipient: recipient[0].viewer is None)
        followed.queued_pages += 1
        self._queued.append((game, followed, recipients))
        self._has_queued.set()

    def is_full(self, followed: FollowedGame) -> bool:
        """Whether no more of this game should be read now; once it is drained, that is noted."""
        followed.was_full = followed.was_full or followed.queued_pages >= MAX_QUEUED_PAGES
        return followed.was_full

    async def run(self) -> None:
        """Deliver what is queued, until cancelled."""
        while True:
            await self._has_queued.wait()
            while self._queued:
                game, followed, recipients = self._queued.popleft()
                await _deliver_in_chunks(recipients)
                followed.queued_pages -= 1
                if followed.was_full and not followed.queued_pages:
                    followed.was_full = False
                    self._on_drained(game)
            self._has_queued.clear()


async def _deliver_in_chunks(recipients: list[Recipient]) -> None:
    written = 0
    for subscription, entries in recipients:
        for entry in entries:
            subscription.deliver(entry)
            written += 1
            if written % CHUNK_SIZE == 0:
                await asyncio.sleep(0)
