"""A board as numbers: cities and routes by index, so that a path is found quickly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from heapq import heappop, heappush
from typing import Final, NamedTuple

from schemas.trains.rule_options import RuleOptions
from services.referee.games.trains.board import Board, Route

UNREACHABLE: Final = 1e6  # the cost where there is no path, and of a route that can't be used


class BoardGraph(NamedTuple):
    """The routes and cities of a board by index; of each route its ends, length and points."""

    routes: tuple[Route, ...]
    route_index: Mapping[str, int]
    city_index: Mapping[str, int]
    ends: tuple[tuple[int, int], ...]
    exits: tuple[tuple[tuple[int, int], ...], ...]  # by city: its routes, each with the city at its other end
    is_country: tuple[bool, ...]  # by city: no path goes through it (SCORE-2)
    lengths: tuple[int, ...]
    points: tuple[int, ...]
    car_value: float  # the most points that a car can bring on a route of a usual length


class TicketEnds(NamedTuple):
    """A ticket by the numbers of its cities; searches number its deck too."""

    a: int
    b: int
    points: int
    deck: int = 0


@lru_cache(maxsize=64)
def _build_graph(board: Board, route_points: tuple[int | None, ...]) -> BoardGraph:
    routes = tuple(board.routes.values())
    city_index = {city: index for index, city in enumerate(board.cities)}
    ends = tuple((city_index[route.a], city_index[route.b]) for route in routes)
    exits: list[list[tuple[int, int]]] = [[] for _ in city_index]
    for index, (a, b) in enumerate(ends):
        exits[a].append((index, b))
        exits[b].append((index, a))
    points = tuple(route_points[route.length - 1] or 0 for route in routes)
    return BoardGraph(
        routes,
        {route.id: index for index, route in enumerate(routes)},
        city_index,
        ends,
        tuple(map(tuple, exits)),
        tuple(city in board.countries for city in board.cities),
        tuple(route.length for route in routes),
        points,
        max((points[i] / routes[i].length for i in range(len(routes))), default=1.0),
    )


def graph_of(board: Board, rule_options: RuleOptions) -> BoardGraph:
    """The graph of a board under these rule options."""
    return _build_graph(board, tuple(rule_options.route_points))


def shortest_path(graph: BoardGraph, costs: Sequence[float], start: int, end: int) -> tuple[float, list[int]]:
    """The least cost of a path between two cities, and its routes; UNREACHABLE and [] without one. `costs` are by route."""
    costs_to, arrivals = _search(graph, costs, start, end)
    return costs_to[end], _routes_back(arrivals, start, end) if costs_to[end] < UNREACHABLE else []


def least_costs(graph: BoardGraph, costs: Sequence[float], start: int) -> list[float]:
    """The least cost of a path from `start`, by city; UNREACHABLE if there is none. `costs` are by route."""
    return _search(graph, costs, start, None)[0]


def _search(
    graph: BoardGraph, costs: Sequence[float], start: int, end: int | None
) -> tuple[list[float], dict[int, tuple[int, int]]]:
    """The least cost by city, and the route and city from which each is reached. The search stops at `end`."""
    exits, is_country = graph.exits, graph.is_country
    best = [UNREACHABLE] * len(exits)
    best[start] = 0.0
    arrivals: dict[int, tuple[int, int]] = {}
    frontier = [(0.0, start)]
    while frontier:
        cost, city = heappop(frontier)
        if city == end:
            break
        if cost > best[city] or (is_country[city] and city != start):
            continue
        for route, neighbour in exits[city]:
            total = cost + costs[route]
            if total < best[neighbour]:
                best[neighbour] = total
                arrivals[neighbour] = route, city
                heappush(frontier, (total, neighbour))
    return best, arrivals


def _routes_back(arrivals: Mapping[int, tuple[int, int]], start: int, city: int) -> list[int]:
    routes = []
    while city != start:
        route, city = arrivals[city]
        routes.append(route)
    return routes
