"""What our own core answers to each kind of case."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Final, Literal, TypeAlias, TypeVar

from pydantic import Field

from schemas.boards.trains import read_trains_map
from schemas.commands import ClaimRoute, RequestCards
from schemas.contract import Malformed, Shape
from schemas.field_types import Text
from schemas.refusals import Refused
from services.bots.policies.random_source import Dice
from services.bots.policies.trains_strategies import hold_10
from services.referee.rules import legal
from services.referee.rules.board import build, with_pairs
from services.trains.given_cards import NO_SEED, PLAYERS, Outcome, TooFewDestinations, laid, play
from services.trains.player_state import (
    CONNECTION,
    SEATS_MOST,
    STATE,
    Colour,
    may_acquire,
    named,
    table_of,
    written,
)
from services.trains.tournament import tournament

TOO_FEW: Final = "error: not enough destinations"

T = TypeVar("T")
Answer: TypeAlias = Callable[[Sequence[Any]], Any]
Player: TypeAlias = tuple[str, str]
Deck = Annotated[tuple[Colour, ...], Field(max_length=250)]
_Player = tuple[Annotated[Text, Field(pattern="^[A-Za-z]{1,50}$")], Literal["Hold-10", "Buy-Now", "Cheat"]]

DECK: Final[Shape[tuple[str, ...]]] = Shape(Deck, "cards")


def _players(most: int) -> Shape[tuple[Player, ...]]:
    return Shape(Annotated[tuple[_Player, ...], Field(min_length=2, max_length=most)], "players")


ONE_GAME: Final = _players(SEATS_MOST)
MANY: Final = _players(50)


def reachable(given: Sequence[Any]) -> bool:
    """Whether a path of connections joins two cities."""
    start, end, spelled = _row(given, "city, city, map")
    form = read_trains_map(spelled)
    ids = {city.name: city.id for city in form.cities}
    for city in (start, end):
        if not isinstance(city, str) or city not in ids:
            raise Malformed("city", f"the map has no city {city!r}")
    pairs = {frozenset((pair.a, pair.b)) for pair in with_pairs(build(form), 1).tickets.values()}
    return frozenset((ids[start], ids[end])) in pairs


def legality(given: Sequence[Any]) -> bool:
    """Whether the player may acquire a connection."""
    spelled, state, wanted = _row(given, "map, player state, connection")
    table = table_of(read_trains_map(spelled), _read(STATE, state))
    return may_acquire(table, named(_read(CONNECTION, wanted)))


def strategy(given: Sequence[Any]) -> Any:
    """What Hold-10 answers at its turn."""
    spelled, state = _row(given, "map, player state")
    table = table_of(read_trains_map(spelled), _read(STATE, state))
    command = hold_10(table, 0, legal(table, 0), Dice(NO_SEED, 0))
    assert isinstance(command, ClaimRoute | RequestCards), "there is nothing else in a turn"
    return written(command, table.board)


def game(given: Sequence[Any]) -> Any:
    """How a game with given cards comes out: the names by rank, and the removed."""
    spelled, players, cards = _row(given, "map, players, cards")
    form, players, cards = read_trains_map(spelled), _read(ONE_GAME, players), _read(DECK, cards)
    try:
        came = play(form, [PLAYERS[kind] for _, kind in players], cards)
    except TooFewDestinations:
        return TOO_FEW
    return [[_names(players, rank) for rank in came.ranks], _names(players, came.removed)]


def knock_out(given: Sequence[Any]) -> Any:
    """How a tournament comes out, every game of it with the same cards: winners, and the removed."""
    spelled, players, cards = _row(given, "map, players, cards")
    form, players, cards = read_trains_map(spelled), _read(MANY, players), _read(DECK, cards)

    def one_game(at_table: Sequence[int]) -> Outcome:
        return play(form, [PLAYERS[players[place][1]] for place in at_table], cards)

    try:
        laid(form, min(len(players), SEATS_MOST), cards)
        came = tournament(len(players), one_game)
    except TooFewDestinations:
        return TOO_FEW
    return [_names(players, came.winners), _names(players, came.removed)]


def answer(kind: str, given: Sequence[Any]) -> Any:
    """What comes out of a case's input. Raises Malformed, naming what is wrong with the input."""
    try:
        return KINDS[kind](given)
    except Refused as no:
        raise Malformed("", f"there can be no such game: {no.why}") from None


def _row(given: Sequence[Any], names: str) -> Sequence[Any]:
    count = len(names.split(", "))
    if len(given) != count:
        raise Malformed("", f"must hold {count} JSON values ({names}), not {len(given)}")
    return given


def _read(shape: Shape[T], value: object) -> T:
    """The value of this shape, or Malformed, which says of which value a field is wrong."""
    try:
        return shape.read(value)
    except Malformed as error:
        field = shape.name if error.field == shape.name else f"{shape.name}.{error.field}"
        raise Malformed(field, error.why) from None


def _names(players: Sequence[Player], places: Sequence[int]) -> list[str]:
    return sorted(players[place][0] for place in places)


KINDS: Final[Mapping[str, Answer]] = {
    "3-xmap": reachable,
    "5-xlegal": legality,
    "6-xstrategy": strategy,
    "8-xref": game,
    "9-xmanager": knock_out,
}
