"""Every built-in board can be read: no route lies on another, and no name on a route or on another name."""

from __future__ import annotations

from itertools import combinations, pairwise
from math import cos, hypot, radians, sin

import pytest

from services.gateway.models.trains import BoardDrawing, CarSpace, DrawnCity
from services.referee.games.trains.board import load_board
from services.tables.trains.board_drawing import NAME_SIZE, SPACE_HEIGHT, draw_board

BOARDS = ("europe", "germany", "iberia", "nordic", "switzerland", "usa")
MOST_AT_A_CITY = 45.0  # of area, where routes part: a tenth of a space of 50
MOST_CROSSED = 100.0  # where two routes cross: a square of their height, and the slant
MOST_OF_A_NAME = 1 / 8  # on routes
NEAR, MOST_AWAY = 12.0, 45.0  # of a name from its city: beside it, and where a line leads there
MOST_WITH_LINES = 1 / 4  # of a board's names
LEAST_HEIGHT_PX = 545  # of a board on a laptop of 1366 x 768, which the layout leaves it

Corners = list[tuple[float, float]]


def corners(space: CarSpace) -> Corners:
    along, up = (cos(radians(space.angle)), sin(radians(space.angle))), SPACE_HEIGHT / 2
    half = space.length / 2
    return [
        (space.x + along[0] * x - along[1] * y, space.y + along[1] * x + along[0] * y)
        for x, y in ((-half, -up), (half, -up), (half, up), (-half, up))
    ]


def box(city: DrawnCity) -> Corners:
    """Where letters without tails stand."""
    label, half = city.label, city.label.width / 2
    left, right, top, bottom = label.x - half, label.x + half, label.y - 0.75 * NAME_SIZE, label.y
    return [(left, top), (right, top), (right, bottom), (left, bottom)]


def area(shape: Corners) -> float:
    turns = (a[0] * b[1] - b[0] * a[1] for a, b in pairwise([*shape, *shape[:1]]))
    return abs(sum(turns)) / 2


def shared(shape: Corners, other: Corners) -> float:
    """The area that two convex shapes share: one is cut along each side of the other."""
    for (ax, ay), (bx, by) in pairwise([*other, other[0]]):
        cut: Corners = []
        sides = [(bx - ax) * (y - ay) - (by - ay) * (x - ax) for x, y in shape]
        for (p, at_p), (q, at_q) in pairwise([*zip(shape, sides, strict=True), (shape[0], sides[0])]):
            if at_p >= 0:
                cut.append(p)
            if (at_p >= 0) != (at_q >= 0):
                share = at_p / (at_p - at_q)
                cut.append((p[0] + (q[0] - p[0]) * share, p[1] + (q[1] - p[1]) * share))
        if not cut:
            return 0.0
        shape = cut
    return area(shape)


def lies_on(a: list[CarSpace], b: list[CarSpace]) -> float:
    near = (
        (p, q) for p in a for q in b if hypot(p.x - q.x, p.y - q.y) < (p.length + q.length) / 2 + SPACE_HEIGHT
    )
    return sum(shared(corners(p), corners(q)) for p, q in near)


def drawn(board: str) -> BoardDrawing:
    return draw_board(load_board(board))


@pytest.mark.parametrize("board", BOARDS)
def test_no_route_lies_on_another(board: str) -> None:
    covered = {
        f"{a.title} / {b.title}": lies
        for a, b in combinations(drawn(board).routes, 2)
        if (lies := lies_on(a.spaces, b.spaces))
        > (MOST_AT_A_CITY if {a.a, a.b} & {b.a, b.b} else MOST_CROSSED)
    }
    assert covered == {}


@pytest.mark.parametrize("board", BOARDS)
def test_no_name_lies_on_a_route_a_city_or_another_name(board: str) -> None:
    drawing = drawn(board)
    boxes = {city.name: box(city) for city in drawing.cities}
    spaces = [corners(space) for route in drawing.routes for space in route.spaces]
    on_routes = {
        name: share
        for name, at in boxes.items()
        if (share := sum(shared(space, at) for space in spaces) / area(at)) > MOST_OF_A_NAME
    }
    assert on_routes == {}
    assert not [(a, b) for a, b in combinations(boxes, 2) if shared(boxes[a], boxes[b]) > 1]
    dots = {
        city.name: [(city.x + x, city.y + y) for x, y in ((-5, 0), (0, -5), (5, 0), (0, 5))]
        for city in drawing.cities
    }
    assert not [(name, city) for name, at in boxes.items() for city, dot in dots.items() if shared(dot, at)]


def away(city: DrawnCity) -> float:
    (left, top), _, (right, bottom), _ = box(city)
    return hypot(city.x - min(max(city.x, left), right), city.y - min(max(city.y, top), bottom))


@pytest.mark.parametrize("board", BOARDS)
def test_names_stand_near_their_cities(board: str) -> None:
    far = {city.name: away(city) for city in drawn(board).cities if away(city) > NEAR}
    assert len(far) <= MOST_WITH_LINES * len(drawn(board).cities)
    assert max(far.values()) < MOST_AWAY
    assert not far.keys() & {"Denver", "Hamburg", "München"}  # in the midst of the most routes


@pytest.mark.parametrize("board", BOARDS)
def test_a_name_has_eleven_pixels_on_a_laptop(board: str) -> None:
    drawing = drawn(board)
    assert drawing.width <= 1_000
    assert NAME_SIZE * LEAST_HEIGHT_PX / drawing.height >= 11
