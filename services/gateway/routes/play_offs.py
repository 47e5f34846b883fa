"""The seats of a play-off: the game that follows from one whose first place was shared (TIE-1)."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

from schemas import tokens
from schemas.events import PlayOffCalled
from services.gateway.problem_details import HttpProblemError
from services.gateway.service import GatewayService


async def take_seat(service: GatewayService, game: str, bearer: str | None) -> dict[str, Any]:
    """The token's seat in the game that follows from this one.

    Comes back when there is that game; asked again, the same is told again."""
    length = await service.require_game(game)
    seat = service.require_seat(game, bearer)
    service.enforce_rate_limit((game, seat))
    play_off = await _find_play_off(service, game, length)
    if seat not in play_off.seats:
        raise HttpProblemError(403, "TOKEN-1", f"seat {seat} isn't in the play-off, game {play_off.game}")
    await _await_game(service, play_off.game)
    new_seat = play_off.seats.index(seat)
    return {
        "game": play_off.game,
        "seat": new_seat,
        "token": tokens.mint(service.token_key, play_off.game, new_seat),
    }


async def _find_play_off(service: GatewayService, game: str, length: int) -> PlayOffCalled:
    """What a game's last entry, of `length`, says of the next game. Raises Problem: nothing."""
    for entry in await service.ledger.read_view(game, None, length - 1, 1):
        for event in entry.events:
            if isinstance(event, PlayOffCalled):
                return event
    raise HttpProblemError(404, "GAME-1", f"no play-off follows from game {game}, or it isn't over yet")


async def _await_game(service: GatewayService, game: str) -> None:
    """Return when there is the game. Raises Problem if there is none within the time."""
    with service.hub.verdict_event(game, on_every_entry=True) as notified, suppress(TimeoutError):
        async with asyncio.timeout(service.answer_timeout_s):
            while not await service.ledger.read_length(game):
                await notified.wait()
                notified.clear()
            return
    raise HttpProblemError(503, "WAIT-1", f"game {game} isn't there yet; ask again", retry_after=1)
