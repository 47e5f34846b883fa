"""Routes of games: create, join, start, leave and end them, free seats and let bots take them. Games that follow from
another: forks (docs/reference/fork.md), play-offs of a shared first place (TIE-1), rematches.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Annotated, Final

from fastapi import APIRouter, Path, Request, Response

from schemas.commands import Command, CreateGame, EndGame, ForkGame, FreeSeat, SeatBot, read_command
from schemas.errors import InvalidInputError
from schemas.events import GameCreated as GameCreatedEvent
from schemas.events import GameEnded, PlayOffCalled, SeatFreed, SeatTaken
from schemas.events import GameForked as GameForkedEvent
from schemas.field_types import MAX_SEATS
from schemas.stored.entries import ViewEntry
from schemas.web.tokens import Holder
from services.gateway.errors import NotFoundError, NotYetError, NotYoursError, RefusedError
from services.gateway.games.client_limits import has_own_board
from services.gateway.games.command_tracking import AckRequest, read_system_command_id
from services.gateway.games.game_views import GameLocation
from services.gateway.games.open_games import OPERATOR, Creator
from services.gateway.games.service import GatewayService, hex_head, reused_id_error
from services.gateway.models import openapi
from services.gateway.models.response_models import (
    CommandAccepted,
    Decision,
    GameClosed,
    GameCreated,
    GameForked,
    GameStarted,
    PlayOffSeat,
    Rematch,
    SeatInvitation,
    SeatJoined,
    TakenSeat,
    TokenIssued,
)
from services.gateway.routes.dependencies import (
    AckParam,
    ClientAddress,
    GameIdParam,
    GameParam,
    GameRequest,
    IdempotencyKey,
    OperatorKey,
    ServiceParam,
    read_body,
)
from services.gateway.routes.play import send_command
from services.gateway.tables.table_port import with_clock

SEATING_REFUSAL: Final = "the game's host says who sits where"
END_REFUSAL: Final = "the game's host ends it; a seat leaves it"

router = APIRouter(prefix="/v1", tags=["games"], responses=openapi.PROBLEM_RESPONSES)
SeatParam = Annotated[int, Path(ge=0, lt=MAX_SEATS, description="the seat's number, from 0")]


class FreedSeat(Decision, SeatInvitation):
    """A seat that its host has freed, and the new invitation to it. It can be taken 10 s later."""

    game: str


class SeatedBot(Decision, TakenSeat):
    """A seat that a bot has taken."""

    game: str


@router.post(
    "/games",
    status_code=201,
    summary="Create a game",
    openapi_extra=openapi.CREATE_BODY | openapi.TOKEN_IS_OPTIONAL,
    responses=openapi.CREATED_RESPONSE,
)
async def create(
    service: ServiceParam,
    request: Request,
    response: Response,
    client: ClientAddress,
    ack_request: AckParam,
    operator_key: OperatorKey,
    idempotency_key: IdempotencyKey = None,
) -> GameCreated:
    body = await read_body(request)
    if has_own_board(body):
        service.own_boards.require_creator(operator_key)
    created = await service.create(with_clock(body), idempotency_key, client, ack_request, operator_key)
    response.headers["Location"] = _table_path(created)
    return created


def _table_path(created: GameCreated) -> str:
    return f"/v1/games/{created.game}/state"


@router.post("/games/{game}/join", summary="Take a free seat", openapi_extra=openapi.JOIN_BODY)
async def join(
    service: ServiceParam,
    request: Request,
    client: ClientAddress,
    game: GameIdParam,
    ack_request: AckParam,
    idempotency_key: IdempotencyKey = None,
) -> SeatJoined:
    return await service.join(game, await read_body(request), idempotency_key, client, ack_request)


@router.post("/games/{game}/withdraw-token", summary="Withdraw your seat's tokens, and get a new one")
async def withdraw_token(asked: GameParam) -> TokenIssued:
    return await asked.service.withdraw_token(asked.game, asked.bearer, asked.client)


@router.post("/games/{game}/start", summary="Shuffle and deal")
async def start(
    asked: GameParam, ack_request: AckParam, idempotency_key: IdempotencyKey = None
) -> GameStarted:
    service, game, bearer, client = asked
    return await service.start(game, bearer, idempotency_key, client, ack_request)


@router.post("/games/{game}/seats/{seat}/free", summary="Free a seat before the start")
async def free(
    asked: GameParam,
    seat: SeatParam,
    ack_request: AckParam,
    idempotency_key: IdempotencyKey = None,
) -> FreedSeat:
    service, game, *_ = asked
    entry, level = await _send_as_host(asked, FreeSeat(seat), idempotency_key, ack_request, SEATING_REFUSAL)
    if entry.events != (SeatFreed(seat),):
        raise reused_id_error()
    await service.ledger.webhooks().remove(game, seat)
    [invited] = await service.invitations.issue_to(game, [seat])
    return FreedSeat(
        game=game,
        seat=seat,
        invitation=invited.invitation,
        number=entry.number,
        level=level,
        head=hex_head(entry),
    )


@router.post(
    "/games/{game}/seats/{seat}/bot",
    summary="Let a bot take a free seat before the start",
    openapi_extra=openapi.SEAT_BOT_BODY,
)
async def seat_bot(
    asked: GameParam,
    request: Request,
    seat: SeatParam,
    ack_request: AckParam,
    idempotency_key: IdempotencyKey = None,
) -> SeatedBot:
    body = await read_body(request)
    for field in ("type", "seat"):
        if field in body:
            raise InvalidInputError(field, "there is no such field")
    command = read_command({**body, "seat": seat, "type": SeatBot.type})
    assert isinstance(command, SeatBot), "its type is the path's"
    entry, level = await _send_as_host(asked, command, idempotency_key, ack_request, SEATING_REFUSAL)
    taken = entry.events[0]
    if not isinstance(taken, SeatTaken) or (taken.seat, taken.policy) != (seat, command.policy):
        raise reused_id_error()
    return SeatedBot(
        game=asked.game,
        seat=seat,
        name=taken.name or "",
        policy=taken.policy,
        number=entry.number,
        level=level,
        head=hex_head(entry),
    )


@router.post(
    "/games/{game}/leave",
    summary="Leave a game for good",
    response_model=CommandAccepted,
    responses=openapi.UNKNOWN_VERDICT_RESPONSE,
)
async def leave(
    asked: GameParam, ack_request: AckParam, idempotency_key: IdempotencyKey = None
) -> CommandAccepted | Response:
    return await send_command(asked, {"type": "leave"}, ack_request, idempotency_key)


@router.post("/games/{game}/end", summary="End a game that nobody plays on")
async def end(asked: GameParam, ack_request: AckParam, idempotency_key: IdempotencyKey = None) -> GameClosed:
    entry, level = await _send_as_host(asked, EndGame(), idempotency_key, ack_request, END_REFUSAL)
    if not isinstance(entry.events[-1], GameEnded):
        raise reused_id_error()
    return GameClosed(game=asked.game, number=entry.number, level=level, head=hex_head(entry))


async def _send_as_host(
    asked: GameRequest, command: Command, id_: str | None, ack_request: AckRequest, seat_refusal: str
) -> tuple[ViewEntry, str]:
    """The entry of the host's command, and its level. Raises NotYoursError, with `seat_refusal`, if a seat
    sends it; or as `GatewayService.execute_decided`."""
    service, game, bearer, client = asked
    await service.views.require_game(game)
    holder = await service.authorization.require_holder(game, bearer)
    if holder.seat is not None:
        raise NotYoursError(seat_refusal)
    id_ = read_system_command_id(id_)
    service.rate_limiter.require((game, None))
    return await service.execute_decided(game, id_, command, ack_request, client)


MAX_OPENING: Final = 200  # entries in which people sit down


@router.post(
    "/games/{game}/forks",
    status_code=201,
    summary="Go on from where a game stood",
    openapi_extra=openapi.FORK_BODY | openapi.TOKEN_IS_OPTIONAL,
    responses=openapi.CREATED_RESPONSE,
    response_model_exclude_unset=True,
)
async def fork(
    asked: GameParam,
    request: Request,
    response: Response,
    ack_request: AckParam,
    idempotency_key: IdempotencyKey = None,
) -> GameForked:
    forked = await fork_game(asked, await read_body(request), idempotency_key, ack_request)
    response.headers["Location"] = _table_path(forked)
    return forked


async def fork_game(
    asked: GameRequest, body: Mapping[str, object], id_: str | None, ack_request: AckRequest
) -> GameForked:
    """A new game from where this one stood, by what the token's seat knew there, or by what was public.

    While this game goes on, the holder of a seat's token gets that seat of the new game too, because the fork
    shows what nobody else may see. The id sent again gives the same game and tokens, the seat's until that
    game is over."""
    service, game, bearer, client = asked
    await service.views.locate(game, client)
    asker = await service.views.resolve_viewer(game, bearer)
    if (await service.creations.find(game)).has_own_board:
        service.own_boards.require_creator(bearer)
    for field in sorted(body.keys() - {"at"}):
        raise InvalidInputError(field, "there is no such field")
    command = read_command({**body, "of": game, "asker": asker, "type": ForkGame.type})
    creators = [Creator.at(client)]
    if service.own_boards.is_operator(bearer):
        creators.append(OPERATOR)
    elif bearer:
        creators.append(Creator.holding(await service.authorization.require_holder(game, bearer)))
    created, entry = await service.create_from(command, id_, creators, ack_request)
    event = next((event for event in entry.events if isinstance(event, GameForkedEvent)), None)
    if event is None or event.of != game or event.asker not in (None, asker):
        raise reused_id_error()
    if len(creators) > 1:
        service.open_games.count_as(
            creators[-1], [Holder(created.game, seat) for seat in {None, event.asker}]
        )
    forked = GameForked(**created.model_dump(), of=game, at=event.at, afresh=event.afresh)
    if event.asker is not None:
        await service.require_unfinished(created.game, id_)
        forked.seat = event.asker
        forked.seat_token = await service.authorization.issue(created.game, event.asker)
    return forked


@router.post("/games/{game}/play-off", summary="Take your seat in the play-off")
async def play_off(asked: GameParam) -> PlayOffSeat:
    return await take_seat(asked)


async def take_seat(asked: GameRequest) -> PlayOffSeat:
    """The token's seat in the game that follows from this one, once that game exists: always the same.

    Raises RequestError: no play-off follows, the seat isn't in it, or it isn't created in time."""
    service, game, _, client = asked
    location = await service.views.locate(game, client)
    seat = await asked.require_seat()
    called = await _find_play_off(service, game, location)
    if seat not in called.seats:
        raise NotYoursError(f"seat {seat} isn't in the play-off, game {called.game}")
    await _await_game(service, called.game)
    new_seat = called.seats.index(seat)
    token = await service.authorization.issue(called.game, new_seat)
    return PlayOffSeat(game=called.game, seat=new_seat, token=token)


async def _find_play_off(service: GatewayService, game: str, location: GameLocation) -> PlayOffCalled:
    """The call of the next game, in a game's last entry. Raises NotFoundError without one."""
    last = location.length - 1
    entries = (await service.finished_games.read_view(game, None) or ())[last:] if location.archived else ()
    for entry in entries or await service.ledger.read_view(game, None, last, 1):
        for event in entry.events:
            if isinstance(event, PlayOffCalled):
                return event
    raise NotFoundError("GAME-1", f"no play-off follows from game {game}, or it isn't over yet")


