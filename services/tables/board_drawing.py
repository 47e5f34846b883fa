"""A board as a drawing: the places of its cities, the spaces of its routes, its names and its ground."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache, lru_cache
from importlib import resources
from math import atan2, degrees, hypot
from typing import Final, NamedTuple

from services.gateway.models.catalog_models import BoardDrawing, DrawnCity, DrawnRoute
from services.referee.games.trains.board import Board, Route
from services.tables.label_places import place_labels

WIDTH: Final = 1000.0  # of every drawing; a board in other units is drawn to scale
MARGIN: Final = 36.0
LANE_WIDTH: Final = 12.5  # between parallel routes
CITY_INSET: Final = 8.5  # of a route at each city
SPACE_GAP: Final = 3.0  # between the spaces of a route
STACK_AT: Final = 10.0  # of merchandise, to the right of its city and below it

Rings = list[list[tuple[float, float]]]


class Point(NamedTuple):
    x: float
    y: float


@lru_cache(maxsize=32)
def draw_board(board: Board) -> BoardDrawing:
    """The drawing of a board. Boards are compared by identity, and equal forms share one (`build_board`)."""
    form = board.form
    left, top, right, bottom = _extent(board)
    scale = (WIDTH - 2 * MARGIN) / max(right - left, (bottom - top) / 1.6, 1.0)
    points = {
        city.id: Point(MARGIN + (city.at[0] - left) * scale, MARGIN + (city.at[1] - top) * scale)
        for city in form.cities
    }
    width = 2 * MARGIN + (right - left) * scale
    height = 2 * MARGIN + (bottom - top) * scale
    lanes = Counter[frozenset[str]]()  # that routes were given between two cities
    routes = []
    for route in board.routes.values():
        routes.append(_draw_route(board, route, points, lanes[frozenset((route.a, route.b))]))
        lanes[frozenset((route.a, route.b))] += 1
    names = {city.id: city.name.strip() for city in form.cities}
    spaces = [(space.x, space.y) for route in routes for space in route.spaces]
    stacks = [
        (points[city.id].x + STACK_AT, points[city.id].y + STACK_AT)
        for city in form.cities
        if city.merchandise
    ]
    labels = place_labels(names, points, spaces, (width, height), stacks)
    return BoardDrawing(
        id=board.id,
        title=board.title,
        ruleset=board.default_ruleset,
        width=round(width, 1),
        height=round(height, 1),
        land=_land_path(board.id, scale, MARGIN - left * scale, MARGIN - top * scale),
        cities=[
            DrawnCity(
                id=city.id,
                name=names[city.id],
                x=round(points[city.id].x, 1),
                y=round(points[city.id].y, 1),
                country=city.country,
                merchandise=city.merchandise,
                label=labels[city.id],
            )
            for city in form.cities
        ],
        routes=routes,
    )


def _extent(board: Board) -> tuple[float, float, float, float]:
    """Left, top, right and bottom of what stands on the board."""
    xs = [city.at[0] for city in board.form.cities] or [0]
    ys = [city.at[1] for city in board.form.cities] or [0]
    return min(xs), min(ys), max(xs), max(ys)


def _draw_route(board: Board, route: Route, points: dict[str, Point], lane: int) -> DrawnRoute:
    """A route in its lane, of those between its cities."""
    names = board.cities
    title = f"{names[route.a].strip()} - {names[route.b].strip()}, {route.length} {route.color}"
    if route.kind != "rail":
        title += f" {route.kind}"
    if route.locomotives:
        title += f", at least {route.locomotives} locomotive{'s' if route.locomotives > 1 else ''}"
    return DrawnRoute.model_validate(
        {
            "id": route.id,
            "a": route.a,
            "b": route.b,
            "length": route.length,
            "color": route.color,
            "kind": route.kind,
            "locomotives": route.locomotives,
            "title": title,
            "spaces": _route_spaces(route, points, (lane - (len(route.lanes) - 1) / 2) * LANE_WIDTH),
        }
    )  # all at once: a board may have 20,000 spaces


def _route_spaces(route: Route, points: dict[str, Point], aside: float) -> list[dict[str, float]]:
    """The spaces of a route, so far beside the line between its cities."""
    a, b = sorted((points[route.a], points[route.b]))
    distance = hypot(b.x - a.x, b.y - a.y) or 1.0
    along = Point((b.x - a.x) / distance, (b.y - a.y) / distance)
    inset = min(CITY_INSET, distance / 4)
    step = (distance - 2 * inset) / route.length
    length = round(step - min(SPACE_GAP, step / 3), 1)
    angle = round(degrees(atan2(along.y, along.x)), 1)
    spaces = []
    for place in range(route.length):
        middle = inset + (place + 0.5) * step
        x, y = a.x + along.x * middle - along.y * aside, a.y + along.y * middle + along.x * aside
        spaces.append({"x": round(x, 1), "y": round(y, 1), "angle": angle, "length": length})
    return spaces


def _land_path(board: str, scale: float, dx: float, dy: float) -> str:
    """The ground of a built-in board as an SVG path, scaled and moved; empty if it has none."""
    return "".join(
        "M" + "L".join(f"{x * scale + dx:.0f} {y * scale + dy:.0f}" for x, y in ring) + "Z"
        for ring in _read_rings(board)
    )


@cache
def _read_rings(board: str) -> Rings:
    """The outlines of a built-in board in its units. Others may have any id, so only names of files in the folder are read."""
    folder = resources.files(__package__).joinpath("land")
    for file in folder.iterdir() if folder.is_dir() else ():
        if file.name == f"{board}.json":
            rings: Rings = json.loads(file.read_bytes())["rings"]
            return rings
    return []
