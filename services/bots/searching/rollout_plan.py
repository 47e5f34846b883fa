"""What a seat of a rollout wants: the routes that its tickets still miss, the most important first.

The plan of `planner` (network_plan, move_plan) on a compact game. It is made seldom and kept, so it is thorough.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from services.bots.planning.board_graph import UNREACHABLE, shortest_path
from services.bots.planning.move_plan import MOST_LOSS
from services.bots.planning.plan_weights import WEIGHTS
from services.bots.searching.compact_game import FREE, NOT_YET, CompactGame
from services.bots.searching.compact_rules import ANY_COLOUR, WILD, TicketEnds


class RolloutPlan(NamedTuple):
    """The routes to claim for the seat's tickets, each with its weight, the heaviest first."""

    routes: list[int]
    weights: list[float]


def turns_left(game: CompactGame, seat: int) -> int:
    """A guess at how many turns the seat still has, this one too: by the others' cars."""
    if game.last_turns != NOT_YET:
        return 1
    least = min([cars for other, cars in enumerate(game.cars) if other != seat])
    return 1 + int(max(0, least - game.rules.last_cars) / WEIGHTS.cars_a_turn)


def route_costs(game: CompactGame, seat: int, turns: int) -> list[float]:
    """By route what it takes the seat to have it, as `planner` counts: nothing where it has it."""
    rules, cars = game.rules, game.cars[seat]
    lengths, points, hand = rules.graph.lengths, rules.graph.points, game.hands[seat]
    held = [*hand[:WILD], max(hand[:WILD])]  # by colour of a route
    late = max(0.0, 1 - turns / WEIGHTS.turns_early)
    credit = WEIGHTS.card_credit + WEIGHTS.haste * late
    car_price = WEIGHTS.car_price * rules.graph.car_value + WEIGHTS.haste * late
    costs = [UNREACHABLE] * len(lengths)
    for route, owner in enumerate(game.owners):
        if owner == seat:
            costs[route] = 0.0
        elif owner == FREE and lengths[route] <= cars:
            length = lengths[route]
            cost = length * car_price + WEIGHTS.claim_price - points[route]
            costs[route] = max(WEIGHTS.least_cost, cost - credit * min(held[rules.colours[route]], length))
    for route in game.routes[seat]:
        for other in rules.parallels[route]:
            if costs[other]:
                costs[other] = UNREACHABLE
    return costs


def make_plan(game: CompactGame, seat: int) -> RolloutPlan:
    """The seat's plan for the tickets that are worth making."""
    turns, networks = turns_left(game, seat), game.networks(seat)
    costs = route_costs(game, seat, turns)
    wanted = [ticket for ticket in game.tickets[seat] if networks[ticket.a] != networks[ticket.b]]
    wanted.sort(key=lambda ticket: -ticket.points)
    paths = _lay_paths(game, costs, wanted)
    while wanted:
        worst = _least_worthwhile(game, seat, turns, costs, wanted, paths)
        if worst < 0:
            break
        del wanted[worst]
        paths = _lay_paths(game, costs, wanted)
    return _rank_routes(game, costs, {route for path in paths for route in path})


def _lay_paths(game: CompactGame, costs: Sequence[float], tickets: Sequence[TicketEnds]) -> list[list[int]]:
    """By ticket the routes of its path that aren't the seat's own; each is laid twice, as others may share its
    routes. A path that doesn't exist has no routes."""
    graph, current = game.rules.graph, list(costs)
    paths: list[list[int]] = [[] for _ in tickets]
    users = [0] * len(current)
    for _round in range(2 if len(tickets) > 1 else 1):
        for index, ticket in enumerate(tickets):
            for route in paths[index]:
                users[route] -= 1
                if not users[route]:
                    current[route] = costs[route]
            _, routes = shortest_path(graph, current, ticket.a, ticket.b)
            paths[index] = path = [route for route in routes if costs[route]]
            for route in path:
                users[route] += 1
                current[route] = 0.0
    return paths


def _least_worthwhile(
    game: CompactGame,
    seat: int,
    turns: int,
    costs: Sequence[float],
    tickets: Sequence[TicketEnds],
    paths: Sequence[Sequence[int]],
) -> int:
    """The ticket to give up: where cars or turns don't reach for all, or it costs more than it brings; -1 if all
    are worth it."""
    lengths, users = game.rules.graph.lengths, dict[int, int]()
    for index, path in enumerate(paths):
        if not path:
            return index  # there is no way
        for route in path:
            users[route] = users.get(route, 0) + 1
    is_too_much = sum([lengths[route] for route in users]) > game.cars[seat] or (
        turns < WEIGHTS.turns_counted and turns_for(game, seat, list(users)) > turns
    )
    worst, least = -1, UNREACHABLE if is_too_much else 0.0
    for index, path in enumerate(paths):
        own = [route for route in path if users[route] == 1]
        if own:
            gain = 2 * tickets[index].points * (1 - WEIGHTS.route_risk) ** len(own)
            gain -= sum([costs[route] for route in own], 0.0)
            if is_too_much:
                gain /= sum([lengths[route] for route in own])
            if gain < least:
                worst, least = index, gain
    return 0 if is_too_much and worst < 0 else worst


def turns_for(game: CompactGame, seat: int, routes: Sequence[int]) -> int:
    """About how many turns it takes to claim these routes: one for each, and one for two missing cards."""
    lengths, colours, hand = game.rules.graph.lengths, game.rules.colours, game.hands[seat]
    needed = [0] * (ANY_COLOUR + 1)
    for route in routes:
        needed[colours[route]] += lengths[route]
    missing = sum([max(0, needed[colour] - hand[colour]) for colour in range(WILD)])
    surplus = sum([max(0, hand[colour] - needed[colour]) for colour in range(WILD)])
    missing += max(0, needed[ANY_COLOUR] - surplus) - hand[WILD]
    return len(routes) + (max(0, missing) + 1) // 2


def _rank_routes(game: CompactGame, costs: Sequence[float], routes: set[int]) -> RolloutPlan:
    """The routes by what it would cost to lose each of them: the detour."""
    graph, current = game.rules.graph, list(costs)
    for route in routes:
        current[route] = 0.0
    ranked: list[tuple[float, int]] = []
    for route in routes:
        current[route] = UNREACHABLE
        a, b = graph.ends[route]
        detour, _ = shortest_path(graph, current, a, b)
        current[route] = 0.0
        ranked.append((-min(MOST_LOSS, max(0.0, detour - costs[route])), route))
    ranked.sort()
    return RolloutPlan([route for _, route in ranked], [1 - loss / MOST_LOSS for loss, _ in ranked])
