"""The route of forks: new games that go on from where another one stood (docs/fork.md)."""

from __future__ import annotations

from collections.abc import Mapping

from fastapi import APIRouter, Request

from schemas.commands import ForkGame, read_command
from schemas.errors import InvalidInputError
from schemas.events import GameForked as GameForkedEvent
from schemas.tokens import Holder
from services.gateway.games.command_tracking import AckRequest
from services.gateway.games.open_games import OPERATOR, Creator
from services.gateway.games.service import GatewayService, reused_id_error
from services.gateway.models import openapi
from services.gateway.models.response_models import GameForked
from services.gateway.routes.dependencies import (
    AckParam,
    BearerToken,
    ClientAddress,
    GameIdParam,
    IdempotencyKey,
    ServiceParam,
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
    service: ServiceParam,
    request: Request,
    client: ClientAddress,
    game: GameIdParam,
    bearer: BearerToken,
    ack_request: AckParam,
    idempotency_key: IdempotencyKey = None,
) -> GameForked:
    return await fork_game(
        service, game, await read_body(request), bearer, idempotency_key, client, ack_request
    )


async def fork_game(
    service: GatewayService,
    game: str,
    body: Mapping[str, object],
    bearer: str | None,
    id_: str | None,
    client: str,
    ack_request: AckRequest,
) -> GameForked:
    """A new game from where this one stood, by what the token's seat knew there, or by what was public.

    While this game goes on, who asks with a seat's token holds that seat of the new game too, because it shows
    what nobody else may see. The same id again gives the same game and tokens, the seat's until
    that game is over."""
    await service.locate_game(game, client)
    asker = await service.views.resolve_viewer(game, bearer)
    await _require_creator(service, game, bearer)
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


async def _require_creator(service: GatewayService, game: str, bearer: str | None) -> None:
    """Raise NotYoursError where the game has a board of its creator's, and who asks may not create one."""
    if (await service.creations.find(game)).has_own_board:
        service.own_boards.require_creator(bearer)
