"""A seat's plan for its move: the network for its tickets, the routes to claim in order of importance, the cards
that these need, and what each card is worth."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import exp
from typing import Final, NamedTuple

from schemas.field_types import Seat
from schemas.trains.field_types import COLORS, LOCOMOTIVE, PASSENGER, PLUS_FOUR
from services.bots.trains.planning.board_graph import UNREACHABLE, shortest_path
from services.bots.trains.planning.network_plan import NetworkPlan, plan_network
from services.bots.trains.planning.plan_weights import WEIGHTS
from services.bots.trains.planning.seat_situation import SeatSituation, see_situation
from services.referee.games.trains.board import GRAY
from services.referee.games.trains.scoring import route_ends
from services.referee.games.trains.train_state import TrainGame, TrainRuleset

MOST_LOSS: Final = 20.0  # points that the loss of a route is counted with at most
MOST_FILLERS: Final = 6  # routes outside of the network that cards are collected for


@dataclass(slots=True)
class MovePlan:
    """The plan of a seat for its move."""

    state: TrainGame
    seat: Seat
    situation: SeatSituation
    network: NetworkPlan
    wanted: dict[int, float]  # routes to claim, each with its weight: the network's first
    needs: CardNeeds
    bonuses: TrailBonuses  # by route what it brings beside its points, for the longest route
    wilds_short: float  # wild cards that the network needs, less those in hand


def make_move_plan(state: TrainGame, seat: Seat) -> MovePlan:
    """The plan of the seat in this state, which may be its own view."""
    situation = see_situation(state, seat)
    network = plan_network(situation, situation.tickets)
    to_claim = [route for route in network.routes if situation.is_free[route]]
    losses = {route: _loss(situation, network, route) for route in to_claim}
    ranked = sorted(to_claim, key=lambda route: (-losses[route], route))
    wanted = {route: 1 + losses[route] / MOST_LOSS for route in ranked}
    bonuses = trail_bonuses(state, seat, situation, network.routes)
    wanted |= _choose_fillers(situation, network, to_claim, bonuses)
    needs = find_needs(situation, wanted)
    missing = sum(need.missing for route, need in needs.needs.items() if route in network.routes)
    wilds_short = missing - situation.locomotives - situation.plus_fours / 2
    return MovePlan(state, seat, situation, network, wanted, needs, bonuses, wilds_short)


def _loss(situation: SeatSituation, network: NetworkPlan, route: int) -> float:
    """How much more joining the route's cities costs without it."""
    costs = list(situation.costs)
    for planned in network.routes:
        costs[planned] = 0.0
    costs[route] = UNREACHABLE
    detour, _ = shortest_path(situation.graph, costs, *situation.graph.ends[route])
    return min(MOST_LOSS, max(0.0, detour - situation.costs[route]))


def _choose_fillers(
    situation: SeatSituation, network: NetworkPlan, to_claim: list[int], bonuses: TrailBonuses
) -> dict[int, float]:
    """The routes that bring most points a turn with the cars that the network doesn't take."""
    graph, cars = situation.graph, situation.cars - network.cars
    spare = find_needs(situation, dict.fromkeys(to_claim, 1.0)).spare
    most = max(spare.values(), default=0)
    rates: list[tuple[float, int]] = []
    for route, is_free in enumerate(situation.is_free):
        length = graph.lengths[route]
        if is_free and length <= cars and route not in network.routes:
            colour = graph.routes[route].color
            held = min(length, most if colour == GRAY else spare.get(colour, 0))
            points = graph.points[route] + bonuses.touch.get(route, 0.0) + bonuses.trail.get(route, 0.0)
            rates.append((points / ((length - held) / 2 + 1), -route))
    chosen: dict[int, float] = {}
    for rate, negated in sorted(rates, reverse=True)[:MOST_FILLERS]:
        if graph.lengths[-negated] <= cars:
            cars -= graph.lengths[-negated]
            chosen[-negated] = WEIGHTS.filler_weight * rate / 4
    return chosen


# -- the cards that the wanted routes need, and their worth -----------------------------------

IDLE_VALUE: Final = 0.15  # of a card that no wanted route misses,
IDLE_GROWTH: Final = 0.03  # and more for each that is held of its colour
GRAY_VALUE: Final = 0.1  # of any colour, for each gray route that isn't paid for yet
FERRY_VALUE: Final = 0.5  # of a locomotive that a ferry still needs
PLUS_FOUR_VALUE: Final = 0.9  # of a "+4" locomotive, as a share of the most that a route misses
PASSENGER_VALUE: Final = 0.25


@dataclass(slots=True)
class RouteNeed:
    """One route that is wanted: the colour that it is collected in, and what is missing."""

    colour: str
    missing: int  # cards of the colour, or wild ones
    weight: float


@dataclass(slots=True)
class CardNeeds:
    """The needs by route, and the hand by colour: what is reserved for these routes, and what is spare."""

    needs: dict[int, RouteNeed]
    reserved: dict[str, int]
    spare: dict[str, int]


def find_needs(situation: SeatSituation, wanted: Mapping[int, float]) -> CardNeeds:
    """Assign the hand to the wanted routes, the coloured ones first, then to gray ones the colour that is left most of."""
    routes = situation.graph.routes
    reserved: dict[str, int] = {}
    needs: dict[int, RouteNeed] = {}
    spare = {card: count for card, count in situation.hand.items() if card != PASSENGER}
    for is_gray in (False, True):
        for route, weight in wanted.items():
            if (routes[route].color == GRAY) is is_gray:
                length = routes[route].length - routes[route].locomotives
                most = max(spare, key=spare.__getitem__, default=COLORS[0])
                colour = most if is_gray else routes[route].color
                used = min(length, spare.get(colour, 0))
                if used:
                    spare[colour] -= used
                    reserved[colour] = reserved.get(colour, 0) + used
                needs[route] = RouteNeed(colour, length - used, weight)
    return CardNeeds(needs, reserved, spare)


