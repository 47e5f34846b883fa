"""Views of games that the engine no longer has: they can be read in the archive, and nothing else.

What a viewer was sent follows from a log by the rules, which the gateway doesn't know; so the composition root
gives it a reader (`ArchiveViewReader`). The reader blocks, so it runs on a thread, a few at a time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Final

from schemas.commands import CommandEnvelope
from schemas.entries import ViewEntry
from schemas.field_types import Seat
from services.archive import ArchiveUnavailableError
from services.gateway.command_tracking import UNLOGGED_LEVEL, CommandProgress
from services.gateway.problem_details import HttpProblemError, refusal_problem
from services.ledger.ack_levels import DECIDED
from services.runtime.logging_setup import get_logger

log = get_logger("gateway")
# The whole view of a viewer, by game and seat (None: the public view). It returns None for an unknown game.
ArchiveViewReader = Callable[[str, Seat | None], Sequence[ViewEntry] | None]
MAX_CONCURRENT_READS: Final = 2


class ArchiveViews:
    """Reads the archive's views, and the verdicts in them, from an event loop."""

    def __init__(self, read_view: ArchiveViewReader | None) -> None:
        self._read_view = read_view
        self._semaphore = asyncio.Semaphore(MAX_CONCURRENT_READS)

    async def read_view(self, game: str, viewer: Seat | None) -> Sequence[ViewEntry] | None:
        """The whole view of a viewer; None where the archive has no such game.

        Raises CorruptDataError, or HttpProblemError where the archive can't be read now."""
        if self._read_view is None:
            return None
        try:
            async with self._semaphore:
                return await asyncio.to_thread(self._read_view, game, viewer)
        except ArchiveUnavailableError as error:
            log.error("archive unavailable", game=game, error=str(error))
            detail = f"game {game} may be in the archive, which doesn't answer; ask again"
            raise HttpProblemError(503, "WAIT-1", detail, retry_after=5) from None

    async def read_verdict(self, envelope: CommandEnvelope) -> CommandProgress:
        """The verdict on a command that was sent while its game was played.

        Raises HttpProblemError: the command was refused, or the log has no such command."""
        for entry in await self.read_view(envelope.game, envelope.seat) or ():
            if entry.answers == envelope.id:
                progress = CommandProgress(DECIDED, entry.number, entry)
                if (problem := progress.refusal(envelope.id)) is not None:
                    raise problem
                return progress
        raise refusal_problem("GAME-3", "the game is over", id=envelope.id, level=UNLOGGED_LEVEL)
