"""Stations and passengers; and the last move, in which only what scores at once counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from schemas.commands import BuildStation, ClaimRoute, Command, MovePassenger
from schemas.field_types import LOCOMOTIVE
from services.bots.planning.move_plan import MovePlan
from services.referee.rules.moves.passengers import points_collected

TURNS_TO_SPARE: Final = 3  # a station isn't built before, while there are routes to claim
# The price of a card that a station takes: a locomotive, and what another one costs less for each spare one like it.
LOCOMOTIVE_PRICE: Final = 3.0
SPARE_CREDIT: Final = 0.1


def best_station(plan: MovePlan, stations: Sequence[BuildStation]) -> BuildStation | None:
    """A station for a route that the network borrows, once nothing else of it is left, or the end is near."""
    loans = sum(plan.situation.loans[route] for route in plan.network.routes)
    if plan.network.cars and plan.situation.turns_left > loans + TURNS_TO_SPARE:
        return None
    return cheapest_station(plan, stations)


def cheapest_station(plan: MovePlan, stations: Sequence[BuildStation]) -> BuildStation | None:
    """The station that costs least of those for a route that the network borrows."""
    situation, routes = plan.situation, plan.situation.graph.routes
    loans = sorted(route for route in plan.network.routes if situation.loans[route])
    cities = {city for route in loans for city in (routes[route].a, routes[route].b)}

    def price(station: BuildStation) -> float:
        spare = plan.needs.spare
        cards = station.cards.items()
        return sum(
            count * (LOCOMOTIVE_PRICE if card == LOCOMOTIVE else 1.0 - SPARE_CREDIT * spare.get(card, 0))
            for card, count in cards
        )

    return min((station for station in stations if station.city in cities), key=price, default=None)


def best_journey(plan: MovePlan, journeys: Sequence[MovePassenger]) -> MovePassenger | None:
    """The journey that collects most, if it is worth a turn."""
    best = max(journeys, key=lambda journey: points_collected(plan.state, journey), default=None)
    if best is None or points_collected(plan.state, best) < plan.weights.journey_points:
        return None
    return best


def best_last_move(
    plan: MovePlan,
    claims: Sequence[ClaimRoute],
    journeys: Sequence[MovePassenger],
    stations: Sequence[BuildStation],
) -> Command | None:
    """What brings most at once: a claim with the tickets that it makes, a journey, a station. None if nothing
    brings anything."""
    graph, situation = plan.situation.graph, plan.situation
    missing = [route for route in plan.network.routes if situation.costs[route]]
    ticket_points = 2 * sum(ticket.points for ticket in plan.network.planned)
    best: Command | None = None
    most = 0.0
    for claim in claims:
        route = graph.route_index[claim.route]
        points = graph.points[route] + plan.bonuses.trail.get(route, 0.0)
        points += ticket_points if missing == [route] else 0
        if points > most:
            best, most = claim, points
    for journey in journeys:
        if (collected := points_collected(plan.state, journey)) > most:
            best, most = journey, collected
    station = best_station(plan, stations) if len(missing) == 1 and ticket_points > most else None
    return station or best
