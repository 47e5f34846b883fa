"""What a route brings for the bonus of the longest route: the chance to have it, with the route and without."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from math import exp
from typing import Final, NamedTuple

from schemas.field_types import Seat
from services.bots.planning.plan_weights import PlanWeights
from services.bots.planning.seat_situation import SeatSituation
from services.referee.rules import GameState
from services.referee.rules.board import GRAY
from services.referee.rules.ruleset import Ruleset
from services.referee.rules.scoring import route_ends

MOST_MEASURED: Final = 8  # routes whose trails are measured; the others count as if they didn't lengthen one
MOST_ROUTES: Final = 25  # of a network that is measured: it takes long in larger ones

Edges = tuple[tuple[str, str, int], ...]


class TrailBonuses(NamedTuple):
    """Points by route outside of the network."""

    touch: Mapping[int, float]  # for cards that are collected: the route has one end in the network
    trail: Mapping[int, float]  # beside its own points when it is claimed: it lengthens the longest route


def trail_bonuses(
    state: GameState, seat: Seat, situation: SeatSituation, network: Iterable[int], weights: PlanWeights
) -> TrailBonuses:
    """What the routes are worth that have an end in the network, which is still to be claimed."""
    bonus = state.rule_options.longest_bonus
    if not bonus:
        return TrailBonuses({}, {})
    graph = situation.graph
    routes = {graph.route_index[name] for name in state.seats[seat].routes}
    routes |= {route for route in network if situation.is_free[route]}
    cities = {city for route in routes for city in graph.ends[route]}
    touch, trail, touching = dict[int, float](), dict[int, float](), list[int]()
    for route, is_free in enumerate(situation.is_free):
        if is_free and route not in routes:
            a, b = graph.ends[route]
            if (a in cities) != (b in cities):
                touch[route] = weights.touch_bonus * graph.lengths[route] / 4
            if a in cities or b in cities:
                touching.append(route)
    if len(state.seats) == 2 and len(routes) < MOST_ROUTES:
        touching.sort(key=lambda route: (-_cards_held(situation, route), route))
        rival, swing = _rival_length(state, seat, weights), 2 * bonus
        before = chance_of_longest(measure(state, routes, situation) - rival, weights)
        for route in touching[:MOST_MEASURED]:
            gain = chance_of_longest(measure(state, routes | {route}, situation) - rival, weights) - before
            trail[route] = weights.trail_share * swing * gain
    return TrailBonuses(touch, trail)


def _cards_held(situation: SeatSituation, route: int) -> int:
    """How many of the route's spaces the hand can pay for."""
    colour, hand = situation.graph.routes[route].color, situation.hand
    held = max(hand.values(), default=0) if colour == GRAY else hand.get(colour, 0)
    return min(situation.graph.lengths[route], held + situation.locomotives + situation.plus_fours)


def measure(state: GameState, routes: Iterable[int], situation: SeatSituation) -> int:
    """Spaces of the longest route in these."""
    board_routes, countries = situation.graph.routes, state.board.countries
    edges = [
        (*route_ends(board_routes[route], countries), board_routes[route].length) for route in sorted(routes)
    ]
    return _measure(state.ruleset, tuple(edges))


@lru_cache(maxsize=4_096)
def _measure(ruleset: Ruleset, edges: Edges) -> int:
    return ruleset.measure_longest(edges)


def _rival_length(state: GameState, seat: Seat, weights: PlanWeights) -> float:
    """The longest route that another seat may have at the end."""
    routes, countries = state.board.routes, state.board.countries
    lengths = [0.0]
    for other in state.active_seats:
        if other != seat:
            seat_state = state.seats[other]
            edges = [
                (*route_ends(routes[name], countries), routes[name].length) for name in seat_state.routes
            ]
            grown = 0.0 if state.in_last_turns else weights.trail_growth * seat_state.cars
            lengths.append(_measure(state.ruleset, tuple(edges)) + grown)
    return max(lengths)


def chance_of_longest(ahead: float, weights: PlanWeights) -> float:
    """The chance to have the longest route when the plan is so many spaces ahead."""
    return 1 / (1 + exp(-max(-50.0, min(50.0, ahead / weights.trail_spread))))
