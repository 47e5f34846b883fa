"""Laying cars: what a claim comes to once it is paid for (ROUTE-6, PASSENGER-1)."""

from __future__ import annotations

from schemas.events import PassengerPlaced, RouteClaimed
from schemas.words import Seat
from services.referee.rules.board import Route
from services.referee.rules.moves.turns import end_turn
from services.referee.rules.ruleset import Cards, Facts
from services.referee.rules.table import Table


def lay_cars(table: Table, seat: Seat, route: Route, cards: Cards, passenger: str | None) -> Facts:
    """The route is the seat's, and its turn is over."""
    points = table.figures.route_points[route.length - 1]
    assert points is not None, "a board whose routes score nothing isn't played on"
    yield RouteClaimed(seat, route.id, cards, points if table.figures.points_at_once else 0)
    if passenger is not None:
        yield PassengerPlaced(seat, passenger)
    yield from end_turn(table, seat)
