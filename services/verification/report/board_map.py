"""A board with what lies on it, as the shapes of an SVG map (templates/board.html)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import cos, radians, sin
from typing import NamedTuple

from services.gateway.models.catalog_models import CarSpace, DrawnRoute
from services.referee.games.trains.train_state import TrainGame
from services.tables.board_drawing import draw_board
from services.text.formatting import city_name, seat_name


class Point(NamedTuple):
    x: float
    y: float


class RouteShape(NamedTuple):
    """A route on the map: its spaces as the commands of an SVG path."""

    title: str
    kind: str
    color: str
    path: str
    owner: int | None  # the seat that claimed it
    badge: Point  # of the owner's number
    ferries: Sequence[CarSpace]  # the spaces that take locomotives


class Piece(NamedTuple):
    """A station or a passenger of a seat."""

    title: str
    seat: int
    at: Point


class Label(NamedTuple):
    """A city's name, at the middle of its baseline, and how wide it is written."""

    text: str
    at: Point
    width: float


class BoardMap(NamedTuple):
    """The shapes of a map, in the order in which they are drawn."""

    title: str
    view_box: str
    marked_routes: Sequence[str]  # as commands of an SVG path
    marked_cities: Sequence[Point]
    routes: Sequence[RouteShape]
    cities: Sequence[Point]
    stations: Sequence[Piece]
    passengers: Sequence[Piece]
    names: Sequence[Label]


def board_map(state: TrainGame, marked: Collection[str] = (), cities: Collection[str] = ()) -> BoardMap:
    """The map: routes in their colours, claimed ones in their owner's with its number, stations, passengers.

    The `marked` routes and the `cities` have a halo; ids that the board doesn't have are left out."""
    table = state.own
    board, drawing = table.board, draw_board(table.board)
    points = {city.id: Point(city.x, city.y) for city in drawing.cities}
    routes = {route.id: route for route in drawing.routes}

    def piece(what: str, seat: int, city: str, offset: int = 0) -> Piece:
        title = f"{seat_name(state, seat)} has a {what} in {city_name(state, city)}"
        return Piece(title, seat, Point(points[city].x + offset, points[city].y - offset))

    return BoardMap(
        title=f"Map of {board.title}: {len(table.route_owners)} of {len(board.routes)} routes claimed",
        view_box=f"0 0 {drawing.width} {drawing.height}",
        marked_routes=[
            "".join(_line(*_ends([space])) for space in routes[name].spaces)
            for name in marked
            if name in routes
        ],
        marked_cities=[points[name] for name in cities if name in points],
        routes=[_route_shape(state, route) for route in drawing.routes],
        cities=[*points.values()],
        stations=[piece("station", seat, city) for city, seat in table.station_owners.items()],
        passengers=[piece("passenger", seat, city, 9) for city, seat in table.passenger_owners.items()],
        names=[
            Label(city_name(state, city.id), Point(city.label.x, city.label.y), city.label.width)
            for city in drawing.cities
        ],
    )


def _route_shape(state: TrainGame, route: DrawnRoute) -> RouteShape:
    table = state.own
    owner, parallels = table.route_owners.get(route.id), table.board.routes[route.id].parallels
    lane = sum(other < route.id for other in parallels) + 1
    space = route.spaces[len(route.spaces) * lane // (len(parallels) + 2)]  # not beside others' badges
    return RouteShape(
        title=route.title + ("" if owner is None else f"; {seat_name(state, owner)} (seat {owner}) has it"),
        kind=route.kind,
        color=route.color,
        path="".join(_line(*_ends([space])) for space in route.spaces),
        owner=owner,
        badge=Point(space.x, space.y),
        ferries=route.spaces[: route.locomotives],
    )


def _ends(spaces: Sequence[CarSpace]) -> tuple[Point, Point]:
    """The begin of the first of these spaces in a row, and the end of the last."""

    def end(space: CarSpace, sign: int) -> Point:
        along, angle = sign * space.length / 2, radians(space.angle)
        return Point(round(space.x + along * cos(angle), 1), round(space.y + along * sin(angle), 1))

    return end(spaces[0], -1), end(spaces[-1], 1)


def _line(a: Point, b: Point) -> str:
    return f"M{a.x} {a.y}L{b.x} {b.y}"
