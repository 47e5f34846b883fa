"""Claims, stations and journeys: which of them is worth a turn, and with which cards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from schemas.commands import Command
from schemas.trains.commands import BuildStation, ClaimRoute, MovePassenger
from schemas.trains.field_types import LOCOMOTIVE, PLUS_FOUR
from services.bots.seat_random import SeatRandom
from services.bots.trains.planning.move_plan import MovePlan
from services.bots.trains.planning.plan_weights import WEIGHTS
from services.referee.games.trains.moves.passengers import points_collected
from services.referee.games.trains.moves.routes import TUNNEL_KIND

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
    return worth - payment_price(plan, claim, route) - WEIGHTS.claim_threshold


def _filler_worth(plan: MovePlan, claim: ClaimRoute, route: int) -> float:
    """The points of a route outside of the network, less its cars at what they could bring elsewhere."""
    graph, situation = plan.situation.graph, plan.situation
    cars = max(1, situation.cars - plan.network.cars)
    share = min(1.0, situation.turns_left * WEIGHTS.filler_pace / cars)
    if _would_end(plan):
        share *= WEIGHTS.end_share
    price = graph.lengths[route] * WEIGHTS.filler_price * graph.car_value * share
    wilds = claim.cards.get(LOCOMOTIVE, 0) + claim.cards.get(PLUS_FOUR, 0)
    price += WEIGHTS.filler_wild * max(0.0, wilds + min(0.0, plan.wilds_short))
    points = graph.points[route] + plan.bonuses.trail.get(route, 0.0)
    return points - price - payment_price(plan, claim, route) - WEIGHTS.filler_margin


def passenger_worth(plan: MovePlan, claim: ClaimRoute) -> float:
    """The worth of the passenger that is placed with the claim."""
    if claim.passenger is None:
        return 0.0
    return PLACED + PER_TOKEN * sum(plan.state.own.tokens.get(claim.passenger, ())[:1])


def _would_end(plan: MovePlan) -> bool:
    """Whether the seat hurries to the end: of a duel, with its tickets made, and ahead.

    At larger tables waiting for long routes brings more than stopping one of several others."""
    if len(plan.state.seats) != 2 or plan.network.cars or plan.situation.cars > WEIGHTS.cars_to_end:
        return False
    own, other = plan.state.seats[plan.seat].own, plan.state.seats[1 - plan.seat].own
    tickets = sum(ticket.points for ticket in plan.network.planned)
    tickets -= sum(ticket.points for ticket in plan.network.given_up)
    others = _route_points(plan, other.routes) + TICKET_POINTS * len(other.tickets)
    return _route_points(plan, own.routes) + tickets > others


def _route_points(plan: MovePlan, routes: Sequence[str]) -> int:
    graph = plan.situation.graph
    return sum(graph.points[graph.route_index[name]] for name in routes)


def payment_price(plan: MovePlan, claim: ClaimRoute, route: int) -> float:
    """The worth of a payment's cards for other routes."""
    need, hand = plan.needs.needs[route], plan.situation.hand
    wild_price = WEIGHTS.wild_price * min(1.0, max(0.0, plan.wilds_short / WEIGHTS.cards_short))
    least = plan.situation.graph.routes[route].locomotives
    price = wild_price * (claim.cards.get(LOCOMOTIVE, 0) - least)
    price += wild_price * PLUS_FOUR_SHARE * claim.cards.get(PLUS_FOUR, 0)
    for colour, count in claim.cards.items():
        if colour not in (LOCOMOTIVE, PLUS_FOUR):
            kept = plan.needs.reserved.get(colour, 0)
            if need.colour == colour:  # what is kept for this very route
                kept -= plan.situation.graph.lengths[route] - least - need.missing
            price += WEIGHTS.reserved_price * max(0, count - hand.get(colour, 0) + kept)
    return price


def _is_risky(plan: MovePlan, claim: ClaimRoute, seat_random: SeatRandom) -> bool:
    """Whether a tunnel may ask for a card that the seat lacks. Chance says no now and then, or all planners might wait."""
    if (
        plan.state.own.board.routes[claim.route].kind != TUNNEL_KIND
        or not plan.state.rule_options.tunnel_cards
    ):
        return False
    hand = plan.state.seats[plan.seat].own.hand
    left = sum(hand[card] - claim.cards.get(card, 0) for card in {*claim.cards, LOCOMOTIVE})
    return left < 1 and seat_random.choice((True, True, False))


# -- stations, journeys, the last move --------------------------------------------------------

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
    if best is None or points_collected(plan.state, best) < WEIGHTS.journey_points:
        return None
    return best


def best_last_move(
    plan: MovePlan,
    claims: Sequence[ClaimRoute],
    journeys: Sequence[MovePassenger],
    stations: Sequence[BuildStation],
) -> Command | None:
    """The claim (with the tickets that it makes), journey or station with most points at once; None if none has any."""
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
