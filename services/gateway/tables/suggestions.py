"""Suggestions for a seat's move. The search behind them takes long, so there is one at a time, and who asks for many waits
for the others."""

from __future__ import annotations

import asyncio
from typing import Final

from services.gateway.errors import NotYetError, NotYoursError
from services.gateway.games.open_games import Creator
from services.gateway.games.service import GatewayService
from services.gateway.models.table_models import Suggestions
from services.gateway.tables.table_folds import TableFolds
from services.runtime.executors import FairThreadPool

SUGGESTION_COST: Final = 25  # of the rate, in commands
MAX_WAIT_S: Final = 25.0  # for the requests before, and the suggestion itself
RETRY_AFTER_S: Final = 3


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
        if not fold.has_suggestions:
            raise NotYoursError("no bot that plays this game can say what a move is worth", "SUGGEST-1")
        try:
            async with asyncio.timeout(MAX_WAIT_S):
                suggestions = await asyncio.wrap_future(self._thread.submit(client, fold.suggestions))
        except TimeoutError:
            raise _busy() from None
        if suggestions is None:
            raise _busy()
        return suggestions

    async def _require_allowed(self, game: str) -> None:
        """Raises NotYoursError: the table was made without suggestions."""
        if not (await self._service.creations.find(game)).access.suggestions:
            detail = "this table was made without suggestions; ask when the game is over"
            raise NotYoursError(detail, "SUGGEST-1")


def _busy() -> NotYetError:
    return NotYetError("no time to think of it now; ask again", RETRY_AFTER_S)
