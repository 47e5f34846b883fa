"""The plan of a seat in a rollout: the routes that its tickets still miss, the most important first.

It is `planner`'s (`network_plan`) on a compact game. It is made seldom and kept, so it is thorough; but routes are ranked by
the points of the tickets that go by them, not by the detours around them, of which each is a search.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from services.bots.trains.planning import board_graph
from services.bots.trains.planning.board_graph import TicketEnds, shortest_path
from services.bots.trains.planning.network_plan import TIGHT_PRICES
from services.bots.trains.planning.plan_weights import WEIGHTS
from services.bots.trains.searching.compact_game import FREE, NOT_YET, CompactGame, tickets_made
from services.bots.trains.searching.compact_rules import ANY_COLOUR, WILD

MOST_CARS: Final = 100  # where nobody else plays on
FULL_STAKE: Final = 40  # points of the tickets that go by a route: with so many it weighs twice
COST_UNITS: Final = 1_000  # of a point: whole numbers add up to the same in any order
UNREACHABLE: Final = int(board_graph.UNREACHABLE)


class RolloutPlan(NamedTuple):
    """The routes to claim for the seat's tickets with their weights, the heaviest first; and others' routes to borrow."""

    routes: list[int]
    weights: list[float]
    loans: list[int]


def turns_left(game: CompactGame, seat: int) -> int:
    """A guess at how many turns the seat still has, this one too: by the others' cars."""
    if game.last_turns != NOT_YET:
        return 1
    least = min([game.cars[other] for other in game.rules.order if other != seat], default=MOST_CARS)
    return 1 + int(max(0, least - game.rules.last_cars) / WEIGHTS.cars_a_turn)


def in_units(points: float) -> int:
    """So many points as a cost."""
    return int(points * COST_UNITS)


def route_costs(game: CompactGame, seat: int, turns: int) -> list[int]:
    """The cost of each route for the seat, as `planner` counts it, in units; 0 for its own."""
    rules, cars = game.rules, game.cars[seat]
    lengths, claim_costs, hand = rules.graph.lengths, rules.claim_costs, game.hands[seat]
    held = [*hand[:WILD], max(hand[:WILD])]  # by colour of a route
    late = max(0.0, 1 - turns / WEIGHTS.turns_early)
    credit = WEIGHTS.card_credit + WEIGHTS.haste * late
    car_price = WEIGHTS.car_price * rules.graph.car_value + WEIGHTS.haste * late
    costs = [UNREACHABLE] * len(lengths)
    for route, owner in enumerate(game.owners):
        if owner == seat:
            costs[route] = 0
        elif owner == FREE and lengths[route] <= cars:
            length = lengths[route]
            cost = length * car_price + claim_costs[route] - credit * min(held[rules.colours[route]], length)
            costs[route] = in_units(max(WEIGHTS.least_cost, cost))
    for route in game.routes[seat]:
        for other in rules.parallels[route]:
            if costs[other]:
                costs[other] = UNREACHABLE
    if rules.station_costs:
        _price_loans(game, seat, costs)
    return costs


def _price_loans(game: CompactGame, seat: int, costs: list[int]) -> None:
    """Others' routes that a station of the seat borrows or could borrow (STATION-3)."""
    rules, price = game.rules, in_units(WEIGHTS.loan_price + game.rules.station_points)
    own = {city for city, _ in game.stations[seat]}
    taken = game.station_cities()
    has_more = len(own) < len(rules.station_costs)
    for other, routes in enumerate(game.routes):
        for route in routes if other != seat else ():
            a, b = rules.graph.ends[route]
            if a in own or b in own:
                costs[route] = in_units(WEIGHTS.least_cost)
            elif has_more and not (a in taken and b in taken):
                costs[route] = price


def make_plan(game: CompactGame, seat: int) -> RolloutPlan:
    """The seat's plan for the tickets that are worth making."""
    turns = turns_left(game, seat)
    costs = route_costs(game, seat, turns)
    made = tickets_made(game, seat)
    wanted = [ticket for ticket, is_made in zip(game.tickets[seat], made, strict=True) if not is_made]
    wanted.sort(key=lambda ticket: -ticket.points)
    stakes = dict[int, int]()  # by route the points of its tickets
    for ticket, path in _choose_paths(game, seat, turns, costs, wanted):
        for route in path:
            stakes[route] = min(FULL_STAKE, stakes.get(route, 0) + ticket.points)
    routes = sorted(stakes, key=lambda route: (-stakes[route], route))
    to_claim = [route for route in routes if game.owners[route] == FREE]
    loans = sorted(set(routes).difference(to_claim))
    weights = [1 + stakes[route] / FULL_STAKE for route in to_claim]
    return RolloutPlan(to_claim, weights, needing_station(game, seat, loans))


