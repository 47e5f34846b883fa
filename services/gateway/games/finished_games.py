"""Finished games, which hide nothing any more: their audits and files, from the engine or the archive.

A gateway neither reads logs nor knows rules, so the composition root gives it a reader (`FinishedGameReader`). The reader
blocks and computes, so it runs on a thread, one request at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final, Protocol, TypeVar

from services.archive import ArchiveUnavailableError
from services.gateway.errors import NotYetError, RefusedError
from services.gateway.games.client_limits import enforce_limit
from services.gateway.games.open_games import is_over
from services.gateway.games.service import GatewayService
from services.ledger import FiledGame
from services.runtime.logging_setup import get_logger

log = get_logger("gateway")
READ_COST: Final = 10  # what an audit or a file costs of the rate, in commands
RETRY_AFTER_S: Final = 3
T = TypeVar("T")


class FinishedGameReader(Protocol):
    """What services/verification gives a gateway. `filed` is what the engine has of the game; without it the archive is
    read."""

    def audit(self, game: str, number: int | None, filed: FiledGame | None) -> dict[str, object] | None:
        """The audit of a game, with an entry explained; None where it has no file."""

    def read_file(self, game: str, filed: FiledGame | None) -> bytes | None:
        """The file of a game; None where it has none."""


class FinishedGames:
    """Answers about finished games, for who may watch them."""

    def __init__(self, service: GatewayService, reader: FinishedGameReader | None) -> None:
        self._service, self._reader = service, reader
        self._semaphore = asyncio.Semaphore(1)

    async def audit(
        self, game: str, bearer: str | None, client: str, number: int | None
    ) -> dict[str, object]:
        """The audit of a game, as the model of the answer has it. Raises RefusedError: it isn't over; or NotYetError: it
        has no file yet."""
        return await self._read(game, bearer, client, lambda reader, filed: reader.audit(game, number, filed))

    async def read_file(self, game: str, bearer: str | None, client: str) -> bytes:
        """The file of a game. Raises as `audit`."""
        return await self._read(game, bearer, client, lambda reader, filed: reader.read_file(game, filed))

    async def _read(
        self,
        game: str,
        bearer: str | None,
        client: str,
        read: Callable[[FinishedGameReader, FiledGame | None], T | None],
    ) -> T:
        location = await self._service.locate_game(game, client)
        await self._service.authorization.resolve_viewer(game, bearer)
        enforce_limit(self._service.rate_limiter, ("archive", client), "commands", READ_COST)
        if not location.archived and not await is_over(self._service.ledger, game):
            raise RefusedError("GAME-7", "the game goes on; what it hides is shown when it is over")
        found = None
        if self._reader is not None:
            filed = await self._service.ledger.read_filed_game(game)
            try:
                async with self._semaphore:
                    found = await asyncio.to_thread(read, self._reader, filed)
            except ArchiveUnavailableError as error:
                log.error("archive unavailable", game=game, error=str(error))
        if found is None:
            detail = f"game {game} isn't in the archive yet; ask again"
            raise NotYetError(detail, RETRY_AFTER_S)
        return found