async def _await_game(service: GatewayService, game: str) -> None:
    """Return once the game exists. Raises NotYetError if it doesn't within the time for an answer."""
    with service.hub.verdict_waiters.waiting(game, on_every_entry=True) as notified, suppress(TimeoutError):
        async with asyncio.timeout(service.limits.answer_timeout_s):
            while not await service.ledger.read_length(game):
                await notified.wait()
                notified.clear()
            return
    raise NotYetError(f"game {game} isn't there yet; ask again", 1)


@router.post(
    "/games/{game}/rematch", summary="Offer a rematch, or take your place in the one that was offered"
)
async def offer_rematch(asked: GameParam, ack_request: AckParam) -> Rematch:
    """A new game by the same rules, with the same bots and a place for each person, once this one is over. Whoever of them
    asks, it is the same game: each gets the invitation to the own seat, and the host the new host's token."""
    service, game, bearer, client = asked
    location = await service.views.locate(game, client)
    holder = await service.authorization.require_holder(game, bearer)
    if not await service.views.is_over(game, location):
        raise RefusedError("GAME-7", "a rematch can be offered once the game is over")
    if await _find_rematch(service, game, location) is None:
        if (await service.creations.find(game)).has_own_board:
            service.own_boards.require_creator(bearer)
        creators = [Creator.at(client), Creator.holding(holder)]
        id_ = service.logged_ids.derive_rematch_ids(game)[0]
        await service.create_from(await _same_again(service, game, location), id_, creators, ack_request)
    return await _place_in_rematch(service, game, location, holder)


