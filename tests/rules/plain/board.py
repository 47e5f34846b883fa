"""A board as its file has it (docs/reference/boards.md): its routes, places and tickets."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

from tests.rules.plain.ways import group_joined

FILES = Path(__file__).parents[3] / "services" / "referee" / "games" / "trains" / "boards"
GRAY = "gray"


class Route(NamedTuple):
    id: str
    ends: tuple[str, str]
    length: int
    color: str
    tunnel: bool
    locomotives: int  # that a payment has at least (FERRY-1)


class Ticket(NamedTuple):
    ends: tuple[str, str]
    points: int
    deck: str


@dataclass(frozen=True)
class Board:
    routes: Mapping[str, Route]
    parallels: Mapping[str, tuple[str, ...]]  # of each route, the others between the same two places
    cities: frozenset[str]  # countries are none
    countries: frozenset[str]
    colors: Mapping[str, str]  # of a city's stack of merchandise
    tickets: Mapping[str, Ticket]
    routes_at: Mapping[str, tuple[Route, ...]]


@cache
def load_board(name: str, pair_points: int | None) -> Board:
    """The repository's board of this name. With points for pairs every two cities that a path joins are a
    ticket worth that."""
    own_form = FILES / f"{name}.json"
    if own_form.exists():
        return _board(json.loads(own_form.read_text(encoding="utf-8")), pair_points)
    trains_map = json.loads((FILES / f"{name}.trains.json").read_text(encoding="utf-8"))
    return _board(_from_trains_map(trains_map), pair_points)


def _board(form: Mapping[str, Any], pair_points: int | None) -> Board:
    routes = {
        row["id"]: Route(
            row["id"],
            (row["between"][0], row["between"][1]),
            row["length"],
            row["color"],
            row.get("kind") == "tunnel",
            row.get("locomotives", 0),
        )
        for row in form["routes"]
    }
    between, routes_at = defaultdict(list), defaultdict(list)
    for route in routes.values():
        between[frozenset(route.ends)].append(route.id)
        for city in route.ends:
            routes_at[city].append(route)
    tickets = {
        row["id"]: Ticket((row["between"][0], row["between"][1]), row["points"], row["deck"])
        for row in form.get("tickets", ())
    }
    board = Board(
        routes,
        {
            route.id: tuple(other for other in between[frozenset(route.ends)] if other != route.id)
            for route in routes.values()
        },
        frozenset(row["id"] for row in form["cities"] if not row.get("country")),
        frozenset(row["id"] for row in form["cities"] if row.get("country")),
        {row["id"]: row["merchandise"] for row in form["cities"] if row.get("merchandise")},
        tickets,
        {city: tuple(found) for city, found in routes_at.items()},
    )
    if pair_points is None:
        return board
    names = {row["id"]: row["name"] for row in form["cities"]}
    return replace(board, tickets=_pairs(board, names, pair_points))


def _pairs(board: Board, names: Mapping[str, str], points: int) -> dict[str, Ticket]:
    """Every two places that a path joins, in the order of their names."""
    routes = [*board.routes.values()]
    group = group_joined((stop(board, route, 0), stop(board, route, 1)) for route in routes)
    places = sorted(names, key=lambda place: (names[place], place))
    reached = {place: groups_reached(board, group, routes, place) for place in places}
    return {
        f"{a}:{b}": Ticket((a, b), points, "regular")
        for a, b in combinations(places, 2)
        if reached[a] & reached[b]
    }


# -- countries, through which no way leads (SCORE-2) -----------------------------------------


def stop(board: Board, route: Route, end: int) -> str:
    """The place at that end of the route; a country is another one for each of its routes."""
    place = route.ends[end]
    return f"{place} by {route.id}" if place in board.countries else place


def groups_reached(board: Board, group: Mapping[str, int], routes: Sequence[Route], place: str) -> set[int]:
    """The groups of joined stops that the place belongs to: a country may be at the end of several."""
    stops = [place]
    if place in board.countries:
        stops = [f"{place} by {route.id}" for route in routes if place in route.ends]
    return {group[name] for name in stops if name in group}


def _from_trains_map(trains_map: Mapping[str, Any]) -> dict[str, Any]:
    ids = {name: name.lower().replace(" ", "-") for name, _ in trains_map["cities"]}
    routes = []
    for a, joined in trains_map["connections"].items():
        for b, connections in joined.items():
            for color, length in connections.items():
                ends = sorted((ids[a], ids[b]))
                route = {"id": "-".join((*ends, color)), "between": ends, "length": length, "color": color}
                routes.append(route)
    return {"cities": [{"id": ids[name], "name": name} for name in ids], "routes": routes}
