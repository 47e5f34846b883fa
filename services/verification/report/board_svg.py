"""A board with what lies on it, drawn as an SVG map that stands in a page."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from math import hypot
from typing import Final, NamedTuple

from services.referee.rules import Table
from services.referee.rules.board import Board, Route
from services.text.events import city, joined, who
from services.verification.report.html import Html, el, run

LANE: Final = 9.0  # between parallel routes
SHORT: Final = 9.0  # of a route at each city
GAP: Final = 3.5  # between the spaces of a route
LETTER: Final = 6.2  # the width of one, about
MARGIN: Final = 34.0


class Point(NamedTuple):
    x: float
    y: float


def board_map(table: Table, marked: Collection[str] = (), cities: Collection[str] = ()) -> Html:
    """The map: routes in their colours, claimed ones in their owner's with its number, stations,
    passengers; what is marked has a halo."""
    board, (width, height) = table.board, table.board.form.size
    places = {c.id: Point(*c.at) for c in board.form.cities}
    lines = {route.id: _line(board, route, places) for route in board.routes.values()}
    parts = [
        *(el("path", d=_through(lines[name]), class_="halo") for name in marked if name in lines),
        *(el("circle", cx=places[c].x, cy=places[c].y, r=17, class_="halo") for c in cities if c in places),
        *(_route(table, route, lines[route.id]) for route in board.routes.values()),
        *(el("circle", cx=at.x, cy=at.y, r=4.5, class_="city") for at in places.values()),
        *_pieces(table, places),
        *_names(table, places),
    ]
    box = f"{-MARGIN} {-MARGIN} {width + 2 * MARGIN} {height + 2 * MARGIN}"
    title = el("title", f"Map of {board.title}: {len(table.owners)} of {len(board.routes)} routes claimed")
    return el("svg", title, run(parts), viewBox=box, role="img", class_="board")


# -- routes ------------------------------------------------------------------------------------


def _line(board: Board, route: Route, places: Mapping[str, Point]) -> list[tuple[Point, Point]]:
    """The spaces of a route: beside those that are parallel to it."""
    lanes = [name for name in board.routes if name == route.id or name in route.twins]
    lane = (lanes.index(route.id) - (len(lanes) - 1) / 2) * LANE
    a, b = sorted((places[route.a], places[route.b]))
    long = hypot(b.x - a.x, b.y - a.y) or 1.0
    along, across = Point((b.x - a.x) / long, (b.y - a.y) / long), lane
    short = min(SHORT, long / 4)
    space = (long - 2 * short) / route.length
    gap = min(GAP, space / 3) / 2

    def at(far: float) -> Point:
        return Point(
            round(a.x + along.x * far - along.y * across, 1), round(a.y + along.y * far + along.x * across, 1)
        )

    starts = [short + n * space for n in range(route.length)]
    return [(at(start + gap), at(start + space - gap)) for start in starts]


def _route(table: Table, route: Route, spaces: Sequence[tuple[Point, Point]]) -> Html:
    owner = table.owners.get(route.id)
    path = "".join(f"M{a.x} {a.y}L{b.x} {b.y}" for a, b in spaces)
    told = f"{joined(table, route.id)}: {route.length} {route.color} {route.kind}"
    if route.locomotives:
        told += f", at least {route.locomotives} locomotives"
    told += "" if owner is None else f"; {who(table, owner)} (seat {owner}) has it"
    drawn = [el("title", told), el("path", d=path, class_="edge")]
    if owner is None:
        drawn.append(el("path", d=path, class_=f"free c-{route.color}"))
        ferries = spaces[: route.locomotives]
        drawn += [el("circle", cx=_mid(*s).x, cy=_mid(*s).y, r=2, class_="loco") for s in ferries]
    else:
        drawn.append(el("path", d=path, class_=f"taken s-{owner}"))
        drawn.append(_badge(owner, _badged(route, spaces)))
    return el("g", *drawn, class_=f"route {route.kind}" + (" owned" if owner is not None else ""))


def _badged(route: Route, spaces: Sequence[tuple[Point, Point]]) -> Point:
    """Where on a route its owner's number stands: not beside that of a parallel route."""
    before = sum(twin < route.id for twin in route.twins)
    share = (before + 1) / (len(route.twins) + 2)
    a, b = spaces[0][0], spaces[-1][1]
    return Point(round(a.x + (b.x - a.x) * share, 1), round(a.y + (b.y - a.y) * share, 1))


def _badge(seat: int, at: Point, shape: str = "badge") -> Html:
    """A seat's number on a disc of its colour."""
    disc = el("circle", cx=at.x, cy=at.y, r=7, class_=f"{shape} b-{seat}")
    return run((disc, el("text", str(seat), x=at.x, y=round(at.y + 3.4, 1), class_="number")))


def _pieces(table: Table, places: Mapping[str, Point]) -> Iterator[Html]:
    """Stations and passengers, with their owner's number."""
    for name, seat in table.stations.items():
        at = places[name]
        told = el("title", f"{who(table, seat)} has a station in {city(table, name)}")
        box = el("rect", x=at.x - 9, y=at.y - 9, width=18, height=18, rx=2, class_=f"station b-{seat}")
        yield el("g", told, box, el("text", str(seat), x=at.x, y=at.y + 3.4, class_="number"))
    for name, seat in table.passengers.items():
        told = el("title", f"{who(table, seat)} has a passenger in {city(table, name)}")
        yield el("g", told, _badge(seat, Point(places[name].x + 9, places[name].y - 9), "passenger"))


def _through(spaces: Sequence[tuple[Point, Point]]) -> str:
    a, b = spaces[0][0], spaces[-1][1]
    return f"M{a.x} {a.y}L{b.x} {b.y}"


def _mid(a: Point, b: Point) -> Point:
    return Point(round((a.x + b.x) / 2, 1), round((a.y + b.y) / 2, 1))


# -- names -------------------------------------------------------------------------------------


class Box(NamedTuple):
    left: float
    top: float
    right: float
    bottom: float

    def over(self, other: Box) -> bool:
        """Whether the two lie over each other."""
        apart = self.right < other.left or other.right < self.left
        return not (apart or self.bottom < other.top or other.bottom < self.top)


def _names(table: Table, places: Mapping[str, Point]) -> Iterator[Html]:
    """Each city's name where it covers the fewest others."""
    board, width = table.board, table.board.form.size[0] + MARGIN
    taken = [Box(at.x - 5, at.y - 5, at.x + 5, at.y + 5) for at in places.values()]
    for name, at in places.items():
        long = len(board.cities[name]) * LETTER
        middle = at.x - long / 2
        off = 13 if name in table.stations or name in table.passengers else 9
        choices = [(middle, at.y - off), (middle, at.y + off + 8), (at.x + off, at.y + 4)]
        choices.append((at.x - off - long, at.y + 4))
        boxes = [Box(x, y - 10, x + long, y + 2) for x, y in choices]
        best = min(boxes, key=lambda box: _off(box, width) + sum(box.over(other) for other in taken))
        taken.append(best)
        x, y = round((best.left + best.right) / 2, 1), round(best.bottom - 2, 1)
        yield el("text", board.cities[name], x=x, y=y, class_="name")


def _off(box: Box, width: float) -> int:
    return 10 * (box.left < -MARGIN or box.right > width)
