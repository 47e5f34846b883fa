"""Going out of a game: by choice, out of time, or removed (CLOCK-2, CONDUCT-2, CONDUCT-3)."""

from __future__ import annotations

from schemas.commands import CallTime, Leave
from schemas.events import SeatCleared, SeatGone, TicketsKept, TunnelDeclined
from schemas.field_types import Seat
from schemas.refusals import require
from schemas.rule_options import GoneBecause
from services.referee.rules.moves.tickets import give_back
from services.referee.rules.moves.turns import clear_up, next_turn
from services.referee.rules.ruleset import Facts
from services.referee.rules.table import TICKETS, TUNNEL, Table


def leave(table: Table, seat: Seat, command: Leave) -> Facts:
    require(not table.over, "GAME-3", "the game is over")
    yield from go_out(table, seat, "removed" if table.figures.strict else "left")


def call_time(table: Table, seat: Seat | None, command: CallTime) -> Facts:
    """The house says that a seat's time is over; the recorded times must say so too."""
    late = command.seat
    require(late < len(table.places), "CLOCK-2", f"there is no seat {late}")
    require(late in table.awaits, "CLOCK-2", f"the table isn't waiting for seat {late}")
    require(table.out_of_time(late), "CLOCK-2", f"seat {late} has time left")
    yield from go_out(table, late, "removed" if table.figures.strict else "out of time")


def go_out(table: Table, seat: Seat, why: GoneBecause) -> Facts:
    """Answer what is open in the plainest way, then go on without the seat."""
    place, setting_up = table.places[seat], table.turn is None
    if table.awaits.get(seat) == TICKETS and why != "removed":
        yield TicketsKept(seat, tuple(place.offer[: place.least]))
        if not setting_up:
            yield from give_back(table, seat)
    if table.awaits.get(seat) == TICKETS and why == "removed" and setting_up:
        yield from table.rules.unchosen(table, seat)
    if table.awaits.get(seat) == TUNNEL:
        yield TunnelDeclined(seat)
    yield SeatGone(seat, why)
    if why == "removed":
        yield SeatCleared(seat)
    if setting_up:
        yield from table.rules.chosen(table)
    elif table.turn == seat:
        yield from clear_up(table)
        yield from next_turn(table, seat)
