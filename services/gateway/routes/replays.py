"""Routes of replays and audits under /v1: a game entry by entry, as its viewers saw it, and whether all was right."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Final, cast

from fastapi import APIRouter, Path, Query, Response

from services.gateway.models import openapi
from services.gateway.models.explanation_models import AuditReport, PublicKey, PublicKeys
from services.gateway.models.table_models import Replay
from services.gateway.models.trains import TableAnswer
from services.gateway.routes.dependencies import GameParam, ServiceParam
from services.gateway.routes.tables import AsParam, FoldsParam, parse_shown

FILE_MEDIA_TYPE: Final = "application/vnd.ledgerline.game"
FILE: Final[openapi.StatusResponses] = {
    200: {"content": {FILE_MEDIA_TYPE: {"schema": {"type": "string", "format": "binary"}}}}
}
router = APIRouter(prefix="/v1", tags=["replays"], responses=openapi.PROBLEM_RESPONSES)


@router.get(
    "/games/{game}/replays",
    summary="A game to be watched again: its moves in words",
    openapi_extra=openapi.TOKEN_IS_OPTIONAL,
)
async def replay(asked: GameParam, folds: FoldsParam, as_: AsParam = None) -> Replay:
    _, game, bearer, client = asked
    viewer = await folds.viewer(game, bearer, client, parse_shown(as_))
    table = await folds.read(game, viewer, client, lambda fold: fold.table(0))
    is_over = table.status == "over"
    viewers = ["public", *(range(len(table.seats)) if is_over else () if viewer is None else (viewer,))]
    return Replay.model_validate(
        {"game": game, "viewer": table.viewer, "entries": table.number, "over": is_over, "viewers": viewers, "moves": table.moves}
    )  # fmt: skip


@router.get(
    "/games/{game}/replays/{number}",
    summary="The table after an entry",
    openapi_extra=openapi.TOKEN_IS_OPTIONAL,
)
async def replayed_table(
    asked: GameParam,
    folds: FoldsParam,
    number: Annotated[int, Path(ge=1, le=1_000_000_000, description="of the entry")],
    as_: AsParam = None,
) -> TableAnswer:
    _, game, bearer, client = asked
    viewer = await folds.viewer(game, bearer, client, parse_shown(as_))
    fold = await folds.at(game, viewer, client, number, "number")
    return await folds.compute(client, lambda: fold.table(number - 1))


@router.get(
    "/games/{game}/audit",
    summary="Every check of a finished game, and a move explained",
    openapi_extra=openapi.TOKEN_IS_OPTIONAL,
    response_model=AuditReport,
    response_model_exclude_unset=True,
)
async def audit(
    asked: GameParam,
    at: Annotated[int | None, Query(ge=1, le=1_000_000_000, description="the entry to explain")] = None,
) -> AuditReport:
    service, game, bearer, client = asked
    await service.views.require_finished(game, bearer, client)
    return cast("AuditReport", await service.finished_games.audit(game, at, client))  # the model checks it


@router.get("/public-keys", summary="The keys that sign finished games")
async def public_keys(service: ServiceParam) -> PublicKeys:
    trusted = service.finished_games.trusted_keys
    return PublicKeys(
        keys=[
            PublicKey(key=key.public_key.hex(), since=_time(key.since_ms), before=_time(key.before_ms))
            for key in trusted
        ]
    )


def _time(at_ms: int | None) -> datetime | None:
    return None if at_ms is None else datetime.fromtimestamp(at_ms / 1000, UTC)


@router.get(
    "/games/{game}/file",
    summary="The signed file of a finished game",
    openapi_extra=openapi.TOKEN_IS_OPTIONAL,
    response_class=Response,
    responses=FILE,
)
async def game_file(asked: GameParam) -> Response:
    service, game, bearer, client = asked
    await service.views.require_finished(game, bearer, client)
    content = await service.finished_games.read_file(game, client)
    headers = {"Content-Disposition": f'attachment; filename="{game}.ledgerline"'}
    return Response(content, media_type=FILE_MEDIA_TYPE, headers=headers)