@router.get(
    "/games/{game}/rematch",
    summary="Whether a rematch was offered, and your place in it",
    openapi_extra=openapi.TOKEN_IS_OPTIONAL,
)
async def find_rematch(asked: GameParam) -> Rematch:
    service, game, bearer, client = asked
    location = await service.views.locate(game, client)
    await service.views.resolve_viewer(game, bearer)
    holder = await service.authorization.require_holder(game, bearer) if bearer else None
    return await _place_in_rematch(service, game, location, holder)


async def _find_rematch(service: GatewayService, game: str, location: GameLocation) -> str | None:
    """The rematch of a game. It ends later than the game, so it may have left the engine only where the game has, too."""
    for id_ in service.logged_ids.derive_rematch_ids(game):
        for found in (service.logged_ids.derive_game_id(id_), *service.logged_ids.derive_other_game_ids(id_)):
            if await service.ledger.read_length(found):
                return found
            if location.archived and await service.finished_games.read_view(found, None) is not None:
                return found
    return None


async def _place_in_rematch(
    service: GatewayService, game: str, location: GameLocation, holder: Holder | None
) -> Rematch:
    """What the holder of a token of this game has in its rematch."""
    if (rematch := await _find_rematch(service, game, location)) is None:
        return Rematch(game=None, seat=None, invitation=None, token=None)
    if holder is None or holder.seat is None:
        token = await service.authorization.issue(rematch, None) if holder else None
        return Rematch(game=rematch, seat=None, invitation=None, token=token)
    invitations = await service.invitations.issue_to(rematch, [holder.seat])
    return Rematch(game=rematch, seat=holder.seat, invitation=invitations[0].invitation, token=None)


async def _same_again(service: GatewayService, game: str, location: GameLocation) -> Command:
    """The command that creates such a game once more: its seats are for those who sat there when it began."""
    entries, _ = await service.views.read_entries(game, None, 0, MAX_OPENING, location)
    events = [event for entry in entries for event in entry.events]
    created = next(event for event in events if isinstance(event, GameCreatedEvent))
    seats: list[dict[str, object]] = [{"kind": "human"} for _ in created.seats]
    for event in events:
        if isinstance(event, SeatTaken) and event.policy:
            seats[event.seat] = {"kind": "bot", "policy": event.policy, "name": event.name, "age": event.age}
    access = (await service.creations.find(game)).access
    body = {
        "type": CreateGame.type,
        "seats": seats,
        "ruleset": created.ruleset,
        "board": created.board_form or created.board,
        "options": created.parameters,
        **access._replace(by_invitation=True).fields(),
    }
    return read_command(body)
