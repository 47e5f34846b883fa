"""The quota of open games: how many games that are not over one address may have created.

Each gateway counts the games that it created itself since it started; a creation costs reads of the engine
only where the quota seems full.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from schemas.errors import InvalidInputError
from schemas.events import GameEnded
from services.gateway.problem_details import HttpProblemError
from services.ledger.async_ledger import AsyncLedger

MAX_ADDRESSES: Final = 100_000
RETRY_AFTER_S: Final = 60


class OpenGames:
    """Counts open games by the address that created them.

    Beyond MAX_ADDRESSES those that created nothing for longest are forgotten."""

    def __init__(self, most: int, ledger: AsyncLedger) -> None:
        self.most, self.ledger = most, ledger
        # by game: whether its creation was answered; until then the engine may not have it yet
        self._games: OrderedDict[str, dict[str, bool]] = OrderedDict()

    @asynccontextmanager
    async def creating(self, address: str, game: str) -> AsyncIterator[None]:
        """Count a game that this address creates within the block, unless the creation is refused there.

        Raises HttpProblemError (429): the address has too many that are open."""
        await self._require_room(address, game)
        try:
            yield
        except (InvalidInputError, HttpProblemError) as error:
            may_exist = isinstance(error, HttpProblemError) and error.rule in ("WAIT-1", "ID-1")
            self._record_answer(address, game, is_refused=not may_exist)
            raise
        self._record_answer(address, game, is_refused=False)

    async def _require_room(self, address: str, game: str) -> None:
        games = self._games.setdefault(address, {})
        self._games.move_to_end(address)
        if len(self._games) > MAX_ADDRESSES:
            self._games.popitem(last=False)
        if game not in games and len(games) >= self.most:
            for other, is_answered in tuple(games.items()):
                if is_answered and await is_over(self.ledger, other):
                    games.pop(other, None)
        if game not in games and len(games) >= self.most:
            detail = f"your address has {self.most} games that are not over; play or leave some first"
            raise HttpProblemError(429, "RATE-1", detail, retry_after=RETRY_AFTER_S)
        games.setdefault(game, False)

    def _record_answer(self, address: str, game: str, *, is_refused: bool) -> None:
        """Note that the creation was answered: the game exists, or may. One that was refused counts no longer."""
        games = self._games.get(address, {})
        if is_refused:
            games.pop(game, None)
        elif game in games:
            games[game] = True


async def is_over(ledger: AsyncLedger, game: str) -> bool:
    """Whether a game is over, or the engine no longer has it."""
    length = await ledger.read_length(game)
    last_entries = await ledger.read_view(game, None, length - 1, 1) if length else ()
    return not length or any(isinstance(event, GameEnded) for entry in last_entries for event in entry.events)
