"""What a program that was sent a link shows of it: a title, a sentence, a picture of the board.

It says no more than who has the link may see of a game's creation, and nothing of one that is for its players
alone. The pictures are drawn once, of the built-in boards (tests/browser/previews.py)."""

from __future__ import annotations

import asyncio
import re
from functools import cache
from importlib import resources
from typing import Final, NamedTuple

from fastapi import Request

from schemas.errors import LedgerlineError
from services.gateway.games.game_creations import GameCreation
from services.gateway.games.service import GatewayService
from services.gateway.tables.table_folds import TableFolds
from services.ledger.engine.errors import ENGINE_ERRORS
from services.runtime.logging_setup import get_logger

log = get_logger("gateway")
PICTURES: Final = resources.files("services.gateway").joinpath("pages", "previews")
GAME_ID: Final = re.compile(r"[a-z0-9][a-z0-9-]{2,39}")
WAIT_S: Final = 0.5  # for the engine: the page itself waits for nothing
CARDS: Final = "cards"  # the picture of all that is played on no board of ours
ABOUT: Final = "Board games around one table, with friends or bots. Every game can be watched again."
INVITED: Final = "Open the link to sit down, or to watch."


class LinkPreview(NamedTuple):
    """The preview of a page's link."""

    title: str
    sentence: str
    picture: str  # its name in the folder of pictures


LOBBY: Final = LinkPreview("Ledgerline", ABOUT, CARDS)
SOME_TABLE: Final = LinkPreview("A table at Ledgerline", INVITED, CARDS)


@cache
def _pictures() -> frozenset[str]:
    return frozenset(
        path.name.removesuffix(".jpg") for path in PICTURES.iterdir() if path.name.endswith(".jpg")
    )


async def preview_table(request: Request, game: str) -> LinkPreview:
    """The preview of a table; of any table where nothing may be said of this one, or it can't be read now."""
    service: GatewayService = request.app.state.service
    folds: TableFolds | None = request.app.state.table_folds
    if folds is None or GAME_ID.fullmatch(game) is None:
        return SOME_TABLE
    try:
        async with asyncio.timeout(WAIT_S):
            creation: GameCreation = await service.creations.find(game)
    except (LedgerlineError, *ENGINE_ERRORS) as error:
        log.info("no preview", game=game, why=str(error))
        return SOME_TABLE
    titles = {board.id: board.title for board in folds.catalog.boards()}
    if (
        creation.board not in titles
        or creation.has_own_board
        or creation.access.visibility == "players"
        or creation.board not in _pictures()
    ):
        return SOME_TABLE
    return LinkPreview(
        f"{titles[creation.board]}: a table for {creation.seats} at Ledgerline", INVITED, creation.board
    )
