"""How seats go out and games end; and what was refused."""

from __future__ import annotations

from schemas.events import (
    CommandRefused,
    GameEnded,
    LastTurnsBegan,
    PlayOffCalled,
    PlayOffEnded,
    SeatCleared,
    SeatGone,
    SeedRevealed,
    TicketsShown,
)  # fmt: skip
from services.referee.rules.table import Table


def last_turns_began(table: Table, event: LastTurnsBegan) -> None:
    table.ending, table.last = True, set(event.seats)


def seat_gone(table: Table, event: SeatGone) -> None:
    table.places[event.seat].gone = event.why
    table.awaits.pop(event.seat, None)
    table.last.discard(event.seat)


def seat_cleared(table: Table, event: SeatCleared) -> None:
    place = table.places[event.seat]
    for route_id in place.routes:
        route = table.board.routes[route_id]
        del table.owners[route_id]
        table.open[route.fare][route_id] = None
    for route_id in place.routes:
        reopen_twins(table, route_id)
    for standing in (table.stations, table.passengers):
        for city in [city for city, seat in standing.items() if seat == event.seat]:
            del standing[city]
    place.hand = dict.fromkeys(place.hand, 0)
    place.tickets, place.offer, place.routes, place.barred, place.stations = [], [], [], set(), {}
    place.cars, place.passengers = table.figures.cars, table.figures.passengers
    place.points, place.merchandise, place.mix = 0, 0, None
    table.passed.clear()  # routes are free again: who passed may have something to do now


def reopen_twins(table: Table, route_id: str) -> None:
    """A parallel route that had closed opens again, unless another one still closes it."""
    twins = table.board.routes[route_id].twins
    for twin in twins:
        if twin not in table.owners and not (table.closing and any(other in table.owners for other in twins)):
            table.open[table.board.routes[twin].fare][twin] = None


def tickets_shown(table: Table, event: TicketsShown) -> None:
    table.places[event.seat].tickets = list(event.tickets)


def play_off_called(table: Table, event: PlayOffCalled) -> None:
    table.called = event


def play_off_ended(table: Table, event: PlayOffEnded) -> None:
    """Told for those who read; nothing of this table changes by it."""


def seed_revealed(table: Table, event: SeedRevealed) -> None:
    table.seed = event.seed


def game_ended(table: Table, event: GameEnded) -> None:
    table.over = event
    table.turn = None
    table.awaits = {}


def command_refused(table: Table, event: CommandRefused) -> None:
    table.refusals[event.seat] = table.refusals.get(event.seat, 0) + 1
