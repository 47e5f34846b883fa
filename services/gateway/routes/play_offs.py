"""The seats of a play-off: the game that follows from one whose first place was shared (TIE-1)."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

from schemas import tokens
from schemas.events import PlayOffCalled
from services.gateway.problem_details import Problem
from services.gateway.service import Door


async def take_seat(door: Door, game: str, bearer: str | None) -> dict[str, Any]:
    """The token's seat in the game that follows from this one.

    Comes back when there is that game; asked again, the same is told again."""
    length = await door.require_game(game)
    seat = door.seat(game, bearer)
    door.limit((game, seat))
    called = await _called(door, game, length)
    if seat not in called.seats:
        raise Problem(403, "TOKEN-1", f"seat {seat} isn't in the play-off, game {called.game}")
    await _await_game(door, called.game)
    place = called.seats.index(seat)
    return {"game": called.game, "seat": place, "token": tokens.mint(door.key, called.game, place)}


async def _called(door: Door, game: str, length: int) -> PlayOffCalled:
    """What a game's last entry, of `length`, says of the next game. Raises Problem: nothing."""
    for entry in await door.ledger.seen(game, None, length - 1, 1):
        for event in entry.events:
            if isinstance(event, PlayOffCalled):
                return event
    raise Problem(404, "GAME-1", f"no play-off follows from game {game}, or it isn't over yet")


async def _await_game(door: Door, game: str) -> None:
    """Return when there is the game. Raises Problem if there is none within the time."""
    with door.hub.bell_of(game, every=True) as rung, suppress(TimeoutError):
        async with asyncio.timeout(door.answer_s):
            while not await door.ledger.length(game):
                await rung.wait()
                rung.clear()
            return
    raise Problem(503, "WAIT-1", f"game {game} isn't there yet; ask again", retry_after=1)
