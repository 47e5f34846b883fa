"""Passengers in rollouts: placed with a claim where most lies, sent off where a journey is worth a turn, as `planner`
does (claim_choice, other_actions)."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush
from typing import Final, NamedTuple

from services.bots.planning.claim_choice import PER_TOKEN, PLACED
from services.bots.searching.compact_game import NOWHERE, CompactGame
from services.bots.searching.compact_rules import TOLL

MOST_WALKS: Final = 60  # that are extended for one passenger: most seats have few routes to walk on


class RolloutJourney(NamedTuple):
    """A journey of the seat whose turn it is, and the points that it collects."""

    points: int
    city: int
    path: tuple[int, ...]


# the points below 0, a number, the city, the cards paid, the cities entered, the routes
_Walk = tuple[int, int, int, int, frozenset[int], tuple[int, ...]]


def place_for_passenger(game: CompactGame, route: int) -> int:
    """The city of the route where a passenger of the seat is placed; NOWHERE if it can't be (PASSENGER-1)."""
    is_country = game.rules.graph.is_country
    if not game.passengers_left[game.turn]:
        return NOWHERE
    free = [
        city
        for city in game.rules.graph.ends[route]
        if city not in game.passenger_owners and not is_country[city]
    ]
    return max(free, key=lambda city: game.tokens.get(city, (0,))[:1], default=NOWHERE)


def place_worth(game: CompactGame, city: int) -> float:
    """What a passenger there is worth to who claims a route for it."""
    return 0.0 if city == NOWHERE else PLACED + PER_TOKEN * sum(game.tokens.get(city, ())[:1])


def best_journey(game: CompactGame, least: float) -> RolloutJourney | None:
    """The journey that collects most, if it is so many points at least; about the best, where many are possible."""
    seat = game.turn
    starts = [city for city, owner in game.passenger_owners.items() if owner == seat]
    cards = game.hands[seat][TOLL] if starts else 0
    routes = game.routes if cards else game.routes[seat : seat + 1]
    best: RolloutJourney | None = None
    for start in starts:
        if _most_points(game, routes) >= least:
            found = _search(game, start, _ways(game, routes), cards)
            if found.points >= least and (best is None or found.points > best.points):
                best = found
    return best


def _most_points(game: CompactGame, routes: Sequence[Sequence[int]]) -> int:
    """More than any journey collects: the tokens of all cities on these routes."""
    cities = {city for row in routes for route in row for city in game.rules.graph.ends[route]}
    return sum([stack[0] for city in cities if (stack := game.tokens.get(city))])


def _ways(game: CompactGame, routes: Sequence[Sequence[int]]) -> dict[int, list[tuple[int, int, int]]]:
    """By city the ways out: the route, its other end, and the card that it costs. None leads into a country."""
    graph, seat, ways = game.rules.graph, game.turn, dict[int, list[tuple[int, int, int]]]()
    for row in routes:
        for route in row:
            a, b = graph.ends[route]
            if not (graph.is_country[a] or graph.is_country[b]):
                toll = int(game.owners[route] != seat)
                ways.setdefault(a, []).append((route, b, toll))
                ways.setdefault(b, []).append((route, a, toll))
    return ways


def _search(
    game: CompactGame, start: int, ways: dict[int, list[tuple[int, int, int]]], cards: int
) -> RolloutJourney:
    """The walks with most points are extended first (PASSENGER-2, PASSENGER-3)."""
    worth = {city: stack[0] for city, stack in game.tokens.items() if stack}
    best, number = RolloutJourney(0, start, ()), 0
    walks: list[_Walk] = [(0, 0, start, 0, frozenset((start,)), ())]
    while walks and number < MOST_WALKS:
        negated, _, city, tolls, seen, path = heappop(walks)
        if -negated > best.points:
            best = RolloutJourney(-negated, start, path)
        for route, other, toll in ways.get(city, ()):
            if tolls + toll <= cards and route not in path:
                number += 1
                more = 0 if other in seen else worth.get(other, 0)
                walk = (negated - more, number, other, tolls + toll, seen | {other}, (*path, route))
                heappush(walks, walk)
    for negated, _, _, _, _, path in walks:
        if -negated > best.points:
            best = RolloutJourney(-negated, start, path)
    return best
