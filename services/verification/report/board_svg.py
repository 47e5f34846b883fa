"""A board with what lies on it, drawn as an SVG map that stands in a page."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from math import hypot
from typing import Final, NamedTuple

from services.referee.rules import GameState
from services.referee.rules.board import Board, Route
from services.text.formatting import city_name, describe_route, seat_name
from services.verification.report.html import Html, el, join_html

LANE_WIDTH: Final = 9.0  # between parallel routes
CITY_INSET: Final = 9.0  # of a route at each city
SPACE_GAP: Final = 3.5  # between the spaces of a route
LETTER_WIDTH: Final = 6.2  # the width of one, about
MARGIN: Final = 34.0


class Point(NamedTuple):
    x: float
    y: float


def board_map(state: GameState, marked: Collection[str] = (), cities: Collection[str] = ()) -> Html:
    """The map: routes in their colours, claimed ones in their owner's with its number, stations,
    passengers; what is marked has a halo."""
    board, (width, height) = state.board, state.board.form.size
    points = {c.id: Point(*c.at) for c in board.form.cities}
    spaces_by_route = {route.id: _route_spaces(board, route, points) for route in board.routes.values()}
    parts = [
        *(
            el("path", d=_straight_path(spaces_by_route[name]), class_="halo")
            for name in marked
            if name in spaces_by_route
        ),
        *(el("circle", cx=points[c].x, cy=points[c].y, r=17, class_="halo") for c in cities if c in points),
        *(_route_svg(state, route, spaces_by_route[route.id]) for route in board.routes.values()),
        *(el("circle", cx=at.x, cy=at.y, r=4.5, class_="city") for at in points.values()),
        *_pieces_svg(state, points),
        *_city_names(state, points),
    ]
    box = f"{-MARGIN} {-MARGIN} {width + 2 * MARGIN} {height + 2 * MARGIN}"
    title = el(
        "title", f"Map of {board.title}: {len(state.route_owners)} of {len(board.routes)} routes claimed"
    )
    return el("svg", title, join_html(parts), viewBox=box, role="img", class_="board")


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


def _route_svg(state: GameState, route: Route, spaces: Sequence[tuple[Point, Point]]) -> Html:
    owner = state.route_owners.get(route.id)
    path = "".join(f"M{a.x} {a.y}L{b.x} {b.y}" for a, b in spaces)
    title = f"{describe_route(state, route.id)}: {route.length} {route.color} {route.kind}"
    if route.locomotives:
        title += f", at least {route.locomotives} locomotives"
    title += "" if owner is None else f"; {seat_name(state, owner)} (seat {owner}) has it"
    elements = [el("title", title), el("path", d=path, class_="edge")]
    if owner is None:
        elements.append(el("path", d=path, class_=f"free c-{route.color}"))
        ferries = spaces[: route.locomotives]
        elements += [
            el("circle", cx=_midpoint(*s).x, cy=_midpoint(*s).y, r=2, class_="loco") for s in ferries
        ]
    else:
        elements.append(el("path", d=path, class_=f"taken s-{owner}"))
        elements.append(_badge_svg(owner, _badge_point(route, spaces)))
    return el("g", *elements, class_=f"route {route.kind}" + (" owned" if owner is not None else ""))


def _badge_point(route: Route, spaces: Sequence[tuple[Point, Point]]) -> Point:
    """Where on a route its owner's number stands: not beside that of a parallel route."""
    earlier_twins = sum(twin < route.id for twin in route.parallels)
    share = (earlier_twins + 1) / (len(route.parallels) + 2)
    a, b = spaces[0][0], spaces[-1][1]
    return Point(round(a.x + (b.x - a.x) * share, 1), round(a.y + (b.y - a.y) * share, 1))


def _badge_svg(seat: int, at: Point, shape: str = "badge") -> Html:
    """A seat's number on a disc of its colour."""
    disc = el("circle", cx=at.x, cy=at.y, r=7, class_=f"{shape} b-{seat}")
    return join_html((disc, el("text", str(seat), x=at.x, y=round(at.y + 3.4, 1), class_="number")))


def _pieces_svg(state: GameState, points: Mapping[str, Point]) -> Iterator[Html]:
    """Stations and passengers, with their owner's number."""
    for name, seat in state.station_owners.items():
        at = points[name]
        title = el("title", f"{seat_name(state, seat)} has a station in {city_name(state, name)}")
        box = el("rect", x=at.x - 9, y=at.y - 9, width=18, height=18, rx=2, class_=f"station b-{seat}")
        yield el("g", title, box, el("text", str(seat), x=at.x, y=at.y + 3.4, class_="number"))
    for name, seat in state.passenger_owners.items():
        title = el("title", f"{seat_name(state, seat)} has a passenger in {city_name(state, name)}")
        yield el("g", title, _badge_svg(seat, Point(points[name].x + 9, points[name].y - 9), "passenger"))


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


def _city_names(state: GameState, points: Mapping[str, Point]) -> Iterator[Html]:
    """Each city's name where it covers the fewest others."""
    board, width = state.board, state.board.form.size[0] + MARGIN
    occupied = [Box(at.x - 5, at.y - 5, at.x + 5, at.y + 5) for at in points.values()]
    for name, at in points.items():
        text_width = len(board.cities[name]) * LETTER_WIDTH
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
        yield el("text", board.cities[name], x=x, y=y, class_="name")


def _overflow_cost(box: Box, width: float) -> int:
    return 10 * (box.left < -MARGIN or box.right > width)
