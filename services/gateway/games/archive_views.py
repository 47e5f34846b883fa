"""Views of games that have no streams in the engine: finished ones, of which it has the file, or the archive.

What a viewer was sent follows from a log by the rules, which the gateway doesn't know; so the composition root
gives it a reader (`FinishedViewReader`). The reader blocks, so it runs on a thread, a few at a time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Final, Protocol, TypeVar

from schemas.command_digest import digest_command
from schemas.commands import CommandEnvelope
from schemas.entries import ViewEntry
from schemas.field_types import Seat
from services.archive import ArchiveUnavailableError
from services.gateway.errors import GameOverError, NotYetError, RequestError
from services.gateway.games.command_tracking import CommandProgress, reused_id_error_of
from services.ledger import FiledGame
from services.ledger.acknowledgements.ack_levels import DECIDED
from services.ledger.async_ledger import AsyncLedger
from services.runtime.logging_setup import get_logger

log = get_logger("gateway")
MAX_CONCURRENT_READS: Final = 2
NO_STREAMS_RULES: Final = ("GAME-1", "GAME-3")  # why a referee rejects a command of a game without streams
T = TypeVar("T")


class Answer(Protocol):
    """The entry that answers a command, and the digest of the command; empty where that isn't known."""

    @property
    def sequence(self) -> int: ...

    @property
    def command_digest(self) -> str: ...


class FinishedViewReader(Protocol):
    """What services/verification gives a gateway. `filed` is what the engine has of the game; without it the archive is
    read. Both raise CorruptDataError, or ArchiveUnavailableError."""

    def read_view(
        self, game: str, viewer: Seat | None, filed: FiledGame | None
    ) -> Sequence[ViewEntry] | None:
        """The whole view of a viewer (None: the public); None for an unknown game."""

    def find_answer(
        self, game: str, sender: Seat | None, command_id: str, filed: FiledGame | None
    ) -> Answer | None:
        """The verdict on a command that the game's log has."""


class ArchiveViews:
    """Reads the views of games without streams, and the verdicts in them, from an event loop."""

    def __init__(self, ledger: AsyncLedger, reader: FinishedViewReader | None) -> None:
        self._ledger, self._reader = ledger, reader
        self._semaphore = asyncio.Semaphore(MAX_CONCURRENT_READS)

    async def is_filed(self, game: str) -> bool:
        """Whether the engine has the file of this game, so that the archive isn't read for it."""
        return self._reader is not None and await self._ledger.read_filed_game(game) is not None

    async def read_view(self, game: str, viewer: Seat | None) -> Sequence[ViewEntry] | None:
        """The whole view of a viewer; None where neither the engine nor the archive has such a game's file.

        Raises CorruptDataError, or NotYetError where the archive can't be read now."""
        if (reader := self._reader) is None:
            return None
        filed = await self._ledger.read_filed_game(game)
        return await self._call(game, lambda: reader.read_view(game, viewer, filed))

    async def find_rejected(self, game: str, sender: Seat | None, id_: str, rule: str) -> ViewEntry | None:
        """The verdict on a command that a referee rejected with this rule, where that is only because the game has no
        streams any more. Raises as `read_view`."""
        found = await self.find_verdict(game, sender, id_) if await self._has_no_streams(game, rule) else None
        return None if found is None else found[0]

    async def find_progress_of_rejected(
        self, envelope: CommandEnvelope, rejection: RequestError
    ) -> CommandProgress:
        """The same, as `find_progress`. Raises the rejection where there is no verdict."""
        is_gone = await self._has_no_streams(envelope.game, rejection.rule)
        progress = await self.find_progress(envelope) if is_gone else None
        if progress is None:
            raise rejection
        return progress

    async def _has_no_streams(self, game: str, rule: str) -> bool:
        return rule in NO_STREAMS_RULES and not await self._ledger.read_length(game)

    async def find_verdict(self, game: str, sender: Seat | None, id_: str) -> tuple[ViewEntry, str] | None:
        """The verdict on a command that was sent while its game was played, and the digest of the command where that is
        known; None where the log has no such command. Raises as `read_view`."""
        if (reader := self._reader) is None:
            return None
        filed = await self._ledger.read_filed_game(game)
        answer = await self._call(game, lambda: reader.find_answer(game, sender, id_, filed))
        view = await self._call(game, lambda: reader.read_view(game, sender, filed)) if answer else None
        return (view[answer.sequence - 1], answer.command_digest) if answer and view else None

    async def find_progress(self, envelope: CommandEnvelope) -> CommandProgress | None:
        """How far a command got while its game was played. Raises ReusedIdError: its id was sent with another
        command; or as `read_view`."""
        found = await self.find_verdict(envelope.game, envelope.seat, envelope.id)
        if found is None:
            return None
        entry, digest = found
        if digest not in ("", digest_command(envelope.command)):
            raise reused_id_error_of(envelope, entry.number, entry)
        return CommandProgress(DECIDED, entry.number, entry)

    async def _call(self, game: str, read: Callable[[], T]) -> T:
        try:
            async with self._semaphore:
                return await asyncio.to_thread(read)
        except ArchiveUnavailableError as error:
            log.error("archive unavailable", game=game, error=str(error))
            detail = f"game {game} may be in the archive, which doesn't answer; ask again"
            raise NotYetError(detail, 5) from None

    async def read_verdict(self, envelope: CommandEnvelope) -> CommandProgress:
        """The verdict on a command that was sent while its game was played.

        Raises RefusedError: the command was refused, or the log has no such command; or as `find_progress`."""
        progress = await self.find_progress(envelope)
        if progress is None:
            raise GameOverError(envelope.id)
        if (refusal := progress.refusal(envelope.id)) is not None:
            raise refusal
        return progress
