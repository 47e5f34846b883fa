"""A ledger that listens, as a gateway's does, and what it hears."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from services.ledger.async_ledger import AsyncLedger
from services.ledger.notifications import EntryNotification

SOON_S = 120.0


class Hearing:
    """The notifications that came, and the games that were subscribed to, in their order."""

    def __init__(self, ledger: AsyncLedger) -> None:
        self.ledger = ledger
        self.notifications: list[EntryNotification] = []
        self.subscribed: list[str] = []

    @property
    def heard(self) -> list[tuple[str, int]]:
        """The game and the sequence of each notification."""
        return [(notification.game, notification.sequence) for notification in self.notifications]

    async def want(self, *games: str) -> None:
        """Want to hear of these games, and return once each is subscribed to."""
        for game in games:
            self.ledger.channels.want(game)
        await until(lambda: {*games} <= {*self.subscribed}, f"{games} are subscribed to")


@asynccontextmanager
async def hearing(ledger: AsyncLedger) -> AsyncIterator[Hearing]:
    """Listens while the block runs, and closes the ledger."""
    hearing = Hearing(ledger)
    listening = asyncio.ensure_future(
        ledger.channels.listen(hearing.notifications.append, hearing.subscribed.append)
    )
    try:
        yield hearing
        assert not listening.done(), f"it stopped listening: {listening}"
    finally:
        listening.cancel()
        await asyncio.gather(listening, return_exceptions=True)
        await ledger.close()


async def until(holds: Callable[[], bool], what: str) -> None:
    """Look until it is so."""
    async with asyncio.timeout(SOON_S):
        while not holds():  # noqa: ASYNC110 - there is no event to wait for
            await asyncio.sleep(0.01)
    assert holds(), what
