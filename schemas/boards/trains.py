"""The map of the Trains game as JSON, which other people's players send and read:

    {"width": 800, "height": 640, "cities": [["Porto", [71, 225]], ..],
     "connections": {"Porto": {"Vigo": {"red": 3}}, ..}}

A connection stands once, under either of its cities. A city may have none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from reprlib import repr as brief
from typing import Any, Final, NamedTuple

from schemas.boards.form import BoardForm, read_board
from schemas.boards.ids import slug, unique
from schemas.contract import Malformed

COLORS: Final = ("red", "blue", "green", "white")
LENGTHS: Final = (3, 4, 5)
SIDE_LEAST, SIDE_MOST = 10, 800
_KEYS: Final = {"width", "height", "cities", "connections"}
_NAME: Final = re.compile(r"[A-Za-z0-9 .,]{1,25}")


class _Connection(NamedTuple):
    a: str  # the names of its cities, a < b
    b: str
    color: str
    length: int


def read_trains_map(value: object, name: str = "map", title: str = "Trains map") -> BoardForm:
    """The board that a Trains map spells: its routes in the order of cities, length and colour.

    Raises Malformed, naming the entry that is wrong."""
    if not isinstance(value, dict) or value.keys() != _KEYS:
        raise Malformed("map", f"must be an object with {', '.join(sorted(_KEYS))}, and no more")
    size = [_side(value, "width"), _side(value, "height")]
    places = _cities(value["cities"], size)
    ids = dict(zip(places, unique(slug(city, "city") for city in places), strict=True))
    connections = sorted(
        _connections(value["connections"], places), key=lambda c: (c.a, c.b, c.length, COLORS.index(c.color))
    )
    routes = unique(f"{ids[c.a]}-{ids[c.b]}-{c.color}" for c in connections)
    return read_board(
        {
            "format": 1,
            "id": name,
            "title": title,
            "size": size,
            "rules": "trains",
            "cities": [{"id": ids[city], "name": city, "at": at} for city, at in places.items()],
            "routes": [
                {"id": id_, "between": [ids[c.a], ids[c.b]], "length": c.length, "color": c.color}
                for id_, c in zip(routes, connections, strict=True)
            ],
            "tickets": [],
        }
    )


def write_trains_map(form: BoardForm) -> dict[str, Any]:
    """The Trains map of a board, each connection under the city whose name comes first.

    Raises Malformed where that form has no words for the board."""
    names = {city.id: city.name for city in form.cities}
    connections: dict[str, dict[str, dict[str, int]]] = {}
    for route in form.routes:
        if route.kind != "rail":
            raise Malformed(f"route {route.id}", f"a Trains map has no {route.kind}")
        a, b = sorted(names[city] for city in route.between)
        colors = connections.setdefault(a, {}).setdefault(b, {})
        if route.color in colors:
            raise Malformed(
                f"route {route.id}", f"a Trains map has one {route.color} connection of two cities"
            )
        colors[route.color] = route.length
    value: dict[str, Any] = {
        "width": form.size[0],
        "height": form.size[1],
        "cities": [[city.name, [*city.at]] for city in form.cities],
        "connections": connections,
    }
    read_trains_map(value)
    return value


def _side(value: Mapping[str, object], side: str) -> int:
    length = value[side]
    if type(length) is not int or not SIDE_LEAST <= length <= SIDE_MOST:
        raise Malformed(side, f"must be a whole number from {SIDE_LEAST} to {SIDE_MOST}, not {brief(length)}")
    return length


def _cities(value: object, size: list[int]) -> dict[str, list[int]]:
    """Where each city is. Several may lie on one point."""
    if not isinstance(value, list):
        raise Malformed("cities", "must be a list of [name, [x, y]]")
    places: dict[str, list[int]] = {}
    for n, entry in enumerate(value):
        match entry:
            case [str(name), [x, y]] if type(x) is int and type(y) is int:
                if not _NAME.fullmatch(name) or name != name.strip():
                    why = (
                        "is no name: 1 to 25 of letters a-z, digits, blank, dot, comma, no blank at its ends"
                    )
                    raise Malformed(f"cities.{n}", f"{brief(name)} {why}")
                if name in places:
                    raise Malformed(f"cities.{n}", f"{name} is there twice")
                if not (0 <= x <= size[0] and 0 <= y <= size[1]):
                    raise Malformed(f"cities.{n}", f"{name} is off the map")
                places[name] = [x, y]
            case _:
                raise Malformed(f"cities.{n}", f"must be [name, [x, y]], not {brief(entry)}")
    return places


def _connections(value: object, places: Mapping[str, object]) -> Iterator[_Connection]:
    seen: set[tuple[str, str, str]] = set()
    for one, ends in _pairs(value, "connections"):
        _known(one, places, "connections")
        for other, colors in _pairs(ends, f"connections.{one}"):
            where = f"connections.{one}.{brief(other)}"
            _known(other, places, where)
            if one == other:
                raise Malformed(where, "a connection joins a city to itself")
            for color, length in _pairs(colors, where):
                a, b = sorted((one, other))
                if color not in COLORS:
                    raise Malformed(where, f"the colours are {', '.join(COLORS)}, not {brief(color)}")
                if type(length) is not int or length not in LENGTHS:
                    raise Malformed(f"{where}.{color}", f"the length is 3, 4 or 5, not {brief(length)}")
                if (a, b, color) in seen:
                    raise Malformed(f"{where}.{color}", "stands under both of its cities")
                seen.add((a, b, color))
                yield _Connection(a, b, color, length)


def _pairs(value: object, where: str) -> Iterator[tuple[str, object]]:
    if not isinstance(value, dict):
        raise Malformed(where, f"must be an object, not {brief(value)}")
    yield from value.items()


def _known(city: str, places: Mapping[str, object], where: str) -> None:
    if city not in places:
        raise Malformed(where, f"there is no city {brief(city)}")
