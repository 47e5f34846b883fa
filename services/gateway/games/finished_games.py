"""Finished games, as the plain calls ask for them; docs/how-to/archive.md has the table of their states.

A game that is over may still have its streams. Once it is stored, or only archived, its views, verdicts and
audit follow from its file by the rules, which the gateway doesn't know: the composition root gives it a
reader. The reader blocks and computes, so it runs on a thread, a few requests at a time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, Protocol, TypeVar

from schemas.commands import Command, CommandEnvelope
from schemas.events import GameEnded
from schemas.field_types import Seat
from schemas.stored.codec import digest_command
from schemas.stored.entries import ViewEntry
from services.archive import ArchiveUnavailableError, TrustedKey, TrustedKeys
from services.gateway.errors import GameOverError, NotYetError
from services.gateway.games.command_tracking import CommandProgress, reused_id_error_of
from services.ledger import StoredGame
from services.ledger.acknowledgements import DECIDED
from services.ledger.async_ledger import AsyncLedger
from services.runtime.executors import FairThreadPool
from services.runtime.logging_setup import get_logger

log = get_logger("gateway")
MAX_CONCURRENT_READS: Final = 2
UNREADABLE_RETRY_S: Final = 5
NO_FILE_RETRY_S: Final = 3
NO_STREAMS_RULES: Final = ("GAME-1", "GAME-3")  # why a referee rejects a command of a game without streams
T = TypeVar("T")


class Answer(Protocol):
    """The entry that answers a command, and the digest of the command; empty if that isn't known."""

    @property
    def sequence(self) -> int: ...

    @property
    def command_digest(self) -> str: ...


class FinishedGameReader(Protocol):
    """Reads finished games from their files; services/verification implements it. `stored` is the engine's
    file of the game; without it the archive is read. All raise CorruptDataError, or ArchiveUnavailableError."""

    @property
    def trusted(self) -> TrustedKeys: ...

    def read_view(
        self, game: str, viewer: Seat | None, stored: StoredGame | None
    ) -> Sequence[ViewEntry] | None:
        """The whole view of a viewer (None: the public); None for an unknown game."""

    def find_answer(
        self, game: str, sender: Seat | None, command_id: str, stored: StoredGame | None
    ) -> Answer | None:
        """The verdict on a command that the game's log has."""

    def audit(self, game: str, number: int | None, stored: StoredGame | None) -> dict[str, object] | None:
        """The audit of a game, with an entry explained; None where it has no file."""

    def read_choices(
        self, game: str, seat: Seat, stored: StoredGame | None
    ) -> Sequence[tuple[int, Command]] | None:
        """The choices of a seat, by the entries that they made; None where the game has no file."""

    def read_data(self, game: str, stored: StoredGame | None) -> bytes | None:
        """The file of a game; None if it has none."""


