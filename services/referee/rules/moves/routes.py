"""Claiming routes (ROUTE-*, DOUBLE-*)."""

from __future__ import annotations

from collections.abc import Sequence

from schemas.commands import ClaimRoute
from schemas.field_types import Seat
from schemas.refusals import Refused
from services.referee.rules.board import Route
from services.referee.rules.moves.claim_effects import lay_cars
from services.referee.rules.moves.passengers import placing_offers, require_placeable
from services.referee.rules.moves.payment import require_held
from services.referee.rules.moves.tunnels import TUNNEL_KIND, begin_tunnel
from services.referee.rules.ruleset import Facts, Move
from services.referee.rules.table import Place, Table


def claim_offers(table: Table, seat: Seat) -> Sequence[ClaimRoute]:
    """Every claim that the seat can pay for, every way to pay it."""
    place = table.places[seat]
    barred = place.barred
    return [
        claims[route]
        for routes, ways in table.rules.payable(place.hand, table.open, place.cars, table.figures)
        for route in routes
        if route not in barred
        for claims in ways
    ]


def claim_offers_with_passengers(table: Table, seat: Seat) -> Sequence[ClaimRoute]:
    """The same, each also with a passenger in either city that can take one."""
    claims = claim_offers(table, seat)
    return [*claims, *placing_offers(table, seat, claims)]


def claim_route(table: Table, seat: Seat, command: ClaimRoute) -> Facts:
    place, cards = table.places[seat], command.cards
    route = table.board.routes.get(command.route)
    if route is None:
        raise Refused("ROUTE-1", f"there is no route {command.route}")
    require_open(table, place, route)
    for accepts in table.rules.payment:
        accepts(cards, route, table.figures)
    require_held(place, cards)
    if place.cars < route.length:
        raise Refused("ROUTE-4", f"{route.length} spaces, and you have {place.cars} cars left")
    if command.passenger is not None:
        require_placeable(table, seat, route, command.passenger)
    if route.kind == TUNNEL_KIND:
        yield from begin_tunnel(table, seat, route, cards)
    else:
        yield from lay_cars(table, seat, route, cards, command.passenger)


def require_open(table: Table, place: Place, route: Route) -> None:
    """The route can be claimed by this seat, whatever it would pay with."""
    if route.id in table.owners:
        raise Refused("ROUTE-1", f"{route.id} belongs to seat {table.owners[route.id]}")
    if route.id in place.barred:
        raise Refused("DOUBLE-1", f"you own a route parallel to {route.id}")
    if route.id not in table.open[route.fare]:
        seats = len(table.places)
        raise Refused("DOUBLE-2", f"{route.id} is closed: its parallel is taken, and {seats} play")


CLAIM_ROUTE = Move(ClaimRoute, claim_offers, claim_route)
CLAIM_ROUTE_WITH_PASSENGER = Move(ClaimRoute, claim_offers_with_passengers, claim_route)
