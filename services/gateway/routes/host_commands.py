"""Commands that a game's host alone may send."""

from __future__ import annotations

from schemas.commands import Command
from schemas.entries import ViewEntry
from services.gateway.errors import NotYoursError
from services.gateway.games.command_ids import read_system_command_id
from services.gateway.games.command_tracking import AckRequest
from services.gateway.games.service import GatewayService


async def send_as_host(
    service: GatewayService,
    game: str,
    bearer: str | None,
    command: Command,
    id_: str | None,
    ack_request: AckRequest,
    *,
    seat_refusal: str,
) -> tuple[ViewEntry, str]:
    """The entry of the host's command, and its level. Raises RequestError, with `seat_refusal` where a seat sends it."""
    await service.require_game(game)
    holder = await service.authorization.require_holder(game, bearer)
    if holder.seat is not None:
        raise NotYoursError(seat_refusal)
    id_ = read_system_command_id(id_)
    service.rate_limiter.require((game, None))
    return await service.execute_decided(game, id_, command, ack_request)