class FinishedGames:
    """Reads finished games from an event loop. Without a reader, only those that have their streams are known."""

    def __init__(self, ledger: AsyncLedger, reader: FinishedGameReader | None = None) -> None:
        self._ledger, self._reader = ledger, reader
        self._reads, self._audits = asyncio.Semaphore(MAX_CONCURRENT_READS), FairThreadPool("audits", 1)

    def close(self) -> None:
        """Audit nothing more; what is audited now is waited for by nobody."""
        self._audits.shutdown()

    @property
    def trusted_keys(self) -> Sequence[TrustedKey]:
        """The keys that sign this server's finished games."""
        return self._reader.trusted.keys if self._reader else ()

    async def is_over(self, game: str) -> bool:
        """Whether a game is over, or has no streams in the engine any more."""
        length = await self._ledger.read_length(game)
        last = await self._ledger.read_view(game, None, length - 1, 1) if length else ()
        return not length or any(isinstance(event, GameEnded) for entry in last for event in entry.events)

    async def is_stored(self, game: str) -> bool:
        """Whether the engine has the file of this game, so that the archive isn't read for it."""
        return self._reader is not None and await self._ledger.read_stored_game(game) is not None

    async def read_view(self, game: str, viewer: Seat | None) -> Sequence[ViewEntry] | None:
        """The whole view of a viewer; None where neither the engine nor the archive has such a game's file.

        Raises CorruptDataError, or NotYetError where the archive can't be read now."""
        return await self._read(game, lambda reader, stored: reader.read_view(game, viewer, stored))

    async def find_verdict(
        self, game: str, sender: Seat | None, id_: str, rejected_by: str | None = None
    ) -> tuple[ViewEntry, str] | None:
        """The verdict on a command that was sent while its game was played, and the command's digest, empty
        if it isn't known. None if the log has no such command, or a referee rejected it by a rule that has
        nothing to do with the game's state. Raises as `read_view`."""
        if rejected_by is not None and not await self._explains(game, rejected_by):
            return None
        answer = await self._read(game, lambda reader, stored: reader.find_answer(game, sender, id_, stored))
        view = await self.read_view(game, sender) if answer else None
        return (view[answer.sequence - 1], answer.command_digest) if answer and view else None

    async def find_progress(
        self, envelope: CommandEnvelope, rejected_by: str | None = None
    ) -> CommandProgress | None:
        """How far a command got while its game was played. Raises ReusedIdError; or as `find_verdict`."""
        found = await self.find_verdict(envelope.game, envelope.seat, envelope.id, rejected_by)
        if found is None:
            return None
        entry, digest = found
        if digest not in ("", digest_command(envelope.command)):
            raise reused_id_error_of(envelope, entry.number, entry)
        return CommandProgress(DECIDED, entry.number, entry)

    async def read_progress(self, envelope: CommandEnvelope) -> CommandProgress:
        """Find how far a command got while its game was played. Raises RefusedError: it was refused;
        GameOverError: the log has no such command; or as `find_progress`."""
        progress = await self.find_progress(envelope)
        if progress is None:
            raise GameOverError(envelope.id)
        return progress.require_accepted(envelope.id)

    async def audit(self, game: str, number: int | None, client: str) -> dict[str, object]:
        """The audit of a game, as the model of the answer has it; a client that asks for many waits for others. Raises
        NotYetError: it has no file yet; or what reading it does."""
        return await self._read_file_of(
            game, client, lambda reader, stored: reader.audit(game, number, stored)
        )

    async def read_choices(self, game: str, seat: Seat, client: str) -> Sequence[tuple[int, Command]]:
        """The choices of a seat, by the entries that they made. Raises as `audit`."""
        return await self._read_file_of(
            game, client, lambda reader, stored: reader.read_choices(game, seat, stored)
        )

    async def read_file(self, game: str, client: str) -> bytes:
        """The file of a game, in the turns of audits. Raises as `audit`."""
        return await self._read_file_of(game, client, lambda reader, stored: reader.read_data(game, stored))

    async def _explains(self, game: str, rule: str) -> bool:
        """Whether a referee rejects commands by this rule because their game has no streams any more."""
        return rule in NO_STREAMS_RULES and not await self._ledger.read_length(game)

    async def _read_file_of(
        self, game: str, client: str, read: Callable[[FinishedGameReader, StoredGame | None], T | None]
    ) -> T:
        found = await self._read(game, read, client)
        if found is None:
            raise NotYetError(f"game {game} isn't in the archive yet; ask again", NO_FILE_RETRY_S)
        return found

    async def _read(
        self,
        game: str,
        read: Callable[[FinishedGameReader, StoredGame | None], T | None],
        client: str | None = None,
    ) -> T | None:
        if self._reader is None:
            return None
        call = partial(read, self._reader, await self._ledger.read_stored_game(game))
        try:
            if client is not None:
                return await asyncio.wrap_future(self._audits.submit(client, call))
            async with self._reads:
                return await asyncio.to_thread(call)
        except ArchiveUnavailableError as error:
            log.error("archive unavailable", game=game, error=str(error))
            detail = f"game {game} may be in the archive, which doesn't answer; ask again"
            raise NotYetError(detail, UNREADABLE_RETRY_S) from None
