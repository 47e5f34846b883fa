"""The effects of a claim that was paid for: cars laid, points scored (ROUTE-6, PASSENGER-1)."""

from __future__ import annotations

from schemas.field_types import Seat
from schemas.trains.events import PassengerPlaced, RouteClaimed
from services.referee.games.state import EventStream
from services.referee.games.trains.board import Route, points_for_route
from services.referee.games.trains.moves.turns import end_turn
from services.referee.games.trains.train_state import Cards, TrainGame


def complete_claim(
    state: TrainGame, seat: Seat, route: Route, cards: Cards, passenger: str | None
) -> EventStream:
    """The seat gets the route, places a passenger in the city `passenger` if given, and ends its turn."""
    points = points_for_route(state.rule_options, route) if state.rule_options.points_at_once else 0
    yield RouteClaimed(seat, route.id, cards, points)
    if passenger is not None:
        yield PassengerPlaced(seat, passenger)
    yield from end_turn(state, seat)
