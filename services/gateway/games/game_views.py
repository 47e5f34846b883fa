"""Finds games, and reads what a request may see of them: no other module reads views for requests.

A viewer without a seat sees the public view; in a game with a spectators' delay, so many entries late until
the game is over.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

from schemas.contract import Schema
from schemas.errors import CorruptDataError, InvalidInputError
from schemas.field_types import GameId, Seat
from schemas.stored.entries import ViewEntry
from services.gateway.errors import NotFoundError, NotYoursError, RefusedError, TokenError, UnknownGameError
from services.gateway.games.authorization import Authorization
from services.gateway.games.client_limits import ClientLimits
from services.gateway.games.finished_games import FinishedGames
from services.gateway.games.game_creations import GameCreations
from services.gateway.games.open_games import Creator
from services.ledger.async_ledger import AsyncLedger
from services.ledger.log.views import LogHead
from services.ledger.ports import EngineError

FINISHED_COST: Final = 10  # what an audit or a file costs of the rate, in commands

_GAME_ID: Final[Schema[str]] = Schema(GameId, "game")


class GameLocation(NamedTuple):
    """How long a game is, and whether it still has its streams."""

    length: int  # its number of entries
    archived: bool  # it is over, and the engine no longer has its streams


class GameViews:
    """Finds games, in the engine or the archive, and reads what a request may see of them."""

    def __init__(
        self,
        ledger: AsyncLedger,
        finished_games: FinishedGames,
        creations: GameCreations,
        authorization: Authorization,
        limits: ClientLimits,
    ) -> None:
        self.ledger, self.finished_games, self.creations = ledger, finished_games, creations
        self.authorization, self.limits, self.rate_limiter = authorization, limits, limits.rate_limiter

    async def require_game(self, game: str) -> int:
        """The number of the game's last entry. Raises UnknownGameError: the engine has no such game."""
        try:
            length = await self.ledger.read_length(_GAME_ID.read(game))
        except InvalidInputError:
            length = 0
        if not length:
            raise UnknownGameError(game)
        return length

    async def locate(self, game: str, client: str) -> GameLocation:
        """How long the game is, and where. Raises UnknownGameError: neither the engine nor the archive has it;
        or RateExceededError: this client reads the archive too often."""
        try:
            return GameLocation(await self.require_game(game), archived=False)
        except UnknownGameError as not_found:
            if not await self.finished_games.is_stored(game):
                self.rate_limiter.require(Creator.at(client))
            entries = await self.finished_games.read_view(game, None)
            if entries is None:
                raise not_found from None
            return GameLocation(len(entries), archived=True)

    async def resolve_viewer(self, game: str, bearer: str | None) -> Seat | None:
        """The seat whose view a request may read: the token's, or None for the public view.

        The public view is read without a token, with the host's and with the operator's key. Raises
        TokenError without a token if the game is for its players alone; else as
        `Authorization.require_token`."""
        if bearer:
            is_operator = self.limits.own_boards.is_operator(bearer)
            return None if is_operator else (await self.authorization.require_holder(game, bearer)).seat
        if (await self.creations.find(game)).access.visibility == "players":
            raise TokenError("only who holds a token of this game may watch it")
        return None

    async def is_over(self, game: str, location: GameLocation) -> bool:
        """Whether a game that was found there is over."""
        return location.archived or await self.finished_games.is_over(game)

    async def require_finished(self, game: str, bearer: str | None, client: str) -> None:
        """Count a request for what only a finished game shows, and check that its sender may watch the game.
        Raises RefusedError: the game goes on; RateExceededError; or as `locate`, or `resolve_viewer`."""
        location = await self.locate(game, client)
        await self.resolve_viewer(game, bearer)
        self.rate_limiter.require(Creator.at(client), FINISHED_COST)
        if not await self.is_over(game, location):
            raise RefusedError("GAME-7", "the game goes on; what it hides is shown when it is over")

    async def read_page(
        self, game: str, bearer: str | None, after: int, limit: int, client: str
    ) -> tuple[Seat | None, Sequence[ViewEntry], int]:
        """The viewer that the token names, at most `limit` entries of its view, and how many entries that view has.
        The game may be in the engine or in the archive."""
        location = await self.locate(game, client)
        viewer = await self.resolve_viewer(game, bearer)
        return viewer, *await self.read_entries(game, viewer, after, limit, location)

    async def resolve_shown(
        self, game: str, bearer: str | None, shown: Seat | Literal["public"] | None, client: str
    ) -> Seat | None:
        """The viewer whose view is shown to a request that asks for it; None asks for its own. Once a game is
        over, everybody that may watch it may see what any seat saw.

        Raises NotYoursError: the game goes on; or NotFoundError: it has no such seat."""
        location = await self.locate(game, client)
        viewer = await self.resolve_viewer(game, bearer)
        if shown is None or shown == viewer:
            return viewer
        if shown == "public":
            return None
        if not await self.is_over(game, location):
            raise NotYoursError("what another seat saw is shown when the game is over")
        if shown >= (await self.creations.find(game)).seats:
            raise NotFoundError("SHAPE-1", f"there is no seat {shown}")
        return shown

    async def read_entries(
        self, game: str, viewer: Seat | None, after: int, limit: int, location: GameLocation
    ) -> tuple[Sequence[ViewEntry], int]:
        """At most `limit` entries of a view, and how many it has. The caller has authorized the viewer."""
        length = await self.shown_length(game, viewer, location)
        if after >= length:
            return (), length
        limit = min(limit, length - after)
        entries: Sequence[ViewEntry] = ()
        if not location.archived:
            entries = await self.ledger.read_view(game, viewer, after, limit)
        if not entries:  # its streams may have gone since
            entries = (await self.finished_games.read_view(game, viewer) or ())[after : after + limit]
        return entries, length

    async def shown_length(self, game: str, viewer: Seat | None, location: GameLocation) -> int:
        """How many entries of the game this viewer is shown now."""
        if viewer is not None or location.archived:
            return location.length
        access = (await self.creations.find(game)).access
        if not access.spectator_delay:
            return location.length
        return access.visible_length(location.length, is_over=await self.finished_games.is_over(game))

    async def shown_head(self, game: str, viewer: Seat | None) -> LogHead:
        """The last entry of a game in the engine that this viewer is shown now, and the head after it.

        Raises CorruptDataError, MissingEntryError, or what the engine's client does."""
        [latest] = await self.ledger.read_heads([game])
        if isinstance(latest, CorruptDataError | EngineError):
            raise latest
        length = await self.shown_length(game, viewer, GameLocation(latest.sequence, archived=False))
        if length == latest.sequence:
            return latest
        [last] = await self.ledger.read_view(game, None, length - 1, 1)
        return LogHead(length, last.shown.head)

    async def spectator_delay(self, game: str, viewer: Seat | None) -> int:
        """How many entries late this viewer sees the game while it is played."""
        return 0 if viewer is not None else (await self.creations.find(game)).access.spectator_delay
