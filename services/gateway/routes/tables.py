"""Routes of tables: games in detail, the state of a table, what a seat may or might do, boards, rulesets."""

from __future__ import annotations

import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from contextlib import suppress
from typing import Annotated, Final, Literal, NamedTuple, TypeVar

from fastapi import APIRouter, Depends, Path, Query, Request, Response

from schemas.errors import CorruptDataError, InvalidInputError
from schemas.field_types import Seat
from services.gateway.errors import NotFoundError
from services.gateway.models import openapi
from services.gateway.models.response_models import RulesetList
from services.gateway.models.table_models import (
    GameListing,
    GameStatus,
    JudgedChoice,
    LegalCommands,
    ListedGame,
    Suggestions,
)
from services.gateway.models.trains import BoardDrawing, BoardList, TableAnswer
from services.gateway.routes.dependencies import ClientAddress, GameParam, ServiceParam
from services.gateway.tables.table_folds import MAX_COMMANDS, SuggestionQueue, TableFolds, read_table
from services.gateway.tables.table_port import PRESETS, TableFold
from services.ledger import MissingEntryError
from services.ledger.engine.keys import partition_of
from services.ledger.log.game_indexes import GamePlace
from services.ledger.ports import NodeAwayError
from services.runtime.logging_setup import get_logger
from services.runtime.worker_loop import PROGRAMMING_ERRORS

log = get_logger("gateway")
T = TypeVar("T")
MAX_LIST: Final = 200
MAX_CURSOR: Final = 90  # characters
MAX_SEAT: Final = 7
SVG: Final = {"content": {"image/svg+xml": {"schema": {"type": "string"}}}}
AtParam = Annotated[
    int | None, Query(ge=1, le=1_000_000_000, description="the table after this entry, in place of now")
]
AsParam = Annotated[
    Literal["public", "0", "1", "2", "3", "4", "5", "6", "7"] | None,
    Query(
        alias="as",
        description="an entry as the public sees it, or, once the game is over, as this seat saw it",
    ),
]
SinceParam = Annotated[
    int | None, Query(ge=0, le=1_000_000_000, description="with the moves after this entry in words")
]
LegalParam = Annotated[
    bool, Query(alias="legal", description="with what you may do now, where you have a seat")
]

router = APIRouter(prefix="/v1", tags=["tables"], responses=openapi.PROBLEM_RESPONSES)


def parse_shown(as_: str | None) -> Seat | Literal["public"] | None:
    """The viewer that `as` names; None for the request's own."""
    return as_ if as_ is None or as_ == "public" else int(as_)  # type: ignore[return-value]  # one of AsParam's


async def _table_folds(request: Request) -> TableFolds:
    folds: TableFolds | None = request.app.state.table_folds
    if folds is None:
        raise NotFoundError("GAME-1", "this server shows no tables")
    return folds


FoldsParam = Annotated[TableFolds, Depends(_table_folds)]


class WantedGames(NamedTuple):
    """Which games are listed; None is any."""

    status: GameStatus | None
    ruleset: str | None
    board: str | None
    free: bool

    def has(self, row: ListedGame) -> bool:
        """Whether a game is one of them."""
        return (
            self.status in (None, row.status)
            and self.ruleset in (None, row.ruleset)
            and self.board in (None, row.board)
            and bool(row.free or not self.free)
        )


async def _wanted_games(
    status: Annotated[
        GameStatus | None, Query(description="only those that wait, are played, or are over")
    ] = None,
    ruleset: Annotated[str | None, Query(max_length=40, description="only those by these rules")] = None,
    board: Annotated[str | None, Query(max_length=40, description="only those on this board")] = None,
    free: Annotated[bool, Query(description="only those with a free seat")] = False,
) -> WantedGames:
    return WantedGames(status, ruleset, board, free)


@router.get("/games", summary="The latest games, with details", response_model_exclude_unset=True)
async def list_games(
    service: ServiceParam,
    folds: FoldsParam,
    client: ClientAddress,
    wanted: Annotated[WantedGames, Depends(_wanted_games)],
    most: Annotated[
        int,
        Query(ge=1, le=MAX_LIST, description="how many games are looked at; those that aren't wanted count"),
    ] = 50,
    cursor: Annotated[str | None, Query(description="the `next` of the page before this one")] = None,
) -> GameListing:
    partitions = service.ledger.partitions
    found = await service.list_games(most, client, _read_cursor(cursor, partitions))
    rows: list[ListedGame] = []
    unread, damaged = {*found.unread}, 0
    for game in found.games:
        try:
            row = await folds.listed(game, client)
        except NodeAwayError:  # of a cluster, since its games were read
            unread.add(partition_of(game, partitions))
        except (
            CorruptDataError,
            MissingEntryError,
            *PROGRAMMING_ERRORS,
        ) as error:  # nor a bug costs the list
            log.error("game not listed", game=game, exc_info=error)
            damaged += 1
        else:
            rows += [] if row is None else [row]
    listing = GameListing(games=[row for row in rows if wanted.has(row)])
    if found.next_after is not None:
        listing.next = _write_cursor(found.next_after)
    missing = []
    if unread:
        missing.append(f"the games of {len(unread)} of {partitions} partitions, which can't be read now")
    if damaged:
        missing.append("a game that can't be read" if damaged == 1 else f"{damaged} games that can't be read")
    if missing:
        listing.missing = "; ".join(missing)
    return listing