def card_values(situation: SeatSituation, needs: CardNeeds) -> dict[str, float]:
    """The worth of one more card, by kind: about 1 if a route of the network misses it."""
    values = {colour: IDLE_VALUE + IDLE_GROWTH * situation.hand.get(colour, 0) for colour in COLORS}
    most, locomotives_needed = 0.3, 0
    for route, need in needs.needs.items():
        locomotives_needed += situation.graph.routes[route].locomotives
        if need.missing:
            value = need.weight * (1 + 0.5 / need.missing)
            values[need.colour] = max(values[need.colour], value)
            most = max(most, value)
            if situation.graph.routes[route].color == GRAY:
                for colour in COLORS:
                    values[colour] += GRAY_VALUE * need.weight
    values[LOCOMOTIVE] = most * 1.15 + (FERRY_VALUE if locomotives_needed > situation.locomotives else 0.0)
    values[PLUS_FOUR] = most * PLUS_FOUR_VALUE
    values[PASSENGER] = PASSENGER_VALUE
    return values


def blind_value(state: TrainGame, seat: Seat, values: Mapping[str, float]) -> float:
    """The mean worth of a card from the deck, over the cards that the seat hasn't seen."""
    hand, count, worth = state.seats[seat].own.hand, 0, 0.0
    table = state.own
    discards = table.discards if table.deck else {}  # an empty deck is made of them again
    for card, total in state.rule_options.cards.items():
        left = total - hand.get(card, 0) - table.market.count(card) - discards.get(card, 0)
        if left > 0:
            count += left
            worth += left * values.get(card, 0.0)
    return worth / count if count else 0.0


# -- the bonus of the longest route: the chance to have it, with a route and without ----------

MOST_MEASURED: Final = 8  # routes whose trails are measured; the others count as if they didn't lengthen one
MOST_ROUTES: Final = 25  # of a network that is measured: it takes long in larger ones

Edges = tuple[tuple[str, str, int], ...]


class TrailBonuses(NamedTuple):
    """Points by route outside of the network."""

    touch: Mapping[int, float]  # for cards that are collected: the route has one end in the network
    trail: Mapping[int, float]  # beside its own points when it is claimed: it lengthens the longest route


def trail_bonuses(
    state: TrainGame, seat: Seat, situation: SeatSituation, network: Iterable[int]
) -> TrailBonuses:
    """The bonuses of the routes that touch the network, most of which is still to be claimed."""
    bonus = state.rule_options.longest_bonus
    if not bonus:
        return TrailBonuses({}, {})
    graph = situation.graph
    routes = {graph.route_index[name] for name in state.seats[seat].own.routes}
    routes |= {route for route in network if situation.is_free[route]}
    cities = {city for route in routes for city in graph.ends[route]}
    touch, trail, touching = dict[int, float](), dict[int, float](), list[int]()
    for route, is_free in enumerate(situation.is_free):
        if is_free and route not in routes:
            a, b = graph.ends[route]
            if (a in cities) != (b in cities):
                touch[route] = WEIGHTS.touch_bonus * graph.lengths[route] / 4
            if a in cities or b in cities:
                touching.append(route)
    if len(state.seats) == 2 and len(routes) < MOST_ROUTES:
        touching.sort(key=lambda route: (-_cards_held(situation, route), route))
        rival, swing = _rival_length(state, seat), 2 * bonus
        before = chance_of_longest(measure(state, routes, situation) - rival)
        for route in touching[:MOST_MEASURED]:
            gain = chance_of_longest(measure(state, routes | {route}, situation) - rival) - before
            trail[route] = WEIGHTS.trail_share * swing * gain
    return TrailBonuses(touch, trail)


def _cards_held(situation: SeatSituation, route: int) -> int:
    """How many of the route's spaces the hand can pay for."""
    colour, hand = situation.graph.routes[route].color, situation.hand
    held = max(hand.values(), default=0) if colour == GRAY else hand.get(colour, 0)
    return min(situation.graph.lengths[route], held + situation.locomotives + situation.plus_fours)


def measure(state: TrainGame, routes: Iterable[int], situation: SeatSituation) -> int:
    """Spaces of the longest route in these."""
    board_routes, countries = situation.graph.routes, state.own.board.countries
    edges = [
        (*route_ends(board_routes[route], countries), board_routes[route].length) for route in sorted(routes)
    ]
    return _measure(state.ruleset, tuple(edges))


@lru_cache(maxsize=4_096)
def _measure(ruleset: TrainRuleset, edges: Edges) -> int:
    return ruleset.parts.measure_longest(edges)


def _rival_length(state: TrainGame, seat: Seat) -> float:
    """The longest route that another seat may have at the end."""
    table = state.own
    routes, countries = table.board.routes, table.board.countries
    lengths = [0.0]
    for other in state.active_seats:
        if other != seat:
            seat_state = state.seats[other].own
            edges = [
                (*route_ends(routes[name], countries), routes[name].length) for name in seat_state.routes
            ]
            grown = 0.0 if table.in_last_turns else WEIGHTS.trail_growth * seat_state.cars
            lengths.append(_measure(state.ruleset, tuple(edges)) + grown)
    return max(lengths)


def chance_of_longest(ahead: float) -> float:
    """The chance to have the longest route when the plan is so many spaces ahead."""
    return 1 / (1 + exp(-max(-50.0, min(50.0, ahead / WEIGHTS.trail_spread))))