def _choose_paths(
    game: CompactGame, seat: int, turns: int, costs: Sequence[int], tickets: Sequence[TicketEnds]
) -> list[tuple[TicketEnds, list[int]]]:
    """The tickets that are worth making with their paths; shorter ways are tried before a ticket is given up."""
    wanted, risk = list(tickets), _route_risk(game, seat)
    best: tuple[int, list[tuple[TicketEnds, list[int]]]] | None = None  # of the shorter ways
    while True:
        paths = _lay_paths(game, costs, wanted)
        if not all(paths):
            wanted = [ticket for ticket, path in zip(wanted, paths, strict=True) if path]
            continue
        is_too_much = _is_too_much(game, seat, turns, paths)
        if is_too_much and (tight := _tighten(game, seat, turns, costs, wanted)):
            worth = _worth(costs, wanted, tight, risk)
            if best is None or worth > best[0]:
                best = worth, list(zip(wanted, tight, strict=True))
        worst = _least_worthwhile(game, costs, wanted, paths, risk, is_too_much=is_too_much)
        if worst < 0:
            break
        del wanted[worst]
    if best is not None and _worth(costs, wanted, paths, risk) < best[0]:
        return best[1]
    return list(zip(wanted, paths, strict=True))


def _tighten(
    game: CompactGame, seat: int, turns: int, costs: Sequence[int], tickets: Sequence[TicketEnds]
) -> list[list[int]] | None:
    """Paths for all of the tickets by shorter ways, that cars, stations and turns reach for; None if none are found."""
    lengths = game.rules.graph.lengths
    for price in TIGHT_PRICES:
        tight = [
            cost + in_units(price) * length if cost and owner == FREE else cost
            for cost, length, owner in zip(costs, lengths, game.owners, strict=True)
        ]
        paths = _lay_paths(game, tight, tickets)
        if not _is_too_much(game, seat, turns, paths):
            return paths
    return None


def _route_risk(game: CompactGame, seat: int) -> float:
    """The chance that a route of a ticket can't be had."""
    can_borrow = len(game.stations[seat]) < len(game.rules.station_costs)
    return WEIGHTS.borrowed_risk if can_borrow else WEIGHTS.route_risk


def _worth(
    costs: Sequence[int], tickets: Sequence[TicketEnds], paths: Sequence[Sequence[int]], risk: float
) -> int:
    """The expected worth of the tickets, less the cost of their routes."""
    brought = sum([_worth_made(ticket, len(path), risk) for ticket, path in zip(tickets, paths, strict=True)])
    return brought - sum([costs[route] for route in {route for path in paths for route in path}])


def _worth_made(ticket: TicketEnds, missing: int, risk: float) -> int:
    """The worth of a ticket that misses so many routes. A made ticket counts twice, as a missed one costs it."""
    return in_units(2 * ticket.points * (1 - risk) ** missing)


def needing_station(game: CompactGame, seat: int, loans: Iterable[int]) -> list[int]:
    """The routes of others that no station of the seat borrows yet."""
    ends, own = game.rules.graph.ends, {city for city, _ in game.stations[seat]}
    return [route for route in loans if own.isdisjoint(ends[route])]


def _lay_paths(game: CompactGame, costs: Sequence[int], tickets: Sequence[TicketEnds]) -> list[list[int]]:
    """The routes still to claim for each ticket; none, if no path exists. Each is laid twice, as others may share its routes."""
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
                current[route] = 0
    return paths


def _is_too_much(game: CompactGame, seat: int, turns: int, paths: Sequence[Sequence[int]]) -> bool:
    """Whether cars, stations or turns don't reach for these paths."""
    lengths, routes = game.rules.graph.lengths, {route for path in paths for route in path}
    to_claim = [route for route in routes if game.owners[route] == FREE]
    loans = needing_station(game, seat, routes.difference(to_claim)) if len(to_claim) < len(routes) else ()
    return (
        sum([lengths[route] for route in to_claim]) > game.cars[seat]
        or len(loans) > len(game.rules.station_costs) - len(game.stations[seat])
        or (turns < WEIGHTS.turns_counted and turns_for(game, seat, to_claim) + len(loans) > turns)
    )


def _least_worthwhile(
    game: CompactGame,
    costs: Sequence[int],
    tickets: Sequence[TicketEnds],
    paths: Sequence[Sequence[int]],
    risk: float,
    *,
    is_too_much: bool,
) -> int:
    """The ticket to give up, if the paths are too much, or it costs more than it brings; -1 if all are worth it."""
    lengths, users = game.rules.graph.lengths, dict[int, int]()
    for path in paths:
        for route in path:
            users[route] = users.get(route, 0) + 1
    worst, least = -1, float(UNREACHABLE) if is_too_much else 0.0
    for index, path in enumerate(paths):
        own = [route for route in path if users[route] == 1]
        if own:
            gain: float = _worth_made(tickets[index], len(own), risk) - sum([costs[route] for route in own])
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
    missing += max(0, needed[ANY_COLOUR] - surplus) - sum(hand[WILD : WILD + 2])
    return len(routes) + (max(0, missing) + 1) // 2
