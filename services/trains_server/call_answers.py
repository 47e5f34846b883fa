"""What a player answers to each call, read without trust. Everything raises InvalidInputError, which says what is
wrong with the answer."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from reprlib import repr as short_repr
from typing import Annotated, Final

from pydantic import Field

from schemas.boards.form import MAX_CITIES, MAX_ROUTES, BoardForm
from schemas.boards.trains import read_trains_map
from schemas.commands import ClaimRoute, KeepTickets, RequestCards
from schemas.contract import Schema
from schemas.errors import InvalidInputError
from services.bots.policies.trains_strategies import Connection, Destination
from services.trains.given_cards import NOT_ON_ANY_MAP
from services.trains.player_state import CONNECTION, City, parse_connection

MAX_ANSWER_BYTES: Final = 4_096  # of all answers but a map
MAX_MAP_BYTES: Final = 65_536  # what creates a game has no more
VOID: Final = "void"
MORE_CARDS: Final = "more cards"
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
    """The map that a player suggests; None for one that is larger than boards are, which is never read further."""
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
    """What is kept, by its places among the offered destinations; the answer names the three given back."""
    given_back = {Destination(*each) for each in GIVEN_BACK.read(value)}
    if len(given_back) < GIVEN_BACK_COUNT or not given_back <= set(offered):
        raise InvalidInputError("pick", f"{short_repr(value)} aren't three of those that were offered")
    return KeepTickets(tuple(index for index, each in enumerate(offered) if each not in given_back))


def read_action(value: object, routes: Mapping[Connection, str]) -> RequestCards | ClaimRoute:
    """What a player does at its turn; `routes` are the ids of all connections of the map. Whether it may is for the
    rules to say, also of a connection that isn't on the map."""
    if value == MORE_CARDS:
        return RequestCards()
    wanted = parse_connection(CONNECTION.read(value))
    route = routes.get(wanted)
    return NOT_ON_ANY_MAP if route is None else ClaimRoute(route, {wanted.color: wanted.length})
