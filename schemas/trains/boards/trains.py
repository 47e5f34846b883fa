"""The map of the Trains game as JSON, as external players send and read it:

    {"width": 800, "height": 640, "cities": [["Porto", [71, 225]], ..],
     "connections": {"Porto": {"Vigo": {"red": 3}}, ..}}

A connection stands once, under either of its cities. A city may have none, and its name may begin or end
with a blank. A map may have no city at all: it has no destinations then.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from reprlib import repr as short_repr
from typing import Final, NamedTuple

from schemas.errors import InvalidInputError
from schemas.trains.boards.board_ids import make_unique, slug
from schemas.trains.boards.form import BoardForm, read_board

COLORS: Final = ("red", "blue", "green", "white")
LENGTHS: Final = (3, 4, 5)
MIN_SIDE, MAX_SIDE = 10, 800
_MAP_KEYS: Final = {"width", "height", "cities", "connections"}
_CITY_NAME: Final = re.compile(r"[A-Za-z0-9 .,]{1,25}")


class _Connection(NamedTuple):
    a: str  # the names of its cities, a < b
    b: str
    color: str
    length: int


def read_trains_map(value: object, name: str = "map", title: str = "Trains map") -> BoardForm:
    """The board of a Trains map: its routes in the order of cities, length and colour.

    Raises InvalidInputError, naming the entry that is wrong."""
    if not isinstance(value, dict) or value.keys() != _MAP_KEYS:
        raise InvalidInputError("map", f"must be an object with {', '.join(sorted(_MAP_KEYS))}, and no more")
    size = [_read_side(value, "width"), _read_side(value, "height")]
    city_points = _read_cities(value["cities"], size)
    ids = dict(zip(city_points, make_unique(slug(city, "city") for city in city_points), strict=True))
    connections = sorted(
        _iter_connections(value["connections"], city_points),
        key=lambda c: (c.a, c.b, c.length, COLORS.index(c.color)),
    )
    routes = make_unique(f"{ids[c.a]}-{ids[c.b]}-{c.color}" for c in connections)
    return read_board(
        {
            "format": 1,
            "id": name,
            "title": title,
            "size": size,
            "rules": "trains",
            "cities": [{"id": ids[city], "name": city, "at": at} for city, at in city_points.items()],
            "routes": [
                {"id": id_, "between": [ids[c.a], ids[c.b]], "length": c.length, "color": c.color}
                for id_, c in zip(routes, connections, strict=True)
            ],
            "tickets": [],
        }
    )


def write_trains_map(form: BoardForm) -> dict[str, object]:
    """The Trains map of a board, each connection under the city whose name comes first.

    Raises InvalidInputError where that form can't express the board."""
    names = {city.id: city.name for city in form.cities}
    connections: dict[str, dict[str, dict[str, int]]] = {}
    for route in form.routes:
        if route.kind != "rail":
            raise InvalidInputError(f"route {route.id}", f"a Trains map has no {route.kind}")
        a, b = sorted(names[city] for city in route.between)
        colors = connections.setdefault(a, {}).setdefault(b, {})
        if route.color in colors:
            raise InvalidInputError(
                f"route {route.id}", f"a Trains map has one {route.color} connection of two cities"
            )
        colors[route.color] = route.length
    value: dict[str, object] = {
        "width": form.size[0],
        "height": form.size[1],
        "cities": [[city.name, [*city.at]] for city in form.cities],
        "connections": connections,
    }
    read_trains_map(value)
    return value


def _read_side(value: Mapping[str, object], side: str) -> int:
    length = value[side]
    if type(length) is not int or not MIN_SIDE <= length <= MAX_SIDE:
        raise InvalidInputError(
            side, f"must be a whole number from {MIN_SIDE} to {MAX_SIDE}, not {short_repr(length)}"
        )
    return length


def _read_cities(value: object, size: list[int]) -> dict[str, list[int]]:
    """The point [x, y] of each city. Several may have the same one."""
    if not isinstance(value, list):
        raise InvalidInputError("cities", "must be a list of [name, [x, y]]")
    city_points: dict[str, list[int]] = {}
    for n, entry in enumerate(value):
        match entry:
            case [str(name), [x, y]] if type(x) is int and type(y) is int:
                if not _CITY_NAME.fullmatch(name):
                    reason = "is no name: 1 to 25 of letters a-z, digits, blank, dot, comma"
                    raise InvalidInputError(f"cities.{n}", f"{short_repr(name)} {reason}")
                if name in city_points:
                    raise InvalidInputError(f"cities.{n}", f"{short_repr(name)} is there twice")
                if not (0 <= x <= size[0] and 0 <= y <= size[1]):
                    raise InvalidInputError(f"cities.{n}", f"{short_repr(name)} is off the map")
                city_points[name] = [x, y]
            case _:
                raise InvalidInputError(f"cities.{n}", f"must be [name, [x, y]], not {short_repr(entry)}")
    return city_points


def _iter_connections(value: object, city_points: Mapping[str, object]) -> Iterator[_Connection]:
    seen: set[tuple[str, str, str]] = set()
    for city, neighbours in _iter_items(value, "connections"):
        _require_city(city, city_points, "connections")
        for neighbour, colors in _iter_items(neighbours, f"connections.{short_repr(city)}"):
            where = f"connections.{short_repr(city)}.{short_repr(neighbour)}"
            _require_city(neighbour, city_points, where)
            if city == neighbour:
                raise InvalidInputError(where, "a connection joins a city to itself")
            for color, length in _iter_items(colors, where):
                a, b = sorted((city, neighbour))
                if color not in COLORS:
                    raise InvalidInputError(
                        where, f"the colours are {', '.join(COLORS)}, not {short_repr(color)}"
                    )
                if type(length) is not int or length not in LENGTHS:
                    raise InvalidInputError(
                        f"{where}.{color}", f"the length is 3, 4 or 5, not {short_repr(length)}"
                    )
                if (a, b, color) in seen:
                    raise InvalidInputError(f"{where}.{color}", "stands under both of its cities")
                seen.add((a, b, color))
                yield _Connection(a, b, color, length)


def _iter_items(value: object, where: str) -> Iterator[tuple[str, object]]:
    if not isinstance(value, dict):
        raise InvalidInputError(where, f"must be an object, not {short_repr(value)}")
    yield from value.items()


def _require_city(city: str, city_points: Mapping[str, object], where: str) -> None:
    if city not in city_points:
        raise InvalidInputError(where, f"there is no city {short_repr(city)}")
