"""A board as a drawing: the places of its cities, the spaces of its routes, its names and its ground.

Lines are straight, or bent where they would lie on other routes or on cities. Names cover neither each other nor the
routes.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import cache, lru_cache
from importlib import resources
from itertools import accumulate, chain, pairwise
from math import atan2, cos, degrees, hypot, radians, sin
from operator import add
from typing import Final, NamedTuple

from services.gateway.models.trains import BoardDrawing, DrawnCity, DrawnRoute, Label
from services.referee.games.trains.board import Board, Route, is_built_in, track_text
from services.runtime.shipped_files import render_template

SPACE_HEIGHT: Final = 9.0
LANE_WIDTH: Final = 11.5  # between parallel routes
MAX_SPACE: Final = 56.0
SPACE_GAP: Final = 2.5  # between the spaces of a route
INSETS: Final = (13.0, 18.0, 24.0, 32.0)  # of a route at each of its cities
MAX_INSET: Final = 0.25  # of the length of a line
CELL: Final = 4.0  # within which it makes no difference where a line is
STEP: Final = 6.0  # between points of a line that are looked at
NEAR: Final = tuple(  # cells around points of the middle of so many lanes that these cover
    tuple((x, y) for x in range(-lanes, lanes + 1) for y in range(-lanes, lanes + 1)) for lanes in range(4)
)
PAD: Final = len(NEAR) - 1
BORDER: Final = 2  # cells of a board where no line belongs
NEAR_CITY: Final = tuple((x, y) for x in range(-2, 3) for y in range(-2, 3) if x * x + y * y < 7)
CITY_WEIGHT, BORDER_WEIGHT, NAME_WEIGHT, BEND_WEIGHT, INSET_WEIGHT = 4, 4, 1.6, 0.4, 0.7
LEFT, MUCH = 2, 5  # covered cells that nobody sees; such that a way out is looked for again
PIECES: Final = 16  # of a bent line, straight each
# how far a line is moved aside, and how much nearer than its middle to one of its ends
BENDS: Final = tuple(
    (side * aside, skew)
    for aside in (6.0, 11.0, 17.0, 25.0, 36.0, 52.0, 75.0, 100.0)
    for skew in (0.0, 0.25, -0.25)
    for side in (1, -1)
)
MAX_BEND: Final = 0.4  # of the distance between its cities
PASSES: Final = 4
MAX_BENT: Final = 1_500  # spaces of a board: where more crowd, nobody tells one route from another
MAX_POINTS: Final = 40_000  # looked at
MAX_ROOM_POINTS: Final = 15_000  # once more, to make room for names


class Point(NamedTuple):
    x: float
    y: float


class Box(NamedTuple):
    left: float
    top: float
    right: float
    bottom: float

    def distance(self, point: tuple[float, float]) -> float:
        """How far a point is from it."""
        x = min(max(point[0], self.left), self.right)
        y = min(max(point[1], self.top), self.bottom)
        return hypot(point[0] - x, point[1] - y)


class Space(NamedTuple):
    """A space of a route: its middle, its direction in degrees, and its length."""

    x: float
    y: float
    angle: float
    length: float


class _Line(NamedTuple):
    """A line between two cities: its corners, and how far along it each of them is."""

    corners: Sequence[Point]
    along: Sequence[float]

    def points(self, begin: float, end: float, count: int, aside: float) -> list[Point]:
        """So many points at equal distances, so far beside the line, from there to there along it."""
        corners, along, piece, found = self.corners, self.along, 0, []
        step = (end - begin) / max(count - 1, 1)
        for number in range(count):
            at = begin + number * step
            while piece < len(along) - 2 and along[piece + 1] < at:
                piece += 1
            (ax, ay), (bx, by) = corners[piece], corners[piece + 1]
            length = along[piece + 1] - along[piece] or 1.0
            dx, dy, past = (bx - ax) / length, (by - ay) / length, at - along[piece]
            found.append(Point(ax + dx * past - dy * aside, ay + dy * past + dx * aside))
        return found


def _bent(a: Point, b: Point, aside: float, skew: float) -> _Line:
    """A line that is moved so far aside in the middle, or nearer to one of its ends: a curve of one control point."""
    far = hypot(b.x - a.x, b.y - a.y) or 1.0
    if not aside:
        return _Line([a, b], [0.0, far])
    share, off = 0.5 + skew, 2 * aside / far
    x = a.x + (b.x - a.x) * share - (b.y - a.y) * off
    y = a.y + (b.y - a.y) * share + (b.x - a.x) * off
    corners, along = [a], [0.0]
    for t in (number / PIECES for number in range(1, PIECES + 1)):
        u = 1 - t
        corner = Point(u * u * a.x + 2 * u * t * x + t * t * b.x, u * u * a.y + 2 * u * t * y + t * t * b.y)
        along.append(along[-1] + hypot(corner.x - corners[-1].x, corner.y - corners[-1].y))
        corners.append(corner)
    return _Line(corners, along)


class _Bundle:
    """The routes between two cities: they lie side by side, and bend as one."""

    def __init__(self, a: Point, b: Point) -> None:
        self.a, self.b = sorted((a, b))
        self.routes: list[Route] = []
        self.line = _bent(self.a, self.b, 0.0, 0.0)
        self.insets = (INSETS[0], INSETS[0])
        self.cells: set[int] = set()  # that its line covers
        self.near = NEAR[0]
        self.settled = 0.0  # what they covered when nothing better was found

    def lanes(self) -> list[float]:
        """How far beside the line each of its routes lies."""
        middle = (len(self.routes) - 1) / 2
        return [(lane - middle) * LANE_WIDTH for lane in range(len(self.routes))]

    def ends(self, line: _Line, insets: tuple[float, float]) -> tuple[float, float]:
        """Where routes begin and end along a line."""
        most = line.along[-1] * MAX_INSET
        return min(insets[0], most), line.along[-1] - min(insets[1], most)

    def spaces(self) -> Iterator[tuple[Route, list[Space]]]:
        """The spaces of each route."""
        begin, end = self.ends(self.line, self.insets)
        for route, aside in zip(self.routes, self.lanes(), strict=True):
            corners = self.line.points(begin, end, route.length + 1, aside)
            spaces = []
            for (ax, ay), (bx, by) in pairwise(corners):
                step = hypot(bx - ax, by - ay)
                length = round(min(step - min(SPACE_GAP, step / 3), MAX_SPACE), 1)
                angle = round(degrees(atan2(by - ay, bx - ax)), 1)
                spaces.append(Space(round((ax + bx) / 2, 1), round((ay + by) / 2, 1), angle, length))
            yield route, spaces


class _Ground:
    """How many lines and cities lie on each cell of a board."""

    def __init__(self, size: tuple[float, float]) -> None:
        self._columns, self._rows = (int(length // CELL) + 1 + 2 * PAD for length in size)
        border = [BORDER_WEIGHT] * (BORDER + PAD)
        row = [*border, *([0] * (self._columns - 2 * len(border))), *border]
        rows = [row] * (self._rows - 2 * len(border))
        outside = [[BORDER_WEIGHT] * self._columns] * len(border)
        self.weights: list[float] = [*chain.from_iterable((*outside, *rows, *outside))]
        self.looked_at = 0

    def covered(self, points: Sequence[Point], near: Iterable[tuple[int, int]]) -> set[int]:
        """The cells at these points, and near them; points off the board are counted at its border."""
        cells: set[int] = set()
        width, last_row, last_column = self._columns, self._rows - 1 - PAD, self._columns - 1 - PAD
        around = [y * width + x for x, y in near]
        self.looked_at += len(points)
        for x, y in points:
            column = min(max(int(x // CELL) + PAD, PAD), last_column)
            at = min(max(int(y // CELL) + PAD, PAD), last_row) * width + column
            cells.update([at + offset for offset in around])
        return cells

    def add(self, cells: Iterable[int], weight: float) -> None:
        """Lay something there."""
        for cell in cells:
            self.weights[cell] += weight

    def weigh(self, cells: Iterable[int]) -> float:
        """What lies on these cells."""
        return sum(map(self.weights.__getitem__, cells))

    def cells_of(self, bundle: _Bundle, line: _Line, insets: tuple[float, float]) -> set[int]:
        """The cells that the routes of a bundle cover, at most so many beside each other."""
        begin, end = bundle.ends(line, insets)
        count = max(2, int((end - begin) / STEP) + 1)
        points = line.points(begin, end, count, 0.0)
        spaces = bundle.routes[0].length
        share = MAX_SPACE * spaces / (end - begin or 1.0)  # of it that its spaces cover
        if share < 1:
            halves = ((2 * spaces * number / (count - 1)) % 2 - 1 for number in range(count))
            points = [point for point, off in zip(points, halves, strict=True) if abs(off) <= share]
        return self.covered(points, bundle.near)


class RouteLines:
    """The lines of all routes. They are bent where they cover others or come near cities: the shortest first, and the longest
    go round them."""

    def __init__(
        self, routes: Iterable[Route], points: Mapping[str, Point], size: tuple[float, float]
    ) -> None:
        bundles: dict[frozenset[str], _Bundle] = {}
        for route in routes:
            key = frozenset((route.a, route.b))
            bundle = bundles.get(key)
            if bundle is None:
                bundle = bundles[key] = _Bundle(points[route.a], points[route.b])
            bundle.routes.append(route)
            bundle.near = NEAR[min(len(bundle.routes), len(NEAR) - 1)]
        self._bundles = sorted(bundles.values(), key=lambda bundle: bundle.line.along[-1])
        self._ground, self._most = _Ground(size), MAX_POINTS
        are_bent = sum(route.length for each in self._bundles for route in each.routes) <= MAX_BENT
        if are_bent:
            self._near = {city: self._ground.covered([city], NEAR_CITY) for city in set(points.values())}
            for cells in self._near.values():
                self._ground.add(cells, CITY_WEIGHT)
            self._bend(self._bundles)

    def spaces(self) -> dict[str, list[Space]]:
        """The spaces of each route, by its id."""
        return {route.id: spaces for bundle in self._bundles for route, spaces in bundle.spaces()}

    def make_room(self, boxes: Iterable[Box]) -> None:
        """Lead lines round these boxes, where names are to stand."""
        wanted = set[int]()
        for left, top, right, bottom in boxes:
            xs = [left + STEP / 2 * n for n in range(int((right - left) / STEP * 2) + 1)]
            wanted |= self._ground.covered(
                [Point(x, y) for x in xs for y in (top, (top + bottom) / 2, bottom)], NEAR[0]
            )
        self._ground.add(wanted, NAME_WEIGHT)
        self._most = self._ground.looked_at + MAX_ROOM_POINTS
        self._bend([bundle for bundle in self._bundles if bundle.cells & wanted], wanted)

    def _bend(self, bundles: Sequence[_Bundle], wanted: Set[int] = frozenset()) -> None:
        ground = self._ground
        for _ in range(PASSES):
            for bundle in bundles:
                if ground.looked_at > self._most:
                    return
                ground.add(bundle.cells, -1)
                for city in (bundle.a, bundle.b):
                    ground.add(self._near[city], -CITY_WEIGHT)
                if not bundle.cells:
                    bundle.cells = ground.cells_of(bundle, bundle.line, bundle.insets)
                if ground.weigh(bundle.cells) > min(max(LEFT, bundle.settled), MUCH):
                    before = bundle.line, bundle.insets, bundle.cells
                    lay_on = self._lies_on(bundle, wanted)
                    _improve(bundle, ground)
                    if wanted and self._lies_on(bundle, wanted) > max(lay_on, LEFT):
                        bundle.line, bundle.insets, bundle.cells = before
                    bundle.settled = ground.weigh(bundle.cells)
                for city in (bundle.a, bundle.b):
                    ground.add(self._near[city], CITY_WEIGHT)
                ground.add(bundle.cells, 1)

    def _lies_on(self, bundle: _Bundle, wanted: Set[int]) -> float:
        """What a bundle covers, but for the room that names want."""
        return self._ground.weigh(bundle.cells) - NAME_WEIGHT * len(bundle.cells & wanted)


def _improve(bundle: _Bundle, ground: _Ground) -> None:
    """Give a bundle, which lies nowhere meanwhile, the line that covers the least, and insets with which it does."""
    straight = _bent(bundle.a, bundle.b, 0.0, 0.0)
    most = MAX_BEND * straight.along[-1]
    lines = [(0.0, straight)]
    lines += [
        (BEND_WEIGHT * abs(aside), _bent(bundle.a, bundle.b, aside, skew))
        for aside, skew in BENDS
        if abs(aside) <= most
    ]
    bundle.insets = (INSETS[0], INSETS[0])
    best, covered = float("inf"), 0.0
    for cost, line in lines:
        if cost >= best:
            break
        cells = ground.cells_of(bundle, line, bundle.insets)
        weight = ground.weigh(cells)
        if cost + weight < best:
            best, covered, bundle.line, bundle.cells = cost + weight, weight, line, cells
    best = covered
    for end in (0, 1):
        for inset in INSETS[1:]:
            insets = (bundle.insets[0], inset) if end else (inset, bundle.insets[1])
            cells = ground.cells_of(bundle, bundle.line, insets)
            cost = ground.weigh(cells) + INSET_WEIGHT * (sum(insets) - 2 * INSETS[0])
            if cost < best:
                best, bundle.insets, bundle.cells = cost, insets, cells


def points_of(spaces: Sequence[Space]) -> list[tuple[float, float]]:
    """Points along spaces, no farther from each other than these are high; where many crowd, their middles."""
    if len(spaces) > MAX_BENT:
        return [(space.x, space.y) for space in spaces]
    points = []
    for space in spaces:
        count = int(2 * space.length / SPACE_HEIGHT) + 1
        angle, step = radians(space.angle), space.length / count
        for number in range(count):
            off = (number - (count - 1) / 2) * step
            points.append((space.x + cos(angle) * off, space.y + sin(angle) * off))
    return points


NAME_SIZE: Final = 13.0  # of the letters: 11 px where a board is 545 px high
NARROW, BROAD, WIDE = 0.33 * NAME_SIZE, 0.55 * NAME_SIZE, 0.82 * NAME_SIZE  # widths of letters
TEXT_HEIGHT: Final = 12.0
BASELINE: Final = 4.5  # of a name, below its middle
RADIUS: Final = 4.5  # of a city, and of a space of a route at each of its points
OFFSET: Final = 7.5  # of a name from the middle of its city
SHIFTS: Final = (0.0, -0.4, 0.4, -0.8, 0.8, -1.2, 1.2, -1.6, 1.6)  # of a name along a side of its city
FAR_OFF: Final = (0.0, 4.0, 9.0, 15.0, 22.0, 30.0)  # that a name may stand from its city, where few names are
LABEL_CELL: Final = 3.0  # within which it makes no difference where a city or a space is
COVERS_NAME, COVERS_CITY, COVERS_SPACE, OFF_BOARD = 120.0, 80.0, 14.0, 1_000.0
FAR, AWRY = 2.0, 0.5  # for each unit away from a city, and for a name that isn't in line with it
ROOM_ROUNDS: Final = 2  # in which lines of a built-in board make room for names: others would cost too much
NEAR_BY: Final = 12.0  # a name that is farther from the middle of its city has a line there
MAX_FAR: Final = 120  # names of a board that may stand far off
LABEL_PASSES: Final = (
    5  # over all cities, each time with the places of the others; fewer where there are many
)
MAX_PLACED: Final = 600  # names, over all passes but the first
MAX_COMPARED: Final = 16  # names with one place: where more are near, nobody reads any of them


class Choice(NamedTuple):
    """A place where a name may stand, and what that costs beside all other names."""

    cost: float
    x: float
    y: float  # of the baseline
    box: Box


class _LabelGround:
    """The weight of cities and spaces in the cells of a board, summed over all to the left of each and above it."""

    def __init__(
        self, size: tuple[float, float], weights: Mapping[float, Iterable[tuple[float, float]]]
    ) -> None:
        self._last_column, self._last_row = int(size[0] // LABEL_CELL) + 1, int(size[1] // LABEL_CELL) + 1
        cells = [[0.0] * (self._last_column + 1) for _ in range(self._last_row + 1)]
        for weight, middles in weights.items():
            for x, y in middles:
                cells[self._row(y)][self._column(x)] += weight
        self._sums = [[0.0] * (self._last_column + 1)]
        for row in cells[1:]:
            self._sums.append(list(map(add, self._sums[-1], accumulate(row))))

    def covered(self, box: Box) -> float:
        """The weight of all that a box covers."""
        left, right = self._column(box.left - RADIUS - LABEL_CELL / 2), self._column(box.right + RADIUS)
        above = self._sums[self._row(box.top - RADIUS - LABEL_CELL / 2)]
        below = self._sums[self._row(box.bottom + RADIUS)]
        return below[right] - below[left] - above[right] + above[left]

    def _column(self, x: float) -> int:
        return min(max(int(x // LABEL_CELL) + 1, 0), self._last_column)

    def _row(self, y: float) -> int:
        return min(max(int(y // LABEL_CELL) + 1, 0), self._last_row)


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
) -> tuple[dict[str, Label], list[Box]]:
    """The place of each city's name, where it covers the least; and for each name that stands far off where there should be
    room for it. `spaces` are points of them; `pieces` lie beside cities, and count as cities."""
    ground = _LabelGround(size, {COVERS_CITY: (*points.values(), *pieces), COVERS_SPACE: spaces})
    widths = {city: name_width(name) for city, name in names.items()}
    far, shifts = (FAR_OFF, SHIFTS) if len(names) <= MAX_FAR else (FAR_OFF[:1], SHIFTS[::3])
    offsets = [(away, shift) for away in far for shift in shifts]
    choices = {city: _choices(widths[city], *points[city], ground, size, offsets) for city in names}
    labels = _PlacedNames(max(widths.values(), default=0.0))
    found: dict[str, Choice] = {}
    for _ in range(max(1, min(LABEL_PASSES, MAX_PLACED // max(len(names), 1)))):
        before = dict(found)
        for city in names:
            if city in found:
                labels.remove(found[city].box)
            found[city] = _cheapest(choices[city], labels)
            labels.add(found[city].box)
        if found == before:
            break
    placed = {
        city: Label(x=round(choice.x, 1), y=round(choice.y, 1), width=round(widths[city], 1))
        for city, choice in found.items()
    }
    wanted = list[Box]()
    for city, choice in found.items():
        if choice.box.distance(points[city]) > NEAR_BY:
            labels.remove(choice.box)
            near = [each for each in choices[city] if each.box.distance(points[city]) <= NEAR_BY]
            wanted.append(_cheapest(near, labels).box)
            labels.add(wanted[-1])
    return placed, wanted


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
    ground: _LabelGround,
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


WIDTH: Final = 1000.0  # of a drawing, or its height: a board in other units is drawn to scale
HEIGHT: Final = 640.0
MAX_STRETCH: Final = 1.35  # of a tall board to its sides, where there is room for names
MARGIN: Final = 44.0  # above and below
SIDE: Final = 56.0  # where names have room
FILLS: Final = {
    "purple": "#a56cc1",
    "white": "#f5f3ee",
    "blue": "#3f7fc4",
    "yellow": "#e8c33a",
    "orange": "#e58a2e",
    "red": "#cf4a42",
    "green": "#5a9a4e",
    "black": "#3a3d42",
    "gray": "#b4b8bb",
}
STACK_AT: Final = 10.0  # of merchandise, to the right of its city and below it


Rings = list[list[tuple[float, float]]]


def board_svg(drawing: BoardDrawing) -> str:
    """The board as an SVG document. Its names are escaped."""
    return render_template(
        "services.tables.trains", "board.svg", board=drawing, fills=FILLS, height=SPACE_HEIGHT
    )


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
    lines = RouteLines(board.routes.values(), points, (width, height))
    names = {city.id: city.name.strip() for city in form.cities}
    labels = _name_cities(board, names, points, lines, (width, height))
    spaces = lines.spaces()
    routes = [_draw_route(board, route, spaces[route.id]) for route in board.routes.values()]
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


def _name_cities(
    board: Board,
    names: Mapping[str, str],
    points: Mapping[str, Point],
    lines: RouteLines,
    size: tuple[float, float],
) -> dict[str, Label]:
    """The place of each name; the lines of a built-in board make room for them."""
    stacks = [
        (points[city.id].x + STACK_AT, points[city.id].y + STACK_AT)
        for city in board.form.cities
        if city.merchandise
    ]
    labels, wanted = dict[str, Label](), list[Box]()
    for rounds in range(1 + ROOM_ROUNDS * is_built_in(board)):
        if rounds:
            lines.make_room(wanted)
        middles = points_of([*chain(*lines.spaces().values())])
        labels, wanted = place_labels(names, points, middles, size, stacks)
        if not wanted:
            break
    return labels


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
    title += track_text(board, route)
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
