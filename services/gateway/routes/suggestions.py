"""The route of suggestions under /v1: what a seat might do, and why."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import APIRouter, Query, Request

from services.gateway.errors import NotFoundError
from services.gateway.models import openapi
from services.gateway.models.table_models import Suggestions
from services.gateway.routes.dependencies import BearerToken, ClientAddress, GameIdParam
from services.gateway.tables.suggestions import SuggestionQueue

MAX_SEAT: Final = 7
router = APIRouter(tags=["tables"])


@router.get(
    "/games/{game}/suggestions",
    summary="What your seat might do, and why",
    openapi_extra=openapi.TOKEN_IS_OPTIONAL,
)
async def suggestions(
    request: Request,
    game: GameIdParam,
    bearer: BearerToken,
    client: ClientAddress,
    at: Annotated[
        int | None, Query(ge=1, le=1_000_000_000, description="after this entry, in place of now")
    ] = None,
    seat: Annotated[
        int | None,
        Query(ge=0, le=MAX_SEAT, description="once the game is over, of this seat, in place of the token's"),
    ] = None,
) -> Suggestions:
    """The candidates of the bot `searcher`, the best first, each with the points that it is expected to bring. While the
    game is played, a seat asks for itself alone, and only where the table allows it (SUGGEST-1)."""
    queue: SuggestionQueue | None = request.app.state.suggestions
    if queue is None:
        raise NotFoundError("GAME-1", "this server shows no tables")
    return await queue.suggest(game, bearer, client, at, seat)
