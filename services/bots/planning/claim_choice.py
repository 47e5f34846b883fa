"""Which route to claim now, and with which cards; or none, while the cards may get better."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from schemas.commands import ClaimRoute
from schemas.field_types import LOCOMOTIVE, PLUS_FOUR
from services.bots.planning.move_plan import MovePlan
from services.referee.rules.moves.tunnels import TUNNEL_KIND

if TYPE_CHECKING:
    from services.bots.policies.random_source import SeatRandom  # that package imports this module

PLACED: Final = 0.5  # the worth of a passenger that is placed,
PER_TOKEN: Final = 0.1  # and more for each point of the token there
PLUS_FOUR_SHARE: Final = 0.7  # of the price of a locomotive
TICKET_POINTS: Final = 10  # that another seat's ticket is thought to bring


def best_claim(plan: MovePlan, claims: Sequence[ClaimRoute], seat_random: SeatRandom) -> ClaimRoute | None:
    """The claim that is worth most, of those that are worth it now: first for the network, else for points."""
    best, most = None, 0.0
    for claim in claims:
        route = plan.situation.graph.route_index[claim.route]
        if route not in plan.wanted or _is_risky(plan, claim, seat_random):
            continue
        in_network = route in plan.network.routes
        worth = _network_worth(plan, claim, route) if in_network else _filler_worth(plan, claim, route)
        if worth > most:
            best, most = claim, worth
    return best


def _network_worth(plan: MovePlan, claim: ClaimRoute, route: int) -> float:
    """How much it matters to have the route, less the cards that others need more."""
    worth = 2 * plan.wanted[route] + plan.situation.graph.points[route] / 10 + passenger_worth(plan, claim)
    return worth - payment_price(plan, claim, route) - plan.weights.claim_threshold


def _filler_worth(plan: MovePlan, claim: ClaimRoute, route: int) -> float:
    """The points of a route outside of the network, less its cars at what they could bring elsewhere."""
    graph, weights, situation = plan.situation.graph, plan.weights, plan.situation
    cars = max(1, situation.cars - plan.network.cars)
    share = min(1.0, situation.turns_left * weights.filler_pace / cars)
    if _would_end(plan):
        share *= weights.end_share
    price = graph.lengths[route] * weights.filler_price * graph.car_value * share
    wilds = claim.cards.get(LOCOMOTIVE, 0) + claim.cards.get(PLUS_FOUR, 0)
    price += weights.filler_wild * max(0.0, wilds + min(0.0, plan.wilds_short))
    points = graph.points[route] + plan.bonuses.trail.get(route, 0.0)
    return points - price - payment_price(plan, claim, route) - weights.filler_margin


def passenger_worth(plan: MovePlan, claim: ClaimRoute) -> float:
    """What the passenger is worth that is placed with the claim."""
    if claim.passenger is None:
        return 0.0
    return PLACED + PER_TOKEN * sum(plan.state.tokens.get(claim.passenger, ())[:1])


def _would_end(plan: MovePlan) -> bool:
    """Whether the seat would have the game end: with two seats, when its tickets are made and it is ahead.

    Other tables go on: to wait for long routes brings more there than to stop one of several others."""
    if len(plan.state.seats) != 2 or plan.network.cars or plan.situation.cars > plan.weights.cars_to_end:
        return False
    own, other = plan.state.seats[plan.seat], plan.state.seats[1 - plan.seat]
    tickets = sum(ticket.points for ticket in plan.network.planned)
    tickets -= sum(ticket.points for ticket in plan.network.given_up)
    others = _route_points(plan, other.routes) + TICKET_POINTS * len(other.tickets)
    return _route_points(plan, own.routes) + tickets > others


def _route_points(plan: MovePlan, routes: Sequence[str]) -> int:
    graph = plan.situation.graph
    return sum(graph.points[graph.route_index[name]] for name in routes)


def payment_price(plan: MovePlan, claim: ClaimRoute, route: int) -> float:
    """What the cards of a payment are worth for other routes."""
    weights, need, hand = plan.weights, plan.needs.needs[route], plan.situation.hand
    wild_price = weights.wild_price * min(1.0, max(0.0, plan.wilds_short / weights.cards_short))
    least = plan.situation.graph.routes[route].locomotives
    price = wild_price * (claim.cards.get(LOCOMOTIVE, 0) - least)
    price += wild_price * PLUS_FOUR_SHARE * claim.cards.get(PLUS_FOUR, 0)
    for colour, count in claim.cards.items():
        if colour not in (LOCOMOTIVE, PLUS_FOUR):
            kept = plan.needs.reserved.get(colour, 0)
            if need.colour == colour:  # what is kept for this very route
                kept -= plan.situation.graph.lengths[route] - least - need.missing
            price += weights.reserved_price * max(0, count - hand.get(colour, 0) + kept)
    return price


def _is_risky(plan: MovePlan, claim: ClaimRoute, seat_random: SeatRandom) -> bool:
    """Whether a tunnel may ask for a card that the seat doesn't have. Now and then the risk is taken, so that
    a table of planners doesn't wait for ever."""
    if plan.state.board.routes[claim.route].kind != TUNNEL_KIND or not plan.state.rule_options.tunnel_cards:
        return False
    hand = plan.state.seats[plan.seat].hand
    left = sum(hand[card] - claim.cards.get(card, 0) for card in {*claim.cards, LOCOMOTIVE})
    return left < 1 and seat_random.choice((True, True, False))
