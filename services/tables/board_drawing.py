"""A board as a drawing: the places of its cities, the spaces of its routes, its names and its ground."""

from __future__ import annotations

import json
from functools import cache, lru_cache
from importlib import resources
from typing import Final

from services.gateway.models.catalog_models import BoardDrawing, DrawnCity, DrawnRoute
from services.referee.games.trains.board import Board, Route
from services.tables.label_places import place_labels
from services.tables.route_lines import Point, Space, points_of, route_spaces

WIDTH: Final = 1000.0  # of a drawing, or its height: a board in other units is drawn to scale
HEIGHT: Final = 640.0
MAX_STRETCH: Final = 1.35  # of a tall board to its sides, where there is room for names
MARGIN: Final = 44.0  # above and below
SIDE: Final = 56.0  # where names have room
STACK_AT: Final = 10.0  # of merchandise, to the right of its city and below it

Rings = list[list[tuple[float, float]]]


@lru_cache(maxsize=32)
def draw_board(board: Board) -> BoardDrawing:
    """The drawing of a board. Boards are compared by identity, and equal forms share one (`build_board`)."""
    form = board.form
    left, top, right, bottom = _extent(board)
    down = min((HEIGHT - 2 * MARGIN) / max(bottom - top, 1.0), (WIDTH - 2 * SIDE) / max(right - left, 1.0))
    across = min((WIDTH - 2 * SIDE) / max(right - left, 1.0), MAX_STRETCH * down)
    points = {
        city.id: Point(SIDE + (city.at[0] - left) * across, MARGIN + (city.at[1] - top) * down)
        for city in form.cities
    }
    width = 2 * SIDE + (right - left) * across
    height = 2 * MARGIN + (bottom - top) * down
    lines = route_spaces(board.routes.values(), points, (width, height))
    spaces = points_of([space for route in lines.values() for space in route])
    routes = [_draw_route(board, route, lines[route.id]) for route in board.routes.values()]
    names = {city.id: city.name.strip() for city in form.cities}
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
        land=_land_path(board.id, (across, down), SIDE - left * across, MARGIN - top * down),
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


def _draw_route(board: Board, route: Route, spaces: list[Space]) -> DrawnRoute:
    """A route with its spaces, and with its title."""
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
            "spaces": [space._asdict() for space in spaces],
        }
    )  # all at once: a board may have 20,000 spaces


def _land_path(board: str, scales: tuple[float, float], dx: float, dy: float) -> str:
    """The ground of a built-in board as an SVG path, scaled and moved; empty if it has none."""
    return "".join(
        "M" + "L".join(f"{x * scales[0] + dx:.0f} {y * scales[1] + dy:.0f}" for x, y in ring) + "Z"
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
