"""The own part of a train game as plain values, half the size: without its board, which many games share."""

from __future__ import annotations

from collections.abc import Sequence, Sized
from functools import lru_cache
from operator import attrgetter
from typing import Final

from schemas.registry import OfItsGame
from schemas.trains.field_types import COLORS, LOCOMOTIVE
from services.referee.games.state import Packing
from services.referee.games.trains.board import Board, is_built_in
from services.referee.games.trains.train_state import (
    TRAIN_FIELDS,
    TRAIN_SEAT_FIELDS,
    TrainGame,
    TrainSeat,
    TrainState,
)

# Bytes, measured on the golden games at three moments of each: within a third of what unpacked ones take.
FARE_BYTES: Final = 64  # of the board
PART_BYTES: Final = 20  # of a seat's route, or of a card of a pile
BOARD_PART_BYTES: Final = 1_024  # of a board, for each city, route and ticket

OWN_FIELDS: Final = tuple(name for name in TRAIN_FIELDS if name != "board")
_own_fields_of = attrgetter(*OWN_FIELDS)
_seat_fields_of = attrgetter(*TRAIN_SEAT_FIELDS)


def _values_of(state: TrainGame) -> object:
    return _own_fields_of(state.own), [_seat_fields_of(seat_state.own) for seat_state in state.seats]


def _restore(state: TrainGame, board: Board, values: tuple[Sequence[OfItsGame], Sequence[OfItsGame]]) -> None:
    """The names of its board stand in place of equal strings: so it takes half of the memory."""
    fields, seats = values
    own, name_of = TrainState(), _names_of(board).get
    state.own, own.board = own, board
    _set_fields(own, OWN_FIELDS, fields)
    own.deck = [*map(name_of, own.deck, own.deck)]
    own.ticket_decks = {name: [*map(name_of, deck, deck)] for name, deck in own.ticket_decks.items()}
    own.route_owners = {name_of(route, route): seat for route, seat in own.route_owners.items()}
    own.open_routes = {
        fare: whole if routes == whole else (*map(name_of, routes, routes),)
        for (fare, whole), routes in zip(board.fares.items(), own.open_routes.values(), strict=False)
    }
    for seat_state, held_values in zip(state.seats, seats, strict=True):
        seat_state.own = held = TrainSeat()
        _set_fields(held, TRAIN_SEAT_FIELDS, held_values)
        held.hand = {name_of(card, card): count for card, count in held.hand.items()}
        held.tickets = [*map(name_of, held.tickets, held.tickets)]
        held.routes = [*map(name_of, held.routes, held.routes)]
        held.blocked_parallels = {*map(name_of, held.blocked_parallels, held.blocked_parallels)}


def _set_fields(target: object, names: Sequence[str], values: Sequence[object]) -> None:
    for name, value in zip(names, values, strict=True):
        setattr(target, name, value)


@lru_cache(maxsize=64)
def _names_of(board: Board) -> dict[str | None, str]:
    """The board's names and the cards', each by itself."""
    return {name: name for name in (*board.routes, *board.tickets, *board.cities, *COLORS, LOCOMOTIVE)}


def _size_bytes(state: TrainGame) -> int:
    piles: list[Sized] = [state.own.deck, *state.own.ticket_decks.values()]
    for seat_state in state.seats:
        piles += (seat_state.own.tickets, seat_state.own.routes)
    return FARE_BYTES * len(state.own.board.fares) + PART_BYTES * sum(map(len, piles))


def _board_bytes(board: Board) -> int:
    """About how much memory a board takes that isn't loaded anyway."""
    parts = len(board.cities) + len(board.routes) + len(board.tickets)
    return 0 if is_built_in(board) else BOARD_PART_BYTES * parts


def _board_of(state: TrainGame) -> Board:
    return state.own.board


TRAIN_PACKING: Final = Packing(_board_of, _values_of, _restore, _size_bytes, _board_bytes)
