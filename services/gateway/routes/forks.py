"""New games that go on from where another one stood (docs/fork.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from schemas import tokens
from schemas.commands import ForkGame, read_command
from schemas.errors import InvalidInputError
from schemas.events import GameForked
from services.gateway.command_tracking import AckRequest
from services.gateway.service import GatewayService, reused_id_error


async def fork_game(
    service: GatewayService,
    game: str,
    body: Mapping[str, Any],
    bearer: str | None,
    id_: str | None,
    client: str,
    ack_request: AckRequest,
) -> dict[str, Any]:
    """Lay a table where this game stood, by what the token's seat knew there, or everybody.

    Who asks with a seat's token has that seat of the new game too, while this one goes on: it shows what
    nobody else may see. The same id again gives the same game and tokens."""
    await service.locate_game(game, client)
    asker = service.resolve_viewer(game, bearer)
    for field in sorted(body.keys() - {"at"}):
        raise InvalidInputError(field, "there is no such field")
    command = read_command({**body, "of": game, "asker": asker, "type": ForkGame.type})
    result, entry = await service.create_from(command, id_, client, ack_request)
    forked = next((event for event in entry.events if isinstance(event, GameForked)), None)
    if forked is None or forked.of != game or forked.asker not in (None, asker):
        raise reused_id_error()
    result |= {"of": game, "at": forked.at, "afresh": forked.afresh}
    if forked.asker is not None:
        seat_token = tokens.mint(service.token_key, result["game"], forked.asker)
        result |= {"seat": forked.asker, "seat_token": seat_token}
    return result
