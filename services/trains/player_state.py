"""The player state of Trains, which a player gets at its turn, as a state of the core; connections and commands as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, Literal

from pydantic import Field

from schemas.commands import CreateGame, SeatPlan
from schemas.contract import Schema, contract
from schemas.errors import InvalidInputError
from schemas.field_types import Int, Seat, Text
from schemas.refusals import CommandRefusedError
from schemas.trains.boards.form import BOARD_SCHEMA, BoardForm
from schemas.trains.commands import ClaimRoute, RequestCards
from schemas.trains.positions import Position
from services.bots.trains.trains_strategies import Connection, connection_of
from services.referee.games import UnloggedRejectionError, decide
from services.referee.games.trains.board import Board, build_board
from services.referee.games.trains.rulesets import TRAINS
from services.referee.games.trains.setup.position import start_from_position
from services.referee.games.trains.train_state import TrainGame

MIN_SEATS, MAX_SEATS = TRAINS.rule_options.seats_least, TRAINS.rule_options.seats_most
MORE_CARDS: Final = "more cards"
MAX_CARS: Final = 100  # a state may come from a game with other rule options

Colour = Literal["red", "blue", "green", "white"]
City = Annotated[Text, Field(max_length=25)]
Acquired = Annotated[tuple[tuple[City, City, Colour, Int], ...], Field(max_length=1000)]


@contract()
class Own:
    """The player's own part."""

    destination1: tuple[City, City]
    destination2: tuple[City, City]
    rails: Annotated[Int, Field(ge=0, le=100)]
    cards: Mapping[Colour, Annotated[Int, Field(ge=0, le=250)]]
    acquired: Acquired


@contract()
class PlayerState:
    """A player's own part, and the connections of the other players, in turn order after it."""

    this: Own
    acquired: Annotated[tuple[Acquired, ...], Field(max_length=MAX_SEATS - 1)]


STATE: Final[Schema[PlayerState]] = Schema(PlayerState, "player state")
CONNECTION: Final[Schema[tuple[str, str, str, int]]] = Schema(tuple[City, City, Colour, Int], "connection")


def build_game_state(form: BoardForm, player_state: PlayerState) -> TrainGame:
    """The state as this player sees it: it is seat 0, and has to act. Raises InvalidInputError, naming the bad value."""
    seats = max(MIN_SEATS, 1 + len(player_state.acquired))
    cards: dict[str, int] = {color: count for color, count in player_state.this.cards.items() if count}
    position = Position(
        hands=(cards,),
        cars=(player_state.this.rails,),
        routes=route_owners(routes_by_connection(build_board(form)), player_state),
    )
    options = {"cars": MAX_CARS}
    plans = tuple(SeatPlan() for _ in range(seats))
    command = CreateGame(plans, TRAINS.name, BOARD_SCHEMA.write(form), options=options, position=position)
    try:
        return start_from_position(command)
    except UnloggedRejectionError as rejection:
        raise InvalidInputError("player state", rejection.reason) from None


def routes_by_connection(board: Board) -> dict[Connection, str]:
    """The ids of a board's routes by their connections."""
    return {connection_of(board, name): name for name in board.routes}


def route_owners(routes: Mapping[Connection, str], player_state: PlayerState) -> dict[str, Seat]:
    """The owner of each route; the first one, if a case of others gives it to two. Raises InvalidInputError."""
    owners: dict[str, Seat] = {}
    for seat, acquired in enumerate((player_state.this.acquired, *player_state.acquired)):
        for wanted in acquired:
            route = routes.get(parse_connection(wanted))
            if route is None:
                raise InvalidInputError("player state", f"the map has no connection {list(wanted)}")
            owners.setdefault(route, seat)
    return owners


def parse_connection(wanted: tuple[str, str, str, int]) -> Connection:
    """The connection that a value in the form of Trains names: city, city, colour, length."""
    a, b, color, length = wanted
    return Connection(a, b, length, color)


def connection_json(connection: Connection) -> list[str | int]:
    """A connection in the form of Trains: city, city, colour, length."""
    return [connection.a, connection.b, connection.color, connection.length]


def command_json(command: ClaimRoute | RequestCards, board: Board) -> str | list[str | int]:
    """A command in the form of Trains: `more cards`, or the connection."""
    if isinstance(command, RequestCards):
        return MORE_CARDS
    return connection_json(connection_of(board, command.route))


def may_acquire(state: TrainGame, wanted: Connection) -> bool:
    """Whether seat 0 may acquire the connection now."""
    route = routes_by_connection(state.own.board).get(wanted)
    try:
        decide(state, 0, ClaimRoute(route or "no-such-route", {wanted.color: wanted.length}))
    except CommandRefusedError:
        return False
    return True
