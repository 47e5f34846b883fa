"""Waiting for the verdicts of a game: notifications wake those who do, and a slow poll, as notifications may be lost."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterator
from contextlib import contextmanager

from services.ledger.async_ledger import AsyncLedger


class VerdictWaiter:
    """A wait for the verdicts on `pending_ids`; it isn't notified while they are empty."""

    __slots__ = ("notified", "on_every_entry", "pending_at_last_poll", "pending_ids")

    def __init__(self, on_every_entry: bool, pending_ids: Collection[str]) -> None:
        self.notified = asyncio.Event()
        self.on_every_entry, self.pending_ids = on_every_entry, pending_ids
        self.pending_at_last_poll: Collection[str] = ()

    def notify(self) -> None:
        """Set the event if anything is pending."""
        if self.pending_ids:
            self.notified.set()

    def poll(self) -> None:
        """Set the event if something was pending at the last poll already: its notification may be lost. Commands that
        were added since may have their verdicts on the way; reading for all of them would delay everybody."""
        if self.pending_at_last_poll and any(id_ in self.pending_ids for id_ in self.pending_at_last_poll):
            self.notified.set()
        self.pending_at_last_poll = tuple(self.pending_ids)


class VerdictWaiters:
    """The waiters of all games, whose notifications are heard for as long as anybody waits."""

    def __init__(self, ledger: AsyncLedger) -> None:
        self._ledger = ledger
        self.by_game: dict[str, dict[VerdictWaiter, None]] = {}  # who waits longest is woken first

    @contextmanager
    def waiting(
        self, game: str, on_every_entry: bool, pending_ids: Collection[str]
    ) -> Iterator[asyncio.Event]:
        """A waiter's event, for as long as the block runs."""
        waiter = VerdictWaiter(on_every_entry, pending_ids)
        self.by_game.setdefault(game, {})[waiter] = None
        self._ledger.channels.want(game)
        try:
            yield waiter.notified
        finally:
            self._ledger.channels.release(game)
            del self.by_game[game][waiter]
            if not self.by_game[game]:
                del self.by_game[game]

    def notify(self, game: str, *, has_new_entry: bool) -> None:
        """Wake those who wait for this: not all do for a new entry."""
        for waiter in self.by_game.get(game, ()):
            if waiter.on_every_entry or not has_new_entry:
                waiter.notify()

    def poll(self) -> None:
        """Wake all who have waited since the last poll."""
        for waiters in self.by_game.values():
            for waiter in waiters:
                waiter.poll()
