"""What a server calls a player for, read without trust: a client may be anybody's opponent, and its server anybody's.

Everything raises InvalidInputError, which says what is wrong with the call."""

from __future__ import annotations

from reprlib import repr as short_repr
from typing import Annotated, Final, NamedTuple

from pydantic import Field

from schemas.boards.form import BoardForm
from schemas.boards.trains import read_trains_map
from schemas.contract import Schema
from schemas.errors import InvalidInputError
from schemas.field_types import Bool, Int
from services.bots.policies.trains_strategies import Destination
from services.trains.player_state import STATE, City, Colour, PlayerState

MAX_CALL_BYTES: Final = 1_048_576  # a map of any server, and what eight players have acquired
CALLS: Final = ("start", "setup", "pick", "play", "more", "win", "end")
_CARDS: Final[Schema[tuple[str, ...]]] = Schema(
    Annotated[tuple[Colour, ...], Field(max_length=1000)], "cards"
)
_RAILS: Final[Schema[int]] = Schema(Annotated[Int, Field(ge=0, le=100)], "rails")
_FLAG: Final[Schema[bool]] = Schema(Bool, "flag")
_OFFER: Final[Schema[tuple[tuple[str, str], ...]]] = Schema(
    Annotated[tuple[tuple[City, City], ...], Field(min_length=5, max_length=5)], "destinations"
)


class Call(NamedTuple):
    """A call and its arguments as JSON."""

    name: str
    arguments: list[object]


class Setup(NamedTuple):
    """What a player gets when a game begins."""

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


def read_flag(arguments: list[object]) -> bool:
    """The argument of `start`, `win` and `end`."""
    (flag,) = _require_count(arguments, 1)
    return _FLAG.read(flag)


def read_setup(arguments: list[object]) -> Setup:
    """The arguments of `setup`."""
    map_json, rails, cards = _require_count(arguments, 3)
    return Setup(read_trains_map(map_json), _RAILS.read(rails), _CARDS.read(cards))


def read_offer(arguments: list[object]) -> list[Destination]:
    """The argument of `pick`: five destinations."""
    (offer,) = _require_count(arguments, 1)
    return [Destination(*each) for each in _OFFER.read(offer)]


def read_player_state(arguments: list[object]) -> PlayerState:
    """The argument of `play`."""
    (player_state,) = _require_count(arguments, 1)
    return STATE.read(player_state)


def read_cards(arguments: list[object]) -> tuple[str, ...]:
    """The argument of `more`."""
    (cards,) = _require_count(arguments, 1)
    return _CARDS.read(cards)


def _require_count(arguments: list[object], count: int) -> list[object]:
    if len(arguments) != count:
        raise InvalidInputError("call", f"has {len(arguments)} arguments, not {count}")
    return arguments
