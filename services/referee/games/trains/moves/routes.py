"""Claiming routes (ROUTE-*, DOUBLE-*)."""

from __future__ import annotations

from collections.abc import Sequence

from schemas.field_types import Seat
from schemas.refusals import CommandRefusedError
from schemas.trains.commands import ClaimRoute
from services.referee.games.seat_state import SeatState
from services.referee.games.state import EventStream, Move
from services.referee.games.trains.board import Route
from services.referee.games.trains.moves.claim_effects import complete_claim
from services.referee.games.trains.moves.passengers import placement_offers, require_placeable
from services.referee.games.trains.moves.payment import require_held
from services.referee.games.trains.moves.tunnels import TUNNEL_KIND, begin_tunnel
from services.referee.games.trains.train_state import TrainGame


def claim_offers(state: TrainGame, seat: Seat) -> Sequence[ClaimRoute]:
    """Every claim that the seat can pay for, with every way to pay for it."""
    seat_state = state.seats[seat].own
    blocked_parallels = seat_state.blocked_parallels
    offers: list[ClaimRoute] = []
    for routes, ways in state.ruleset.parts.find_payable_routes(
        seat_state.hand, state.own.open_routes, seat_state.cars, state.rule_options
    ):
        for route in routes:
            if route not in blocked_parallels:
                for claims in ways:
                    offers.append(claims[route])
    return offers


def claim_offers_with_passengers(state: TrainGame, seat: Seat) -> Sequence[ClaimRoute]:
    """Every claim, and each again with a passenger in either city that can take one (PASSENGER-1)."""
    claims = claim_offers(state, seat)
    return [*claims, *placement_offers(state, seat, claims)]


def claim_route(state: TrainGame, seat: Seat, command: ClaimRoute) -> EventStream:
    """A claim; of a tunnel its first step. Refuses with ROUTE-*, DOUBLE-*, FERRY-1 or PASSENGER-1."""
    seat_state, cards = state.seats[seat], command.cards
    route = state.own.board.routes.get(command.route)
    if route is None:
        raise CommandRefusedError("ROUTE-1", f"there is no route {command.route}")
    require_open(state, seat_state, route)
    for check_payment in state.ruleset.parts.payment_checks:
        check_payment(cards, route, state.rule_options)
    require_held(seat_state, cards)
    if seat_state.own.cars < route.length:
        raise CommandRefusedError(
            "ROUTE-4", f"{route.length} spaces, and you have {seat_state.own.cars} cars left"
        )
    if command.passenger is not None:
        require_placeable(state, seat, route, command.passenger)
    if route.kind == TUNNEL_KIND:
        return begin_tunnel(state, seat, route, cards)
    return complete_claim(state, seat, route, cards, command.passenger)


def require_open(state: TrainGame, seat_state: SeatState, route: Route) -> None:
    """Refuses (ROUTE-1, DOUBLE-1, DOUBLE-2) unless this seat may claim the route with some payment."""
    table = state.own
    if route.id in table.open_routes[route.fare] and route.id not in seat_state.own.blocked_parallels:
        return
    if route.id in table.route_owners:
        raise CommandRefusedError("ROUTE-1", f"{route.id} belongs to seat {table.route_owners[route.id]}")
    if route.id in seat_state.own.blocked_parallels:
        raise CommandRefusedError("DOUBLE-1", f"you own a route parallel to {route.id}")
    seat_count = len(state.seats)
    raise CommandRefusedError(
        "DOUBLE-2", f"{route.id} is closed: its parallel is taken, and {seat_count} play"
    )


CLAIM_ROUTE = Move(ClaimRoute, claim_offers, claim_route)
CLAIM_ROUTE_WITH_PASSENGER = Move(ClaimRoute, claim_offers_with_passengers, claim_route)
