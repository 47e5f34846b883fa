"""Where the names of cities stand on a board, so that they cover neither each other nor the routes.

Boards come from strangers, who may put 500 cities and 20,000 spaces into one corner. So the work is linear: what a place
covers of cities and routes is read off sums over small cells, and where many names crowd, only some are compared.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from operator import add
from typing import Final, NamedTuple

from services.gateway.models.catalog_models import Label

CHARACTER_WIDTH: Final = 7.2  # of a name, on average
TEXT_HEIGHT: Final = 12.0
RADIUS: Final = 6.5  # of a city, and of a space of a route
OFFSET: Final = 9.0  # of a name from the middle of its city
CELL: Final = 4.0  # within which it makes no difference where a city or a space is
COVERS_NAME, COVERS_CITY, COVERS_SPACE, OFF_BOARD = 40.0, 25.0, 6.0, 1_000.0
PASSES: Final = 3  # over all cities, each time with the places of the others; fewer where there are many
MAX_PLACED: Final = 600  # names, over all passes but the first
MAX_COMPARED: Final = 16  # names with one place: where more are near, nobody reads any of them


class Box(NamedTuple):
    left: float
    top: float
    right: float
    bottom: float


class Choice(NamedTuple):
    """A place where a name may stand, and what that costs beside all other names."""

    cost: float
    x: float
    y: float  # of the baseline
    anchor: str
    box: Box


class _Ground:
    """The weight of cities and spaces in the cells of a board, summed over all to the left of each and above it."""

    def __init__(
        self, size: tuple[float, float], weights: Mapping[float, Iterable[tuple[float, float]]]
    ) -> None:
        self._last_column, self._last_row = int(size[0] // CELL) + 1, int(size[1] // CELL) + 1
        cells = [[0.0] * (self._last_column + 1) for _ in range(self._last_row + 1)]
        for weight, middles in weights.items():
            for x, y in middles:
                cells[self._row(y)][self._column(x)] += weight
        self._sums = [[0.0] * (self._last_column + 1)]
        for row in cells[1:]:
            self._sums.append(list(map(add, self._sums[-1], accumulate(row))))

    def covered(self, box: Box) -> float:
        """The weight of all that a box covers."""
        left, right = self._column(box.left - RADIUS), self._column(box.right + RADIUS)
        above = self._sums[self._row(box.top - RADIUS)]
        below = self._sums[self._row(box.bottom + RADIUS)]
        return below[right] - below[left] - above[right] + above[left]

    def _column(self, x: float) -> int:
        return min(max(int(x // CELL) + 1, 0), self._last_column)

    def _row(self, y: float) -> int:
        return min(max(int(y // CELL) + 1, 0), self._last_row)


class _PlacedNames:
    """The boxes of names by where they begin: no name is wider than a column."""

    def __init__(self, widest: float) -> None:
        self._column_width = max(widest, 1.0)
        self._cells: dict[tuple[int, int], list[Box]] = defaultdict(list)

    def add(self, box: Box) -> None:
        """Put a name there."""
        self._cells[self._cell(box)].append(box)

    def remove(self, box: Box) -> None:
        """Take a name away."""
        self._cells[self._cell(box)].remove(box)

    def count(self, box: Box, most: float) -> int:
        """How many names this box covers; at most about so many, and MAX_COMPARED, are looked at."""
        (first, row), last = self._cell(box), int(box.right // self._column_width)
        covered = compared = 0
        for place in ((x, y) for y in (row, row - 1, row + 1) for x in range(first - 1, last + 1)):
            for other in self._cells.get(place, ()):
                if covered >= most or compared >= MAX_COMPARED:
                    return covered
                compared += 1
                apart = box.right <= other.left or other.right <= box.left
                covered += not (apart or box.bottom <= other.top or other.bottom <= box.top)
        return covered

    def _cell(self, box: Box) -> tuple[int, int]:
        return int(box.left // self._column_width), int(box.top // TEXT_HEIGHT)


def place_labels(
    names: Mapping[str, str],
    points: Mapping[str, tuple[float, float]],
    spaces: Iterable[tuple[float, float]],
    size: tuple[float, float],
    pieces: Iterable[tuple[float, float]] = (),
) -> dict[str, Label]:
    """The place of each city's name, where it covers the least. `pieces` lie beside cities, and count as cities."""
    ground = _Ground(size, {COVERS_CITY: (*points.values(), *pieces), COVERS_SPACE: spaces})
    choices = {city: _choices(name, *points[city], ground, size) for city, name in names.items()}
    labels = _PlacedNames(max(map(len, names.values()), default=0) * CHARACTER_WIDTH)
    found: dict[str, Choice] = {}
    for _ in range(max(1, min(PASSES, MAX_PLACED // max(len(names), 1)))):
        before = dict(found)
        for city in names:
            if city in found:
                labels.remove(found[city].box)
            found[city] = _cheapest(choices[city], labels)
            labels.add(found[city].box)
        if found == before:
            break
    return {
        city: Label(x=round(choice.x, 1), y=round(choice.y, 1), anchor=choice.anchor)
        for city, choice in found.items()
    }


def _cheapest(choices: Sequence[Choice], labels: _PlacedNames) -> Choice:
    """The choice with the least cost among these names, which begin with the cheapest on empty ground."""
    best, least = choices[0], float("inf")
    for choice in choices:
        if choice.cost >= least:
            break
        cost = choice.cost + COVERS_NAME * labels.count(choice.box, (least - choice.cost) / COVERS_NAME)
        if cost < least:
            best, least = choice, cost
    return best


def _choices(name: str, x: float, y: float, ground: _Ground, size: Sequence[float]) -> list[Choice]:
    """The places where a name may stand, those that cover the least first; among equals, those that look best."""
    width = len(name) * CHARACTER_WIDTH
    choices = []
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
        off = left < 2 or box.top < 2 or box.right > size[0] - 2 or box.bottom > size[1] - 2
        choices.append(Choice(OFF_BOARD * off + ground.covered(box), x + dx, baseline, anchor, box))
    return sorted(choices, key=lambda choice: choice.cost)
