"""The policies `hold-10` and `buy-now`, two strategies that players of Trains know each other by.

Both take what comes first (Buy-Now: the destinations that come last), in the order of the cities'
names, then of length, then of colour. Neither rolls a die.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from schemas.commands import ClaimRoute, Command, KeepTickets, RequestCards
from schemas.field_types import Seat
from services.bots.policies.random_source import Dice
from services.referee.rules import Table
from services.referee.rules.board import Board


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
    keeps_last: bool  # of the destinations in order, not the first
    asks_up_to: int  # cards in its hand; with more it acquires what it can


HOLD_10: Final = Strategy(keeps_last=False, asks_up_to=10)
BUY_NOW: Final = Strategy(keeps_last=True, asks_up_to=-1)


# -- what they do, from what they are told --------------------------------------------------


def kept(strategy: Strategy, offered: Sequence[Destination], count: int) -> tuple[int, ...]:
    """The places in the offer of the destinations that it keeps, lowest first."""
    places = sorted(range(len(offered)), key=lambda place: offered[place])
    return tuple(sorted(places[len(places) - count :] if strategy.keeps_last else places[:count]))


def acquired(strategy: Strategy, held: int, possible: Iterable[Connection]) -> Connection | None:
    """The connection that it acquires of those it can, holding so many cards; None to ask for more."""
    return None if held <= strategy.asks_up_to else min(possible, default=None)


# -- as policies of bots --------------------------------------------------------------------


def hold_10(table: Table, seat: Seat, commands: Sequence[Command], dice: Dice) -> Command:
    """Keep the first destinations; ask for cards up to ten in hand, then acquire."""
    return _follow(HOLD_10, table, seat, commands)


def buy_now(table: Table, seat: Seat, commands: Sequence[Command], dice: Dice) -> Command:
    """Keep the last destinations; acquire whenever something can be."""
    return _follow(BUY_NOW, table, seat, commands)


def _follow(strategy: Strategy, table: Table, seat: Seat, commands: Sequence[Command]) -> Command:
    place = table.places[seat]
    if any(isinstance(command, KeepTickets) for command in commands):
        offered = [_destination(table.board, str(ticket)) for ticket in place.offer]
        return KeepTickets(kept(strategy, offered, place.least))
    possible: dict[Connection, Command] = {}
    for command in commands:
        if isinstance(command, ClaimRoute):
            possible.setdefault(connection(table.board, command.route), command)
    chosen = acquired(strategy, place.cards, possible)
    return RequestCards() if chosen is None else possible[chosen]


def connection(board: Board, name: str) -> Connection:
    """The route of this id as players of Trains name it."""
    route = board.routes[name]
    a, b = sorted((board.cities[route.a], board.cities[route.b]))
    return Connection(a, b, route.length, route.color)


def _destination(board: Board, name: str) -> Destination:
    ticket = board.tickets[name]
    return Destination(*sorted((board.cities[ticket.a], board.cities[ticket.b])))
