"""The route of play-offs: the game that follows from one whose first place was shared (TIE-1)."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from fastapi import APIRouter

from schemas.events import PlayOffCalled
from services.gateway.errors import NotFoundError, NotYetError, NotYoursError
from services.gateway.games.game_views import GameLocation
from services.gateway.games.service import GatewayService
from services.gateway.models.response_models import PlayOffSeat
from services.gateway.routes.dependencies import BearerToken, ClientAddress, GameIdParam, ServiceParam

router = APIRouter(tags=["games"])


@router.post("/games/{game}/play-off", summary="Take your seat in the play-off")
async def play_off(
    service: ServiceParam, game: GameIdParam, bearer: BearerToken, client: ClientAddress
) -> PlayOffSeat:
    return await take_seat(service, game, bearer, client)


async def take_seat(service: GatewayService, game: str, bearer: str | None, client: str) -> PlayOffSeat:
    """The token's seat in the game that follows from this one, once that game exists: always the same.

    Raises RequestError: no play-off follows, the seat isn't in it, or it isn't created in time."""
    location = await service.locate_game(game, client)
    seat = await service.authorization.require_seat(game, bearer)
    service.rate_limiter.require((game, seat))
    called = await _find_play_off(service, game, location)
    if seat not in called.seats:
        raise NotYoursError(f"seat {seat} isn't in the play-off, game {called.game}")
    await _await_game(service, called.game)
    new_seat = called.seats.index(seat)
    token = await service.authorization.issue(called.game, new_seat)
    return PlayOffSeat(game=called.game, seat=new_seat, token=token)


async def _find_play_off(service: GatewayService, game: str, location: GameLocation) -> PlayOffCalled:
    """The call of the next game, in a game's last entry. Raises NotFoundError without one."""
    last = location.length - 1
    entries = (await service.finished_games.read_view(game, None) or ())[last:] if location.archived else ()
    for entry in entries or await service.ledger.read_view(game, None, last, 1):
        for event in entry.events:
            if isinstance(event, PlayOffCalled):
                return event
    raise NotFoundError("GAME-1", f"no play-off follows from game {game}, or it isn't over yet")


async def _await_game(service: GatewayService, game: str) -> None:
    """Return once the game exists. Raises NotYetError if it doesn't within the time for an answer."""
    with service.hub.verdict_event(game, on_every_entry=True) as notified, suppress(TimeoutError):
        async with asyncio.timeout(service.limits.answer_timeout_s):
            while not await service.ledger.read_length(game):
                await notified.wait()
                notified.clear()
            return
    raise NotYetError(f"game {game} isn't there yet; ask again", 1)
