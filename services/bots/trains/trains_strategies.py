"""The policies `hold-10` and `buy-now`, two strategies that players of Trains know.

Both take the first connection by its cities' names, then by length, then by colour. Hold-10 keeps the first destinations,
Buy-Now the last. Neither uses chance.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from schemas.commands import Command
from schemas.field_types import Seat
from schemas.trains.commands import ClaimRoute, KeepTickets, RequestCards
from services.bots.seat_random import SeatRandom
from services.referee.games.trains.board import Board
from services.referee.games.trains.train_state import TrainGame


class Destination(NamedTuple):
    """Two cities by their names, a < b; destinations compare in the order that strategies go by."""

    a: str
    b: str


class Connection(NamedTuple):
    """A connection by the names of its cities, a < b; they compare in the strategies' order too."""

    a: str
    b: str
    length: int
    color: str


class Strategy(NamedTuple):
    """A strategy: the destinations that it keeps, and when it asks for cards."""

    keeps_last: bool  # of the destinations in order, not the first
    max_cards_to_ask: int  # cards in its hand; with more it acquires what it can


HOLD_10: Final = Strategy(keeps_last=False, max_cards_to_ask=10)
BUY_NOW: Final = Strategy(keeps_last=True, max_cards_to_ask=-1)


# -- their choices, from what a player is shown --------------------------------------------------


def choose_destinations(strategy: Strategy, offered: Sequence[Destination], count: int) -> tuple[int, ...]:
    """The places in the offer of the destinations that it keeps, lowest first."""
    indices = sorted(range(len(offered)), key=lambda index: offered[index])
    return tuple(sorted(indices[len(indices) - count :] if strategy.keeps_last else indices[:count]))


def choose_connection(
    strategy: Strategy, cards_held: int, possible: Iterable[Connection]
) -> Connection | None:
    """The connection that it acquires of those it can, holding so many cards; None to ask for more."""
    return None if cards_held <= strategy.max_cards_to_ask else min(possible, default=None)


# -- as policies of bots --------------------------------------------------------------------


def hold_10(state: TrainGame, seat: Seat, commands: Sequence[Command], seat_random: SeatRandom) -> Command:
    """Keep the first destinations; ask for cards up to ten in hand, then acquire."""
    return _apply_strategy(HOLD_10, state, seat, commands)


def buy_now(state: TrainGame, seat: Seat, commands: Sequence[Command], seat_random: SeatRandom) -> Command:
    """Keep the last destinations; acquire whenever something can be."""
    return _apply_strategy(BUY_NOW, state, seat, commands)


def _apply_strategy(strategy: Strategy, state: TrainGame, seat: Seat, commands: Sequence[Command]) -> Command:
    seat_state = state.seats[seat].own
    table = state.own
    if any(isinstance(command, KeepTickets) for command in commands):
        offered = [destination_of(table.board, str(ticket)) for ticket in seat_state.offer]
        return KeepTickets(choose_destinations(strategy, offered, seat_state.min_keep))
    possible: dict[Connection, Command] = {}
    for command in commands:
        if isinstance(command, ClaimRoute):
            possible.setdefault(connection_of(table.board, command.route), command)
    chosen = choose_connection(strategy, seat_state.cards, possible)
    return RequestCards() if chosen is None else possible[chosen]


def connection_of(board: Board, name: str) -> Connection:
    """The route of this id as players of Trains name it."""
    route = board.routes[name]
    a, b = sorted((board.cities[route.a], board.cities[route.b]))
    return Connection(a, b, route.length, route.color)


def destination_of(board: Board, name: str) -> Destination:
    """The ticket of this id as players of Trains name it."""
    ticket = board.tickets[name]
    return Destination(*sorted((board.cities[ticket.a], board.cities[ticket.b])))
