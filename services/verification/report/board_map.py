"""A board with what lies on it, as the shapes of an SVG map (templates/board.html)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from math import hypot
from typing import Final, NamedTuple

from services.referee.rules import GameState
from services.referee.rules.board import Board, Route
from services.text.formatting import city_name, describe_route, seat_name

LANE_WIDTH: Final = 9.0  # between parallel routes
CITY_INSET: Final = 9.0  # of a route at each city
SPACE_GAP: Final = 3.5  # between the spaces of a route
CHARACTER_WIDTH: Final = 6.2  # of a name, on average
MARGIN: Final = 34.0


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
    badge: Point  # where the owner's number stands
    ferries: Sequence[Point]  # of the spaces that take locomotives


class Piece(NamedTuple):
    """A station or a passenger of a seat."""

    title: str
    seat: int
    at: Point


class Label(NamedTuple):
    """A city's name, centred at a point."""

    text: str
    at: Point


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


def board_map(state: GameState, marked: Collection[str] = (), cities: Collection[str] = ()) -> BoardMap:
    """The map: routes in their colours, claimed ones in their owner's with its number, stations, passengers.
    The `marked` routes and the `cities` have a halo; ids that the board doesn't have are left out."""
    board, (width, height) = state.board, state.board.form.size
    points = {city.id: Point(*city.at) for city in board.form.cities}
    spaces_by_route = {route.id: _route_spaces(board, route, points) for route in board.routes.values()}
    return BoardMap(
        title=f"Map of {board.title}: {len(state.route_owners)} of {len(board.routes)} routes claimed",
        view_box=f"{-MARGIN} {-MARGIN} {width + 2 * MARGIN} {height + 2 * MARGIN}",
        marked_routes=[_straight_path(spaces_by_route[name]) for name in marked if name in spaces_by_route],
        marked_cities=[points[name] for name in cities if name in points],
        routes=[_route_shape(state, route, spaces_by_route[route.id]) for route in board.routes.values()],
        cities=[*points.values()],
        stations=[
            Piece(f"{seat_name(state, seat)} has a station in {city_name(state, name)}", seat, points[name])
            for name, seat in state.station_owners.items()
        ],
        passengers=[
            Piece(
                f"{seat_name(state, seat)} has a passenger in {city_name(state, name)}",
                seat,
                Point(points[name].x + 9, points[name].y - 9),
            )
            for name, seat in state.passenger_owners.items()
        ],
        names=[*_city_names(state, points)],
    )


# -- routes ------------------------------------------------------------------------------------


def _route_spaces(board: Board, route: Route, points: Mapping[str, Point]) -> list[tuple[Point, Point]]:
    """The spaces of a route: beside those that are parallel to it."""
    lanes = [name for name in board.routes if name == route.id or name in route.parallels]
    lane = (lanes.index(route.id) - (len(lanes) - 1) / 2) * LANE_WIDTH
    a, b = sorted((points[route.a], points[route.b]))
    length = hypot(b.x - a.x, b.y - a.y) or 1.0
    along, across = Point((b.x - a.x) / length, (b.y - a.y) / length), lane
    inset = min(CITY_INSET, length / 4)
    space = (length - 2 * inset) / route.length
    gap = min(SPACE_GAP, space / 3) / 2

    def point_at(distance: float) -> Point:
        return Point(
            round(a.x + along.x * distance - along.y * across, 1),
            round(a.y + along.y * distance + along.x * across, 1),
        )

    starts = [inset + n * space for n in range(route.length)]
    return [(point_at(start + gap), point_at(start + space - gap)) for start in starts]


def _route_shape(state: GameState, route: Route, spaces: Sequence[tuple[Point, Point]]) -> RouteShape:
    owner = state.route_owners.get(route.id)
    title = f"{describe_route(state, route.id)}: {route.length} {route.color} {route.kind}"
    if route.locomotives:
        title += f", at least {route.locomotives} locomotives"
    title += "" if owner is None else f"; {seat_name(state, owner)} (seat {owner}) has it"
    return RouteShape(
        title=title,
        kind=route.kind,
        color=route.color,
        path="".join(f"M{a.x} {a.y}L{b.x} {b.y}" for a, b in spaces),
        owner=owner,
        badge=_badge_point(route, spaces),
        ferries=[_midpoint(*space) for space in spaces[: route.locomotives]],
    )


def _badge_point(route: Route, spaces: Sequence[tuple[Point, Point]]) -> Point:
    """The place of the owner's number on a route, not beside that of a parallel route."""
    earlier_twins = sum(twin < route.id for twin in route.parallels)
    share = (earlier_twins + 1) / (len(route.parallels) + 2)
    a, b = spaces[0][0], spaces[-1][1]
    return Point(round(a.x + (b.x - a.x) * share, 1), round(a.y + (b.y - a.y) * share, 1))


def _straight_path(spaces: Sequence[tuple[Point, Point]]) -> str:
    a, b = spaces[0][0], spaces[-1][1]
    return f"M{a.x} {a.y}L{b.x} {b.y}"


def _midpoint(a: Point, b: Point) -> Point:
    return Point(round((a.x + b.x) / 2, 1), round((a.y + b.y) / 2, 1))


# -- names -------------------------------------------------------------------------------------


class Box(NamedTuple):
    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, other: Box) -> bool:
        """Whether the two lie over each other."""
        apart = self.right < other.left or other.right < self.left
        return not (apart or self.bottom < other.top or other.bottom < self.top)


def _city_names(state: GameState, points: Mapping[str, Point]) -> Iterator[Label]:
    """Each city's name where it covers the fewest others."""
    board, width = state.board, state.board.form.size[0] + MARGIN
    occupied = [Box(at.x - 5, at.y - 5, at.x + 5, at.y + 5) for at in points.values()]
    for name, at in points.items():
        text_width = len(board.cities[name]) * CHARACTER_WIDTH
        middle = at.x - text_width / 2
        offset = 13 if name in state.station_owners or name in state.passenger_owners else 9
        choices = [(middle, at.y - offset), (middle, at.y + offset + 8), (at.x + offset, at.y + 4)]
        choices.append((at.x - offset - text_width, at.y + 4))
        boxes = [Box(x, y - 10, x + text_width, y + 2) for x, y in choices]
        best = min(
            boxes, key=lambda box: _overflow_cost(box, width) + sum(box.overlaps(other) for other in occupied)
        )
        occupied.append(best)
        x, y = round((best.left + best.right) / 2, 1), round(best.bottom - 2, 1)
        yield Label(board.cities[name], Point(x, y))


def _overflow_cost(box: Box, width: float) -> int:
    return 10 * (box.left < -MARGIN or box.right > width)
