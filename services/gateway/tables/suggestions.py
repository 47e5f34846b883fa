"""Suggestions for a seat's move, and its choices judged by them. The search behind them takes long, so there is one at a
time, and who asks for many waits for the others."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Final, TypeVar

from services.gateway.errors import NotFoundError, NotYetError, NotYoursError
from services.gateway.games.open_games import Creator
from services.gateway.games.service import GatewayService
from services.gateway.models.table_models import JudgedChoice, Suggestions
from services.gateway.tables.table_folds import TableFolds
from services.gateway.tables.table_port import TableFold
from services.runtime.executors import FairThreadPool

SUGGESTION_COST: Final = 25  # of the rate, in commands
MAX_WAIT_S: Final = 25.0  # for the requests before, and the suggestion itself
RETRY_AFTER_S: Final = 3
T = TypeVar("T")


class SuggestionQueue:
    """Answers requests for suggestions: a seat's while its game is played, if the table allows it, and
    everybody's that may watch the game once it is over."""

    def __init__(self, service: GatewayService, folds: TableFolds) -> None:
        self._service, self._folds = service, folds
        self._thread = FairThreadPool("suggestions", 1)

    def close(self) -> None:
        """Begin no more."""
        self._thread.shutdown()

    async def suggest(
        self, game: str, bearer: str | None, client: str, number: int | None, seat: int | None
    ) -> Suggestions:
        """Suggest moves to the seat (None: the token's) after this entry (None: now). Raises RequestError."""
        location = await self._service.views.locate(game, client)
        shown = seat if seat is not None else await self._service.authorization.require_seat(game, bearer)
        viewer = await self._folds.viewer(game, bearer, client, shown)
        if not await self._service.views.is_over(game, location):
            await self._require_allowed(game)
        self._service.budgets.charge([Creator.at(client)], SUGGESTION_COST)
        if number is None:
            fold = await self._folds.read(game, viewer, client, lambda latest: latest.copy())
        else:
            fold = await self._folds.at(game, viewer, client, number)
        _require_bot(fold)
        return await self._think(client, fold.suggestions)

    async def judge(
        self, game: str, bearer: str | None, client: str, place: int, seat: int | None
    ) -> JudgedChoice:
        """A choice of the seat (None: the token's), against what it might have done. Raises RequestError."""
        await self._service.views.require_finished(game, bearer, client)
        shown = seat if seat is not None else await self._service.authorization.require_seat(game, bearer)
        viewer = await self._folds.viewer(game, bearer, client, shown)
        choices = await self._service.finished_games.read_choices(game, shown, client)
        if place >= len(choices):
            raise NotFoundError("SHAPE-1", f"seat {shown} made {len(choices)} choices, from 0 on")
        number, command = choices[place]
        fold = await self._folds.at(game, viewer, client, number - 1)
        _require_bot(fold)
        judged = await self._think(client, partial(fold.judge, command))
        judged.place, judged.choices = place, len(choices)
        return judged

    async def _think(self, client: str, call: Callable[[], T | None]) -> T:
        """The answer of a call that blocks, in the client's turn. Raises NotYetError: there is none in time."""
        try:
            async with asyncio.timeout(MAX_WAIT_S):
                answer = await asyncio.wrap_future(self._thread.submit(client, call))
        except TimeoutError:
            raise _busy() from None
        if answer is None:
            raise _busy()
        return answer

    async def _require_allowed(self, game: str) -> None:
        """Raises NotYoursError: the table was made without suggestions."""
        if not (await self._service.creations.find(game)).access.suggestions:
            detail = "this table was made without suggestions; ask when the game is over"
            raise NotYoursError(detail, "SUGGEST-1")


def _require_bot(fold: TableFold) -> None:
    """Raises NotYoursError."""
    if not fold.has_suggestions:
        raise NotYoursError("no bot that plays this game can say what a move is worth", "SUGGEST-1")


def _busy() -> NotYetError:
    return NotYetError("no time to think of it now; ask again", RETRY_AFTER_S)
