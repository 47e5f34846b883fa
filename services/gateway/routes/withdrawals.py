"""Routes by which play is given up: a seat leaves, or a host ends a game that nobody plays on."""

from __future__ import annotations

from fastapi import APIRouter, Response

from schemas.commands import EndGame
from schemas.events import GameEnded
from services.gateway.games.command_tracking import AckRequest
from services.gateway.games.service import GatewayService, hex_head, reused_id_error
from services.gateway.models import openapi
from services.gateway.models.response_models import CommandAccepted, GameClosed
from services.gateway.routes.dependencies import (
    AckParam,
    BearerToken,
    ClientAddress,
    GameIdParam,
    IdempotencyKey,
    ServiceParam,
)
from services.gateway.routes.host_commands import send_as_host
from services.gateway.routes.play import send_command

router = APIRouter(tags=["games"])


@router.post(
    "/games/{game}/leave",
    summary="Leave a game for good",
    response_model=CommandAccepted,
    responses=openapi.UNKNOWN_VERDICT_RESPONSE,
)
async def leave(
    service: ServiceParam,
    game: GameIdParam,
    bearer: BearerToken,
    client: ClientAddress,
    ack_request: AckParam,
    idempotency_key: IdempotencyKey = None,
) -> CommandAccepted | Response:
    return await send_command(service, game, {"type": "leave"}, bearer, client, ack_request, idempotency_key)


@router.post("/games/{game}/end", summary="End a game that nobody plays on")
async def end(
    service: ServiceParam,
    game: GameIdParam,
    bearer: BearerToken,
    ack_request: AckParam,
    idempotency_key: IdempotencyKey = None,
) -> GameClosed:
    return await end_game(service, game, bearer, idempotency_key, ack_request)


async def end_game(
    service: GatewayService, game: str, bearer: str | None, id_: str | None, ack_request: AckRequest
) -> GameClosed:
    """End a game in which nobody has acted for long; its host alone may ask for it. Raises RequestError: somebody
    has (GAME-8), or who asks isn't the host."""
    refusal = "the game's host ends it; a seat leaves it"
    entry, level = await send_as_host(
        service, game, bearer, EndGame(), id_, ack_request, seat_refusal=refusal
    )
    if not isinstance(entry.events[-1], GameEnded):
        raise reused_id_error()
    return GameClosed(game=game, number=entry.number, level=level, head=hex_head(entry))
