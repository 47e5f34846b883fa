"""A cheap network that makes a seat's tickets: a Steiner forest, found by shortest paths that share routes.

Each ticket in turn takes its cheapest path; routes that others take already are free. Then each path is laid anew until
nothing becomes cheaper. Tickets that cost more than they bring are given up. If cars or turns don't reach for all, a
network of fewer cars is tried before a ticket is given up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from services.bots.trains.planning.board_graph import UNREACHABLE, BoardGraph, TicketEnds, shortest_path
from services.bots.trains.planning.plan_weights import WEIGHTS
from services.bots.trains.planning.seat_situation import SeatSituation

REPAIRS: Final = 2  # rounds in which every ticket is laid anew
TIGHT_PRICES: Final = (1.0, 3.0)  # more points a car, tried in turn for a network of fewer cars


@dataclass(slots=True)
class NetworkPlan:
    """The routes still to claim (or to borrow), and which tickets they make."""

    routes: set[int] = field(default_factory=set)
    planned: list[TicketEnds] = field(default_factory=list)
    given_up: list[TicketEnds] = field(default_factory=list)
    cost: float = 0.0  # of the routes
    cars: int = 0  # that they take
    worth: float = 0.0  # the points of the tickets, as likely as they are made, less the cost


def plan_network(situation: SeatSituation, tickets: Sequence[TicketEnds]) -> NetworkPlan:
    """The plan for these tickets with the cars and stations that are left."""
    wanted, given_up = list(tickets), []
    best: NetworkPlan | None = None  # of the tight ones
    while True:
        paths = _lay_paths(situation.graph, situation.costs, wanted)
        unreachable = [ticket for ticket, path in zip(wanted, paths, strict=True) if path is None]
        if unreachable:
            given_up += unreachable
            wanted = [ticket for ticket in wanted if ticket not in unreachable]
            continue
        plan = _make_plan(situation, wanted, given_up, paths)
        is_too_much = _is_too_much(situation, plan)
        tight = _tighten(situation, wanted, given_up) if is_too_much else None
        if tight is not None and (best is None or tight.worth > best.worth):
            best = tight
        worst = _least_worthwhile(situation, plan, paths, is_too_much=is_too_much)
        if worst is None:
            return plan if best is None or plan.worth >= best.worth else best
        given_up.append(wanted.pop(worst))


def _tighten(
    situation: SeatSituation, wanted: list[TicketEnds], given_up: list[TicketEnds]
) -> NetworkPlan | None:
    """A plan of shorter ways for all of these tickets, within cars, stations and turns; None if none is found.

    The cheapest network prefers long routes, as they bring most points for their cars."""
    graph = situation.graph
    for price in TIGHT_PRICES:
        costs = [
            cost + price * length if is_free else cost
            for cost, length, is_free in zip(situation.costs, graph.lengths, situation.is_free, strict=True)
        ]
        plan = _make_plan(situation, wanted, given_up, _lay_paths(graph, costs, wanted))
        if not _is_too_much(situation, plan):
            return plan
    return None


def _route_risk(situation: SeatSituation) -> float:
    """The chance that a route of a ticket can't be had."""
    return WEIGHTS.borrowed_risk if situation.stations_left > 0 else WEIGHTS.route_risk


def _is_too_much(situation: SeatSituation, plan: NetworkPlan) -> bool:
    """Whether cars, stations or turns don't reach for the plan."""
    return (
        plan.cars > situation.cars
        or sum(situation.loans[route] for route in plan.routes) > situation.stations_left
        or (
            situation.turns_left < WEIGHTS.turns_counted
            and turns_for(situation, plan.routes) > situation.turns_left
        )
    )


def _lay_paths(
    graph: BoardGraph, costs: Sequence[float], tickets: Sequence[TicketEnds]
) -> list[list[int] | None]:
    """The routes of each ticket's path that aren't the seat's own; None if there is no path."""
    paths: list[list[int] | None] = [None] * len(tickets)
    users = [0] * len(costs)
    current = list(costs)
    order = sorted(range(len(tickets)), key=lambda index: -tickets[index].points)
    for round_number in range(1 + (REPAIRS if len(tickets) > 1 else 0)):
        changed = False
        for index in order:
            for route in paths[index] or ():
                users[route] -= 1
                if not users[route]:
                    current[route] = costs[route]
            cost, routes = shortest_path(graph, current, tickets[index].a, tickets[index].b)
            path = None if cost >= UNREACHABLE else [route for route in routes if costs[route]]
            changed |= path != paths[index]
            paths[index] = path
            for route in path or ():
                users[route] += 1
                current[route] = 0.0
        if round_number and not changed:
            break
    return paths


def _make_plan(
    situation: SeatSituation,
    wanted: list[TicketEnds],
    given_up: list[TicketEnds],
    paths: Sequence[Sequence[int] | None],
) -> NetworkPlan:
    routes = {route for path in paths for route in path or ()}
    cars = sum(situation.graph.lengths[route] for route in routes if situation.is_free[route])
    cost = sum(situation.costs[route] for route in routes)
    worth, risk = -cost - sum(ticket.points for ticket in given_up), _route_risk(situation)
    for ticket, path in zip(wanted, paths, strict=True):
        worth += ticket.points * (2 * (1 - risk) ** len(path or ()) - 1)
    return NetworkPlan(routes, list(wanted), list(given_up), cost, cars, worth)


def _least_worthwhile(
    situation: SeatSituation, plan: NetworkPlan, paths: Sequence[Sequence[int] | None], *, is_too_much: bool
) -> int | None:
    """The ticket to give up, if the plan is too much, or it costs more than it brings; None if all are worth it."""
    users: dict[int, int] = {}
    for path in paths:
        for route in path or ():
            users[route] = users.get(route, 0) + 1
    gains, risk = dict[int, float](), _route_risk(situation)
    for index, (ticket, path) in enumerate(zip(plan.planned, paths, strict=True)):
        own = [route for route in path or () if users[route] == 1]
        if own:
            cost = sum(situation.costs[route] for route in own)
            gain = 2 * ticket.points * (1 - risk) ** len(own) - cost
            gains[index] = (
                gain / sum(situation.graph.lengths[route] for route in own) if is_too_much else gain
            )
    if is_too_much:
        return min(gains or range(len(plan.planned)), key=lambda index: gains.get(index, 0.0), default=None)
    worst = min(gains, key=gains.__getitem__, default=None)
    return worst if worst is not None and gains[worst] < 0 else None


def turns_for(situation: SeatSituation, routes: set[int]) -> float:
    """About how many turns it takes to claim these routes: one for each, and one for two missing cards."""
    needed: dict[str, int] = {}
    for route in routes:
        if situation.is_free[route]:
            colour = situation.graph.routes[route].color
            needed[colour] = needed.get(colour, 0) + situation.graph.lengths[route]
    surplus = sum(max(0, count - needed.get(colour, 0)) for colour, count in situation.hand.items())
    missing = sum(max(0, count - situation.hand.get(colour, 0)) for colour, count in needed.items())
    missing -= min(missing, surplus if "gray" in needed else 0)
    missing = max(0, missing - situation.locomotives - situation.plus_fours)
    return len(routes) + (missing + 1) // 2
