"""The first entries of games, which settle who may watch a game, and whose board it is played on.

A first entry never changes, so it is read once and kept. A log that a fail-over lost may begin anew under its
id, so nothing is kept for long.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from schemas.events import AccessSet, GameCreated, GameForked
from schemas.game_options import PUBLIC_ACCESS, Access
from schemas.stored.entries import ViewEntry
from services.gateway.games.finished_games import FinishedGames
from services.ledger.async_ledger import AsyncLedger
from services.runtime.forgetful_mapping import Recent

KEPT_S: Final = 60.0
MAX_GAMES_KEPT: Final = 10_000


class GameCreation(NamedTuple):
    """The part of a game's first entry that a gateway goes by."""

    access: Access = PUBLIC_ACCESS
    has_own_board: bool = False  # a board of its creator's, or a position
    source: str | None = None  # of a fork: the game that it goes on from
    seats: int = 0
    board: str | None = None  # None: the game is played on none
    ruleset: str | None = None  # None: there is no such game


class GameCreations:
    """Reads the first entries of games, from the engine or the archive, and keeps what they say."""

    def __init__(
        self,
        ledger: AsyncLedger,
        finished_games: FinishedGames,
        clock_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._ledger, self._finished_games, self._clock_s = ledger, finished_games, clock_s
        self._kept = Recent[str, tuple[float, GameCreation]](MAX_GAMES_KEPT)

    async def find(self, game: str) -> GameCreation:
        """Read a game's creation; a game that doesn't exist has the usual one. Raises what reading a view
        does."""
        until_s, kept = self._kept.get(game, (0.0, None))
        if kept is not None and self._clock_s() < until_s:
            return kept
        entries: Sequence[ViewEntry] = await self._ledger.read_view(game, None, 0, 1)
        entries = entries or await self._finished_games.read_view(game, None) or ()
        if not entries:
            return GameCreation()
        creation = read_creation(entries[0])
        self._kept[game] = self._clock_s() + KEPT_S, creation
        return creation


def read_creation(first: ViewEntry) -> GameCreation:
    """Read a first entry, as everybody sees it."""
    access, source, has_own_board, was_laid, seats = PUBLIC_ACCESS, None, False, False, 0
    board = ruleset = None
    for event in first.events:
        match event:
            case AccessSet():
                access = Access(
                    event.visible_to,
                    event.spectator_delay,
                    event.by_invitation,
                    event.suggestions,
                    event.undo,
                )
            case GameForked():
                source = event.of
            case GameCreated():
                has_own_board, seats = event.board_form is not None, len(event.seats)
                board, ruleset = event.board, event.ruleset
            case _:
                was_laid = was_laid or event.lays
    # a fork lays what was played
    return GameCreation(access, has_own_board or (was_laid and source is None), source, seats, board, ruleset)
