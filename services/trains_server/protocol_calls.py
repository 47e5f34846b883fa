"""The protocol's calls and answers, both read without trust: a server and a client may be anybody's.

Everything that reads raises InvalidInputError, which says what is wrong."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from reprlib import repr as short_repr
from typing import Annotated, Final, NamedTuple

from pydantic import Field

from schemas.contract import Schema
from schemas.errors import InvalidInputError
from schemas.field_types import Bool, Int, Seat
from schemas.trains.boards.form import MAX_CITIES, MAX_ROUTES, BoardForm
from schemas.trains.boards.trains import COLORS, read_trains_map
from schemas.trains.commands import ClaimRoute, KeepTickets, RequestCards
from services.bots.trains.trains_strategies import Connection, Destination, connection_of, destination_of
from services.referee.games.trains.train_state import TrainGame
from services.trains.given_cards import NOT_ON_ANY_MAP
from services.trains.player_state import (
    CONNECTION,
    MORE_CARDS,
    City,
    Colour,
    connection_json,
    parse_connection,
)

MAX_CALL_BYTES: Final = 1_048_576  # a map of any server, and what eight players have acquired
CALLS: Final = ("start", "setup", "pick", "play", "more", "win", "end")
CARDS: Final[Schema[tuple[str, ...]]] = Schema(Annotated[tuple[Colour, ...], Field(max_length=1000)], "cards")
_RAILS: Final[Schema[int]] = Schema(Annotated[Int, Field(ge=0, le=100)], "rails")
FLAG: Final[Schema[bool]] = Schema(Bool, "flag")
_OFFER: Final[Schema[tuple[tuple[str, str], ...]]] = Schema(
    Annotated[tuple[tuple[City, City], ...], Field(min_length=5, max_length=5)], "destinations"
)


class Call(NamedTuple):
    """A call and its arguments as JSON."""

    name: str
    arguments: list[object]


class Setup(NamedTuple):
    """The arguments of `setup`, when a game begins."""

    form: BoardForm
    rails: int
    cards: tuple[str, ...]


def read_call(value: object) -> Call:
    """A call of the protocol."""
    match value:
        case [str(name), list(arguments)] if name in CALLS:
            return Call(name, arguments)
    raise InvalidInputError(
        "call", f"must be one of {', '.join(CALLS)} with its arguments, not {short_repr(value)}"
    )


def read_setup(map_json: object, rails: object, cards: object) -> Setup:
    """The arguments of `setup`."""
    return Setup(read_trains_map(map_json), _RAILS.read(rails), CARDS.read(cards))


def read_offer(value: object) -> list[Destination]:
    """The argument of `pick`: five destinations."""
    return [Destination(*each) for each in _OFFER.read(value)]


# -- arguments of calls, from a seat's view of its game --------------------------------------


def cards_in_hand(state: TrainGame, seat: Seat) -> list[str]:
    """The seat's cards, as a list of colours."""
    hand = state.seats[seat].own.hand
    return [color for color in COLORS for _ in range(hand.get(color, 0))]


def offered_destinations(state: TrainGame, seat: Seat) -> list[Destination]:
    """The destinations that the seat chooses from, in the order of the offer."""
    return [destination_of(state.own.board, str(ticket)) for ticket in state.seats[seat].own.offer]


def acquired_connections(state: TrainGame, seat: Seat) -> list[list[str | int]]:
    """The seat's connections, each as city, city, colour, length."""
    return [
        *map(
            connection_json,
            sorted(connection_of(state.own.board, route) for route in state.seats[seat].own.routes),
        )
    ]


def player_state_json(state: TrainGame, seat: Seat) -> dict[str, object]:
    """The player state: the seat's own part, and the connections of those still in the game, in turn order after it."""
    seat_state, order = state.seats[seat].own, state.turn_order
    place = order.index(seat)
    after = [other for other in (*order[place + 1 :], *order[:place]) if other in state.active_seats]
    kept = [list(destination_of(state.own.board, str(ticket))) for ticket in seat_state.tickets]
    own = {
        "destination1": kept[0],
        "destination2": kept[1],
        "rails": seat_state.cars,
        "cards": {color: seat_state.hand.get(color, 0) for color in COLORS},
        "acquired": acquired_connections(state, seat),
    }
    return {"this": own, "acquired": [acquired_connections(state, other) for other in after]}


# -- answers ---------------------------------------------------------------------------------

MAX_ANSWER_BYTES: Final = 4_096  # of all answers but a map
MAX_MAP_BYTES: Final = 65_536  # what creates a game has no more
VOID: Final = "void"
GIVEN_BACK_COUNT: Final = 3
GIVEN_BACK: Final[Schema[tuple[tuple[str, str], ...]]] = Schema(
    Annotated[tuple[tuple[City, City], ...], Field(min_length=GIVEN_BACK_COUNT, max_length=GIVEN_BACK_COUNT)],
    "pick",
)
_NAME: Final = re.compile(r"[A-Za-z]{1,50}")


def read_name(value: object) -> str:
    """The name of a player who signs up."""
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise InvalidInputError("name", f"must be 1 to 50 letters, not {short_repr(value)}")
    return value


def read_map(value: object) -> BoardForm | None:
    """The map that a player suggests; None, unread, for one that is larger than boards are."""
    match value:
        case {"cities": list(cities), "connections": dict(connections)}:
            pairs = [pair for row in connections.values() if isinstance(row, dict) for pair in row.values()]
            route_count = sum(len(pair) for pair in pairs if isinstance(pair, dict))
            if len(cities) > MAX_CITIES or route_count > MAX_ROUTES:
                return None
    return read_trains_map(value)


def require_void(value: object) -> None:
    """The answer to a call that asks for nothing."""
    if value != VOID:
        raise InvalidInputError("answer", f'must be "{VOID}", not {short_repr(value)}')


def read_choice(value: object, offered: Sequence[Destination]) -> KeepTickets:
    """The destinations kept, by their places in the offer; the answer names the three given back."""
    given_back = {Destination(*each) for each in GIVEN_BACK.read(value)}
    if len(given_back) < GIVEN_BACK_COUNT or not given_back <= set(offered):
        raise InvalidInputError("pick", f"{short_repr(value)} aren't three of those that were offered")
    return KeepTickets(tuple(index for index, each in enumerate(offered) if each not in given_back))


def read_action(value: object, routes: Mapping[Connection, str]) -> RequestCards | ClaimRoute:
    """A player's turn as a command; `routes` are the ids of the map's connections. The rules judge it, on the map or not."""
    if value == MORE_CARDS:
        return RequestCards()
    wanted = parse_connection(CONNECTION.read(value))
    route = routes.get(wanted)
    return NOT_ON_ANY_MAP if route is None else ClaimRoute(route, {wanted.color: wanted.length})
