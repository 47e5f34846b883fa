"""The kinds of cases, and how our own core answers each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Final, Literal, TypeAlias, TypeVar

from pydantic import Field

from schemas.contract import Schema
from schemas.errors import InvalidInputError
from schemas.field_types import Text
from schemas.refusals import CommandRefusedError
from schemas.trains.boards.trains import read_trains_map
from schemas.trains.commands import ClaimRoute, RequestCards
from services.bots.seat_random import SeatRandom
from services.bots.trains.trains_strategies import hold_10
from services.referee.games import legal
from services.referee.games.trains.board import build_board, with_pair_tickets
from services.tournament.knock_out import GameOutcome, Groups, run_knock_out
from services.trains.given_cards import NO_SEED, PLAYERS, TooFewDestinationsError, choose_map, play_game
from services.trains.player_state import (
    CONNECTION,
    MAX_SEATS,
    STATE,
    Colour,
    build_game_state,
    command_json,
    may_acquire,
    parse_connection,
)

TOO_FEW_DESTINATIONS: Final = "error: not enough destinations"

T = TypeVar("T")
CaseSolver: TypeAlias = Callable[[Sequence[object]], object]  # JSON values in, a JSON value out
NamedPlayer: TypeAlias = tuple[str, str]
Deck = Annotated[tuple[Colour, ...], Field(max_length=250)]
_Player = tuple[Annotated[Text, Field(pattern="^[A-Za-z]{1,50}$")], Literal["Hold-10", "Buy-Now", "Cheat"]]

DECK: Final[Schema[tuple[str, ...]]] = Schema(Deck, "cards")


def _players_schema(max_players: int) -> Schema[tuple[NamedPlayer, ...]]:
    return Schema(Annotated[tuple[_Player, ...], Field(min_length=2, max_length=max_players)], "players")


GAME_PLAYERS: Final = _players_schema(MAX_SEATS)
TOURNAMENT_PLAYERS: Final = _players_schema(50)


def answer_reachability(values: Sequence[object]) -> bool:
    """Whether a path of connections joins two cities."""
    start, end, map_json = require_values(values, "city, city, map")
    form = read_trains_map(map_json)
    ids = {city.name: city.id for city in form.cities}
    ends = frozenset(_city_id(ids, city) for city in (start, end))
    pairs = {frozenset((pair.a, pair.b)) for pair in with_pair_tickets(build_board(form), 1).tickets.values()}
    return ends in pairs


def _city_id(ids: Mapping[str, str], city: object) -> str:
    if not isinstance(city, str) or city not in ids:
        raise InvalidInputError("city", f"the map has no city {city!r}")
    return ids[city]


def answer_legality(values: Sequence[object]) -> bool:
    """Whether the player may acquire a connection."""
    map_json, player_state, wanted = require_values(values, "map, player state, connection")
    game_state = build_game_state(read_trains_map(map_json), read_value(STATE, player_state))
    return may_acquire(game_state, parse_connection(read_value(CONNECTION, wanted)))


def answer_strategy(values: Sequence[object]) -> str | list[str | int]:
    """The answer of Hold-10 at its turn, as JSON."""
    map_json, player_state = require_values(values, "map, player state")
    game_state = build_game_state(read_trains_map(map_json), read_value(STATE, player_state))
    command = hold_10(game_state, 0, legal(game_state, 0), SeatRandom(NO_SEED, 0))
    assert isinstance(command, ClaimRoute | RequestCards), "a turn has no other commands"
    return command_json(command, game_state.own.board)


def answer_game(values: Sequence[object]) -> str | list[object]:
    """The result of a game with given cards: the names of each rank, and of the removed players."""
    map_json, players_json, cards_json = require_values(values, "map, players, cards")
    form = read_trains_map(map_json)
    players, cards = read_value(GAME_PLAYERS, players_json), read_value(DECK, cards_json)
    try:
        outcome = play_game(form, [PLAYERS[kind] for _, kind in players], cards)
    except TooFewDestinationsError:
        return TOO_FEW_DESTINATIONS
    return [[_sorted_names(players, rank) for rank in outcome.ranks], _sorted_names(players, outcome.removed)]


def answer_tournament(values: Sequence[object]) -> str | list[list[str]]:
    """The result of a tournament whose games all have the same cards: the winners, and the removed players."""
    map_json, players_json, cards_json = require_values(values, "map, players, cards")
    form = read_trains_map(map_json)
    players, cards = read_value(TOURNAMENT_PLAYERS, players_json), read_value(DECK, cards_json)

    def play_round(groups: Groups) -> list[GameOutcome]:
        return [play_game(form, [PLAYERS[players[index][1]] for index in group], cards) for group in groups]

    try:
        choose_map([form], len(players), cards)
        result = run_knock_out(len(players), play_round)
    except TooFewDestinationsError:
        return TOO_FEW_DESTINATIONS
    return [_sorted_names(players, result.winners), _sorted_names(players, result.removed)]


def answer_case(solver: CaseSolver, values: Sequence[object]) -> object:
    """Our answer to a case's input, both as JSON values. Raises InvalidInputError, naming the bad value."""
    try:
        return solver(values)
    except CommandRefusedError as refusal:
        raise InvalidInputError("", f"there can be no such game: {refusal.reason}") from None


def require_values(values: Sequence[object], names: str) -> Sequence[object]:
    """The values, as many as `names` has (separated by commas). Raises InvalidInputError."""
    count = len(names.split(", "))
    if len(values) != count:
        raise InvalidInputError("", f"must hold {count} JSON values ({names}), not {len(values)}")
    return values


def read_value(schema: Schema[T], value: object) -> T:
    """The value read by this schema. Raises InvalidInputError, naming the value and its bad field."""
    try:
        return schema.read(value)
    except InvalidInputError as error:
        field = schema.name if error.field == schema.name else f"{schema.name}.{error.field}"
        raise InvalidInputError(field, error.reason) from None


def _sorted_names(players: Sequence[NamedPlayer], indices: Sequence[int]) -> list[str]:
    return sorted(players[index][0] for index in indices)


KINDS: Final[Mapping[str, CaseSolver]] = {
    "3-xmap": answer_reachability,
    "5-xlegal": answer_legality,
    "6-xstrategy": answer_strategy,
    "8-xref": answer_game,
    "9-xmanager": answer_tournament,
}
