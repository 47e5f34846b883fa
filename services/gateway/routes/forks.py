"""New games that go on from where another one stood (docs/fork.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from schemas import tokens
from schemas.commands import ForkGame, read_command
from schemas.contract import Malformed
from schemas.events import GameForked
from services.gateway.command_tracking import Ask
from services.gateway.service import Door, used_for_another


async def fork(
    door: Door,
    game: str,
    body: Mapping[str, Any],
    bearer: str | None,
    id_: str | None,
    client: str,
    ask: Ask,
) -> dict[str, Any]:
    """Lay a table where this game stood, by what the token's seat knew there, or everybody.

    Who asks with a seat's token has that seat of the new game too, while this one goes on: it shows what
    nobody else may see. The same id again gives the same game and tokens."""
    await door.standing(game, client)
    asker = door.viewer(game, bearer)
    for field in sorted(body.keys() - {"at"}):
        raise Malformed(field, "there is no such field")
    wish = read_command({**body, "of": game, "asker": asker, "type": ForkGame.type})
    told, entry = await door.lay(wish, id_, client, ask)
    forked = next((event for event in entry.events if isinstance(event, GameForked)), None)
    if forked is None or forked.of != game or forked.asker not in (None, asker):
        raise used_for_another()
    told |= {"of": game, "at": forked.at, "afresh": forked.afresh}
    if forked.asker is not None:
        own = tokens.mint(door.key, told["game"], forked.asker)
        told |= {"seat": forked.asker, "seat_token": own}
    return told
