"""Boards that a stranger made so that they cost the most to draw, and that pass creation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import combinations
from random import Random
from typing import Any, Final

from schemas.trains.field_types import COLORS, LOCOMOTIVE

Place = Callable[[int], tuple[int, int]]
SIDE: Final = 10_000  # of the largest board


def crowded(
    cities: int, routes: int, at: Place, *, spaces: int = 20, name: str = "", far: bool = True
) -> dict[str, Any]:
    """A board whose cities lie there, and in whose farthest corner another one is unless it isn't `far`."""
    places = [at(number) for number in range(cities)]
    if far:
        places[-1] = SIDE, SIDE
    ends = [(n % cities, (n + 1 + n // cities) % cities) for n in range(routes)]
    return {
        "format": 1,
        "id": "crowded",
        "title": "Crowded",
        "size": [SIDE, SIDE],
        "cities": [{"id": str(n), "name": f"{name}{n}", "at": place} for n, place in enumerate(places)],
        "routes": [
            {"id": f"r{n}", "between": [str(a), str(b)], "length": spaces, "color": "red"}
            for n, (a, b) in enumerate(ends)
        ],
        "tickets": [],
    }


def parallel(routes: int) -> dict[str, Any]:
    """A board of two cities and so many routes between them."""
    board = crowded(2, 0, lambda n: (n, n))
    row = {"between": ["0", "1"], "length": 20, "color": "red"}
    return {**board, "routes": [{"id": f"r{n}", **row} for n in range(routes)]}


CROWDED: Final[Mapping[str, dict[str, Any]]] = {
    "a corner": crowded(500, 1_000, lambda n: (n % 20, n // 20)),
    "a point": crowded(500, 1_000, lambda n: (5, 5)),
    "a point alone": crowded(500, 1_000, lambda n: (5, 5), far=False),
    "a row": crowded(500, 1_000, lambda n: (n, 5), name="Wide"),
    "long names": crowded(500, 750, lambda n: (n % 20, n // 20), name="W" * 36),
    "everywhere": crowded(500, 1_000, lambda n: (n * 397 % SIDE, n * 7919 % SIDE)),
    "parallel routes": parallel(1_000),
    "lines to bend": crowded(60, 300, lambda n: (n * 997 % SIDE, n * 7919 % SIDE), spaces=5),
}
# with which games on them are created: no tickets, and points for routes of any length
OPTIONS: Final[Mapping[str, Any]] = {
    "route_points": [1] * 20,
    "start_tickets": {},
    "start_keep": 0,
    "draw_tickets": {},
    "draw_keep": 0,
}


def crowded_position(
    cities: int, routes: int, tickets: int, cards: int = 0, spaces: int = 1
) -> dict[str, Any]:
    """A game on a crowded board of gray routes, in which the first seat has so many tickets, and cards of each kind."""
    board = crowded(cities, routes, lambda n: (n % 20, n // 20), spaces=spaces)
    gray = [{**route, "color": "gray"} for route in board["routes"]]
    pairs = [*combinations(map(str, range(cities)), 2)]
    Random(1).shuffle(pairs)
    kinds = [*COLORS, LOCOMOTIVE]
    return {
        "seats": [{"kind": "human"}] * 2,
        "board": {**board, "routes": gray},
        "options": {**OPTIONS, "cars": 45, "cards": dict.fromkeys(kinds, 200)},
        "position": {
            "hands": [dict.fromkeys(kinds, cards) if cards else {}, {}],
            "tickets": [[{"between": pair, "points": 1} for pair in pairs[:tickets]], []],
        },
    }
