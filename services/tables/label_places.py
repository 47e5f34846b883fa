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

NAME_SIZE: Final = 13.0  # of the letters: 11 px where a board is 545 px high
NARROW, BROAD, WIDE = 0.33 * NAME_SIZE, 0.55 * NAME_SIZE, 0.82 * NAME_SIZE  # widths of letters
TEXT_HEIGHT: Final = 12.0
BASELINE: Final = 4.5  # of a name, below its middle
RADIUS: Final = 4.5  # of a city, and of a space of a route at each of its points
OFFSET: Final = 7.5  # of a name from the middle of its city
SHIFTS: Final = (0.0, -0.4, 0.4, -0.8, 0.8, -1.2, 1.2, -1.6, 1.6)  # of a name along a side of its city
FAR_OFF: Final = (0.0, 4.0, 9.0, 15.0, 22.0, 30.0)  # that a name may stand from its city, where few names are
CELL: Final = 3.0  # within which it makes no difference where a city or a space is
COVERS_NAME, COVERS_CITY, COVERS_SPACE, OFF_BOARD = 60.0, 25.0, 14.0, 1_000.0
FAR, AWRY = 0.3, 0.5  # for each unit away from a city, and for a name that isn't in line with it
MAX_FAR: Final = 120  # names of a board that may stand far off
PASSES: Final = 5  # over all cities, each time with the places of the others; fewer where there are many
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
    """The place of each city's name, where it covers the least. `spaces` are points of them; `pieces` lie beside cities, and count as cities."""
    ground = _Ground(size, {COVERS_CITY: (*points.values(), *pieces), COVERS_SPACE: spaces})
    widths = {city: name_width(name) for city, name in names.items()}
    far, shifts = (FAR_OFF, SHIFTS) if len(names) <= MAX_FAR else (FAR_OFF[:1], SHIFTS[::3])
    offsets = [(away, shift) for away in far for shift in shifts]
    choices = {city: _choices(widths[city], *points[city], ground, size, offsets) for city in names}
    labels = _PlacedNames(max(widths.values(), default=0.0))
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
        city: Label(x=round(choice.x, 1), y=round(choice.y, 1), width=round(widths[city], 1))
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


def _choices(
    width: float,
    x: float,
    y: float,
    ground: _Ground,
    size: Sequence[float],
    offsets: Iterable[tuple[float, float]],
) -> list[Choice]:
    """The places where a name may stand, those that cover the least first; among equals, the nearest."""
    choices = []
    for away, shift in offsets:
        beside, above = width / 2 + OFFSET + away, TEXT_HEIGHT / 2 + OFFSET + away - 1
        up, along = shift * (above - 1), shift * width / 2
        for dx, dy in ((beside, up), (along, -above), (along, above), (-beside, up)):
            left, top = x + dx - width / 2, y + dy - TEXT_HEIGHT / 2
            box = Box(left, top, left + width, top + TEXT_HEIGHT)
            off = left < 3 or top < 3 or box.right > size[0] - 3 or box.bottom > size[1] - 3
            cost = OFF_BOARD * off + ground.covered(box) + FAR * away + AWRY * abs(shift)
            choices.append(Choice(cost, x + dx, y + dy + BASELINE, box))
    return sorted(choices, key=lambda choice: choice.cost)


def name_width(name: str) -> float:
    """How wide a name is written, whatever the font."""
    narrow = sum(map(name.count, "iljtfrI .'-’"))
    wide = sum(map(name.count, "mwMW"))
    return narrow * NARROW + wide * WIDE + (len(name) - narrow - wide) * BROAD
