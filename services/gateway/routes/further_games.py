"""Routes of games that follow from another: forks (docs/fork.md), and play-offs of a shared first place (TIE-1)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress

from fastapi import APIRouter, Request

from schemas.commands import ForkGame, read_command
from schemas.errors import InvalidInputError
from schemas.events import GameForked as GameForkedEvent
from schemas.events import PlayOffCalled
from schemas.web.tokens import Holder
from services.gateway.errors import NotFoundError, NotYetError, NotYoursError
from services.gateway.games.command_tracking import AckRequest
from services.gateway.games.game_views import GameLocation
from services.gateway.games.open_games import OPERATOR, Creator
from services.gateway.games.service import GatewayService, reused_id_error
from services.gateway.models import openapi
from services.gateway.models.response_models import GameForked, PlayOffSeat
from services.gateway.routes.dependencies import (
    AckParam,
    GameParam,
    GameRequest,
    IdempotencyKey,
    read_body,
)

router = APIRouter(tags=["games"])


@router.post(
    "/games/{game}/forks",
    status_code=201,
    summary="Go on from where a game stood",
    openapi_extra=openapi.FORK_BODY | openapi.TOKEN_IS_OPTIONAL,
    response_model_exclude_unset=True,
)
async def fork(
    asked: GameParam,
    request: Request,
    ack_request: AckParam,
    idempotency_key: IdempotencyKey = None,
) -> GameForked:
    return await fork_game(asked, await read_body(request), idempotency_key, ack_request)


async def fork_game(
    asked: GameRequest, body: Mapping[str, object], id_: str | None, ack_request: AckRequest
) -> GameForked:
    """A new game from where this one stood, by what the token's seat knew there, or by what was public.

    While this game goes on, the holder of a seat's token gets that seat of the new game too, because the fork
    shows what nobody else may see. The id sent again gives the same game and tokens, the seat's until that
    game is over."""
    service, game, bearer, client = asked
    await service.views.locate(game, client)
    asker = await service.views.resolve_viewer(game, bearer)
    if (await service.creations.find(game)).has_own_board:
        service.own_boards.require_creator(bearer)
    for field in sorted(body.keys() - {"at"}):
        raise InvalidInputError(field, "there is no such field")
    command = read_command({**body, "of": game, "asker": asker, "type": ForkGame.type})
    creators = [Creator.at(client)]
    if service.own_boards.is_operator(bearer):
        creators.append(OPERATOR)
    elif bearer:
        creators.append(Creator.holding(await service.authorization.require_holder(game, bearer)))
    created, entry = await service.create_from(command, id_, creators, ack_request)
    event = next((event for event in entry.events if isinstance(event, GameForkedEvent)), None)
    if event is None or event.of != game or event.asker not in (None, asker):
        raise reused_id_error()
    if len(creators) > 1:
        service.open_games.count_as(
            creators[-1], [Holder(created.game, seat) for seat in {None, event.asker}]
        )
    forked = GameForked(**created.model_dump(), of=game, at=event.at, afresh=event.afresh)
    if event.asker is not None:
        await service.require_unfinished(created.game, id_)
        forked.seat = event.asker
        forked.seat_token = await service.authorization.issue(created.game, event.asker)
    return forked


@router.post("/games/{game}/play-off", summary="Take your seat in the play-off")
async def play_off(asked: GameParam) -> PlayOffSeat:
    return await take_seat(asked)


async def take_seat(asked: GameRequest) -> PlayOffSeat:
    """The token's seat in the game that follows from this one, once that game exists: always the same.

    Raises RequestError: no play-off follows, the seat isn't in it, or it isn't created in time."""
    service, game, _, client = asked
    location = await service.views.locate(game, client)
    seat = await asked.require_seat()
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
