"""Where the names of cities stand on a board, so that they cover neither each other nor the routes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from services.gateway.models.catalog_models import Label

CHARACTER_WIDTH: Final = 7.2  # of a name, on average
TEXT_HEIGHT: Final = 12.0
CITY_RADIUS: Final = 6.0
SPACE_RADIUS: Final = 7.0
OFFSET: Final = 9.0  # of a name from the middle of its city
CELL: Final = 60.0  # of the grid in which neighbours are looked for
COVERS_NAME, COVERS_CITY, COVERS_SPACE, OFF_BOARD = 40.0, 25.0, 6.0, 1_000.0
PASSES: Final = 3  # over all cities, each time with the places of the others


class Box(NamedTuple):
    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, other: Box) -> bool:
        """Whether the two lie over each other."""
        apart = self.right <= other.left or other.right <= self.left
        return not (apart or self.bottom <= other.top or other.bottom <= self.top)


class Grid:
    """Boxes, found again by their places."""

    def __init__(self) -> None:
        self._cells: dict[tuple[int, int], list[Box]] = defaultdict(list)

    def add(self, box: Box) -> None:
        """Put a box in."""
        for cell in _cells_of(box):
            self._cells[cell].append(box)

    def remove(self, box: Box) -> None:
        """Take a box out."""
        for cell in _cells_of(box):
            self._cells[cell].remove(box)

    def count(self, box: Box) -> int:
        """How many of the boxes this one overlaps."""
        near = {other for cell in _cells_of(box) for other in self._cells.get(cell, ())}
        return sum(box.overlaps(other) for other in near)


def place_labels(
    names: Mapping[str, str],
    points: Mapping[str, tuple[float, float]],
    spaces: Iterable[tuple[float, float]],
    size: tuple[float, float],
    pieces: Iterable[tuple[float, float]] = (),
) -> dict[str, Label]:
    """The place of each city's name, where it covers the least. `pieces` lie beside cities, and count as cities."""
    cities, labels, routes = Grid(), Grid(), Grid()
    for x, y in (*points.values(), *pieces):
        cities.add(Box(x - CITY_RADIUS, y - CITY_RADIUS, x + CITY_RADIUS, y + CITY_RADIUS))
    for x, y in spaces:
        routes.add(Box(x - SPACE_RADIUS, y - SPACE_RADIUS, x + SPACE_RADIUS, y + SPACE_RADIUS))
    found: dict[str, tuple[Label, Box]] = {}
    for _ in range(PASSES):
        for city, name in names.items():
            if city in found:
                labels.remove(found[city][1])
            found[city] = min(
                _choices(name, *points[city]),
                key=lambda choice: _cost(choice[1], cities, labels, routes, size),
            )
            labels.add(found[city][1])
    return {city: label for city, (label, _) in found.items()}


def _choices(name: str, x: float, y: float) -> Iterator[tuple[Label, Box]]:
    """The places where a name may stand, the best first."""
    width = len(name) * CHARACTER_WIDTH
    for dx, dy, anchor in (
        (0.0, -OFFSET, "middle"),
        (0.0, OFFSET + 9, "middle"),
        (OFFSET, 4.0, "start"),
        (-OFFSET, 4.0, "end"),
        (OFFSET - 2, -6.0, "start"),
        (-OFFSET + 2, -6.0, "end"),
        (OFFSET - 2, 15.0, "start"),
        (-OFFSET + 2, 15.0, "end"),
        (0.0, -OFFSET - 9, "middle"),
        (0.0, OFFSET + 18, "middle"),
        (OFFSET + 10, -10.0, "start"),
        (-OFFSET - 10, -10.0, "end"),
        (OFFSET + 10, 18.0, "start"),
        (-OFFSET - 10, 18.0, "end"),
    ):
        left = x + dx - {"start": 0.0, "middle": width / 2, "end": width}[anchor]
        baseline = y + dy
        box = Box(left, baseline - TEXT_HEIGHT + 2, left + width, baseline + 2)
        yield Label(x=round(x + dx, 1), y=round(baseline, 1), anchor=anchor), box


def _cost(box: Box, cities: Grid, labels: Grid, routes: Grid, size: Sequence[float]) -> float:
    off = box.left < 2 or box.top < 2 or box.right > size[0] - 2 or box.bottom > size[1] - 2
    return (
        OFF_BOARD * off
        + COVERS_NAME * labels.count(box)
        + COVERS_CITY * cities.count(box)
        + COVERS_SPACE * routes.count(box)
    )


def _cells_of(box: Box) -> list[tuple[int, int]]:
    columns = range(int(box.left // CELL), int(box.right // CELL) + 1)
    rows = range(int(box.top // CELL), int(box.bottom // CELL) + 1)
    return [(column, row) for column in columns for row in rows]
