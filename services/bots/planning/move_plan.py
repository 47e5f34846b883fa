"""What a seat wants at its move: the network for its tickets, the routes to claim in order of importance,
and the cards that they need."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from schemas.field_types import Seat
from services.bots.planning.board_graph import UNREACHABLE, shortest_path
from services.bots.planning.card_needs import CardNeeds, find_needs
from services.bots.planning.network_plan import NetworkPlan, plan_network
from services.bots.planning.plan_weights import PlanWeights
from services.bots.planning.seat_situation import SeatSituation, see_situation
from services.bots.planning.trail_bonus import TrailBonuses, trail_bonuses
from services.referee.rules import GameState
from services.referee.rules.board import GRAY

MOST_LOSS: Final = 20.0  # points that the loss of a route is counted with at most
MOST_FILLERS: Final = 6  # routes outside of the network that cards are collected for


@dataclass(slots=True)
class MovePlan:
    """The plan of a seat for its move."""

    state: GameState
    seat: Seat
    weights: PlanWeights
    situation: SeatSituation
    network: NetworkPlan
    wanted: dict[int, float]  # routes to claim, each with its weight: the network's first
    needs: CardNeeds
    bonuses: TrailBonuses  # by route what it brings beside its points, for the longest route
    wilds_short: float  # wild cards that the network needs, less those in hand


def make_move_plan(state: GameState, seat: Seat, weights: PlanWeights) -> MovePlan:
    """The plan of the seat in this state, which may be its own view."""
    situation = see_situation(state, seat, weights)
    network = plan_network(situation, situation.tickets, weights)
    to_claim = [route for route in network.routes if situation.is_free[route]]
    losses = {route: _loss(situation, network, route) for route in to_claim}
    ranked = sorted(to_claim, key=lambda route: (-losses[route], route))
    wanted = {route: 1 + losses[route] / MOST_LOSS for route in ranked}
    bonuses = trail_bonuses(state, seat, situation, network.routes, weights)
    wanted |= _choose_fillers(situation, network, to_claim, bonuses, weights)
    needs = find_needs(situation, wanted)
    missing = sum(need.missing for route, need in needs.needs.items() if route in network.routes)
    wilds_short = missing - situation.locomotives - situation.plus_fours / 2
    return MovePlan(state, seat, weights, situation, network, wanted, needs, bonuses, wilds_short)


def _loss(situation: SeatSituation, network: NetworkPlan, route: int) -> float:
    """How much more it would cost to join the route's cities without it."""
    costs = list(situation.costs)
    for planned in network.routes:
        costs[planned] = 0.0
    costs[route] = UNREACHABLE
    detour, _ = shortest_path(situation.graph, costs, *situation.graph.ends[route])
    return min(MOST_LOSS, max(0.0, detour - situation.costs[route]))


def _choose_fillers(
    situation: SeatSituation,
    network: NetworkPlan,
    to_claim: list[int],
    bonuses: TrailBonuses,
    weights: PlanWeights,
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
            chosen[-negated] = weights.filler_weight * rate / 4
    return chosen
