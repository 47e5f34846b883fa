"""Games that have left the engine for the archive: they can be looked at, and nothing else happens in them.

The gateway knows no rules, and what a viewer was sent follows from a log by them; so whoever wires
the gateway gives it a way to ask (`View`). It blocks: it is asked on a thread, a few at a time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Final

from schemas.commands import Letter
from schemas.entries import ViewEntry
from schemas.field_types import Seat
from services.archive import ArchiveAway
from services.gateway.command_tracking import TOLD, Reached
from services.gateway.problem_details import Problem, refused
from services.ledger.ack_levels import DECIDED
from services.runtime.logging_setup import get_log

log = get_log("gateway")
View = Callable[[str, Seat | None], Sequence[ViewEntry] | None]  # all of it; None: there is no such game
AT_ONCE: Final = 2


class Archived:
    """The archive's views, for an event loop; and what was answered in them."""

    def __init__(self, view: View | None) -> None:
        self._view = view
        self._room = asyncio.Semaphore(AT_ONCE)

    async def view(self, game: str, viewer: Seat | None) -> Sequence[ViewEntry] | None:
        """All that a viewer was sent of a game, or None. Raises Corrupt, or Problem: it can't be read now."""
        if self._view is None:
            return None
        try:
            async with self._room:
                return await asyncio.to_thread(self._view, game, viewer)
        except ArchiveAway as error:
            log.error("archive unavailable", game=game, error=str(error))
            why = f"game {game} may be in the archive, which doesn't answer; ask again"
            raise Problem(503, "WAIT-1", why, retry_after=5) from None

    async def verdict(self, letter: Letter) -> Reached:
        """What a command was answered while its game was played. Raises Problem: that it was refused, or
        that it comes too late."""
        for entry in await self.view(letter.game, letter.seat) or ():
            if entry.answers == letter.id:
                reached = Reached(DECIDED, entry.number, entry)
                if (problem := reached.refusal(letter.id)) is not None:
                    raise problem
                return reached
        raise refused("GAME-3", "the game is over", id=letter.id, level=TOLD)
