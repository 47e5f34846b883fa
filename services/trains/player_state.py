"""What a player of Trains is told at its turn, as a table that the core can judge on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, Literal

from pydantic import Field

from schemas.boards.form import BOARD, BoardForm
from schemas.commands import ClaimRoute, CreateGame, RequestCards, SeatPlan
from schemas.contract import Malformed, Shape, contract
from schemas.field_types import Int, Seat, Text
from schemas.positions import Position
from schemas.refusals import Refused
from services.bots.policies.trains_strategies import Connection, connection
from services.referee.rules import NotKept, Table, decide
from services.referee.rules.board import Board, build
from services.referee.rules.position_game import laid_out
from services.referee.rules.rulesets.trains import TRAINS

SEATS_LEAST, SEATS_MOST = TRAINS.figures.seats_least, TRAINS.figures.seats_most
CARS_MOST: Final = 100  # a state may come from a table with other figures

Colour = Literal["red", "blue", "green", "white"]
City = Annotated[Text, Field(max_length=25)]
Acquired = Annotated[tuple[tuple[City, City, Colour, Int], ...], Field(max_length=1000)]


@contract()
class Own:
    """What is the player's own."""

    destination1: tuple[City, City]
    destination2: tuple[City, City]
    rails: Annotated[Int, Field(ge=0, le=100)]
    cards: Mapping[Colour, Annotated[Int, Field(ge=0, le=250)]]
    acquired: Acquired


@contract()
class PlayerState:
    """A player's own things, and what each other player has acquired, in turn order after it."""

    this: Own
    acquired: Annotated[tuple[Acquired, ...], Field(max_length=SEATS_MOST - 1)]


STATE: Final[Shape[PlayerState]] = Shape(PlayerState, "player state")
CONNECTION: Final[Shape[tuple[str, str, str, int]]] = Shape(tuple[City, City, Colour, Int], "connection")


def table_of(form: BoardForm, state: PlayerState) -> Table:
    """The table as this player sees it, who is seat 0 and to act.

    Raises Malformed, naming what can't be."""
    seats = max(SEATS_LEAST, 1 + len(state.acquired))
    cards: dict[str, int] = {color: count for color, count in state.this.cards.items() if count}
    position = Position(
        hands=(cards,), cars=(state.this.rails,), routes=_owners(routes_by_connection(build(form)), state)
    )
    options = {"cars": CARS_MOST}
    plans = tuple(SeatPlan() for _ in range(seats))
    command = CreateGame(plans, TRAINS.name, BOARD.write(form), options=options, position=position)
    try:
        return laid_out(command)
    except NotKept as no:
        raise Malformed("player state", no.why) from None


def routes_by_connection(board: Board) -> dict[Connection, str]:
    """The ids of a board's routes by what players of Trains call them."""
    return {connection(board, name): name for name in board.routes}


def _owners(routes: Mapping[Connection, str], state: PlayerState) -> dict[str, Seat]:
    """Who has which route. Outside cases give one to two players at times: then it is taken all the same."""
    owners: dict[str, Seat] = {}
    for seat, acquired in enumerate((state.this.acquired, *state.acquired)):
        for wanted in acquired:
            route = routes.get(named(wanted))
            if route is None:
                raise Malformed("player state", f"the map has no connection {list(wanted)}")
            owners.setdefault(route, seat)
    return owners


def named(wanted: tuple[str, str, str, int]) -> Connection:
    """A connection as it is sent: city, city, colour, length."""
    a, b, color, length = wanted
    return Connection(a, b, length, color)


def written(command: ClaimRoute | RequestCards, board: Board) -> str | list[str | int]:
    """A command as players of Trains answer: `more cards`, or the connection."""
    if isinstance(command, RequestCards):
        return "more cards"
    wanted = connection(board, command.route)
    return [wanted.a, wanted.b, wanted.color, wanted.length]


def may_acquire(table: Table, wanted: Connection) -> bool:
    """Whether the player whose table this is may acquire it now."""
    route = routes_by_connection(table.board).get(wanted)
    try:
        decide(table, 0, ClaimRoute(route or "no-such-route", {wanted.color: wanted.length}))
    except Refused:
        return False
    return True