def _write_cursor(place: GamePlace) -> str:
    return urlsafe_b64encode("{}.{}.{}".format(*place).encode()).decode().rstrip("=")


def _read_cursor(cursor: str | None, partitions: int) -> GamePlace | None:
    """The place that a cursor names. Raises InvalidInputError: this server gives no such cursor."""
    if cursor is None:
        return None
    with suppress(ValueError):
        at_ms, partition, game = urlsafe_b64decode(f"{cursor[:MAX_CURSOR]}==").decode().split(".")
        place = GamePlace(int(at_ms[:15]), int(partition[:4]), game)
        if _write_cursor(place) == cursor and place.at_ms >= 0 <= place.set_index < partitions:
            return place
    raise InvalidInputError("cursor", "isn't the `next` of a page; left out, the list begins with the latest")


@router.get("/games/{game}/state", summary="The table as you see it", openapi_extra=openapi.TOKEN_IS_OPTIONAL)
async def state(
    asked: GameParam,
    folds: FoldsParam,
    at: AtParam = None,
    since: SinceParam = None,
    as_: AsParam = None,
    with_legal: LegalParam = False,
) -> TableAnswer:
    if at is None and as_ is not None:
        raise InvalidInputError("as", "goes with `at`, the number of an entry")
    if at is not None and with_legal:
        raise InvalidInputError("legal", "doesn't go with `at`: only now can a command be sent")
    _, game, bearer, client = asked
    viewer = await folds.viewer(game, bearer, client, parse_shown(as_))

    def answer(fold: TableFold) -> TableAnswer:
        return read_table(fold, fold.number if since is None else since, with_legal=with_legal)

    if at is None:
        table = await folds.read(game, viewer, client, answer)
        await folds.note_now(table)
    else:
        fold = await folds.at(game, viewer, client, at)
        table = await folds.compute(client, lambda: answer(fold))
    table.age_ms = max(0, time.time_ns() // 1_000_000 - table.created - table.at)
    return table


@router.get("/games/{game}/legal", summary="What your seat may do now")
async def legal(asked: GameParam, folds: FoldsParam) -> LegalCommands:
    service, game, bearer, client = asked
    await service.views.locate(game, client)
    seat = await service.authorization.require_seat(game, bearer)
    return await folds.read(game, seat, client, lambda fold: fold.legal(MAX_COMMANDS))


@router.get(
    "/games/{game}/board",
    summary="The board of a game, drawn",
    openapi_extra=openapi.TOKEN_IS_OPTIONAL,
    response_model=BoardDrawing,
)
async def game_board(asked: GameParam, folds: FoldsParam) -> Response:
    _, game, bearer, client = asked
    viewer = await folds.viewer(game, bearer, client)
    return Response(await folds.board(game, viewer, client), media_type="application/json")


@router.get("/boards", summary="The built-in boards")
async def boards(folds: FoldsParam) -> BoardList:
    return BoardList(boards=folds.catalog.boards())


@router.get("/boards/{board}", summary="A board, drawn")
async def board(folds: FoldsParam, client: ClientAddress, board: str) -> BoardDrawing:
    return _require_board(board, await folds.compute(client, lambda: folds.catalog.board(board)))


@router.get(
    "/boards/{board}/svg", summary="A board as a picture", responses={200: SVG}, response_class=Response
)
async def board_picture(folds: FoldsParam, client: ClientAddress, board: str) -> Response:
    picture = _require_board(board, await folds.compute(client, lambda: folds.catalog.board_picture(board)))
    return Response(picture, media_type="image/svg+xml")


@router.get("/rulesets", summary="The rulesets, their options, and clocks by name")
async def rulesets(folds: FoldsParam) -> RulesetList:
    return RulesetList(rulesets=folds.catalog.rulesets(), clocks=list(PRESETS.values()))


@router.get(
    "/games/{game}/suggestions",
    summary="What your seat might do, and why",
    openapi_extra=openapi.TOKEN_IS_OPTIONAL,
)
async def suggestions(
    asked: GameParam,
    request: Request,
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
    return await _queue(request).suggest(asked.game, asked.bearer, asked.client, at, seat)


@router.get(
    "/games/{game}/choices/{place}",
    summary="What a seat chose in a finished game, and what it might have done",
    openapi_extra=openapi.TOKEN_IS_OPTIONAL,
)
async def judged_choice(
    asked: GameParam,
    request: Request,
    place: Annotated[int, Path(ge=0, le=1_000_000_000, description="among the seat's choices, from 0")],
    seat: Annotated[
        int | None, Query(ge=0, le=MAX_SEAT, description="of this seat, in place of the token's")
    ] = None,
) -> JudgedChoice:
    """A choice against what the bot `searcher` would have done there, by what the seat saw then. The answer says how many
    choices there are: ask for one after the other."""
    return await _queue(request).judge(asked.game, asked.bearer, asked.client, place, seat)


def _queue(request: Request) -> SuggestionQueue:
    queue: SuggestionQueue | None = request.app.state.suggestions
    if queue is None:
        raise NotFoundError("GAME-1", "this server shows no tables")
    return queue


def _require_board(name: str, found: T | None) -> T:
    if found is None:
        raise NotFoundError("SHAPE-1", f"there is no board {name[:40]}")
    return found
