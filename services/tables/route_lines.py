"""The lines of routes on a board: straight, or bent where they would lie on other routes or on cities.

Boards come from strangers, who may put 1,000 routes of 20 spaces into one corner. So only so many points are looked at
in all, and lines that are left over stay straight.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, pairwise
from math import atan2, cos, degrees, hypot, radians, sin
from typing import Final, NamedTuple

from services.referee.games.trains.board import Route

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
CITY_WEIGHT, BORDER_WEIGHT, BEND_WEIGHT, INSET_WEIGHT = 4, 4, 0.4, 0.7
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


class Point(NamedTuple):
    x: float
    y: float


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
        self.settled = 0  # what they covered when nothing better was found

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
        self.weights = [*chain.from_iterable((*outside, *rows, *outside))]
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

    def add(self, cells: Iterable[int], weight: int) -> None:
        """Lay something there."""
        for cell in cells:
            self.weights[cell] += weight

    def weigh(self, cells: Iterable[int]) -> int:
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


def route_spaces(
    routes: Iterable[Route], points: Mapping[str, Point], size: tuple[float, float]
) -> dict[str, list[Space]]:
    """The spaces of each route, by its id."""
    bundles: dict[frozenset[str], _Bundle] = {}
    for route in routes:
        key = frozenset((route.a, route.b))
        bundle = bundles.get(key)
        if bundle is None:
            bundle = bundles[key] = _Bundle(points[route.a], points[route.b])
        bundle.routes.append(route)
        bundle.near = NEAR[min(len(bundle.routes), len(NEAR) - 1)]
    if sum(route.length for bundle in bundles.values() for route in bundle.routes) <= MAX_BENT:
        _bend(bundles.values(), set(points.values()), size)
    return {route.id: spaces for bundle in bundles.values() for route, spaces in bundle.spaces()}


def _bend(bundles: Iterable[_Bundle], cities: Iterable[Point], size: tuple[float, float]) -> None:
    """Bend lines that cover others or come near cities: the shortest first, and the longest go round them."""
    ground = _Ground(size)
    near = {city: ground.covered([city], NEAR_CITY) for city in cities}
    for cells in near.values():
        ground.add(cells, CITY_WEIGHT)
    by_length = sorted(bundles, key=lambda bundle: bundle.line.along[-1])
    for number in range(PASSES):
        for bundle in by_length:
            if ground.looked_at > MAX_POINTS:
                return
            ground.add(bundle.cells, -1)
            for city in (bundle.a, bundle.b):
                ground.add(near[city], -CITY_WEIGHT)
            if number == 0:
                bundle.cells = ground.cells_of(bundle, bundle.line, bundle.insets)
            if ground.weigh(bundle.cells) > min(max(LEFT, bundle.settled), MUCH):
                _improve(bundle, ground)
                bundle.settled = ground.weigh(bundle.cells)
            for city in (bundle.a, bundle.b):
                ground.add(near[city], CITY_WEIGHT)
            ground.add(bundle.cells, 1)


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
    best, covered = float("inf"), 0
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
        count = int(space.length / SPACE_HEIGHT) + 1
        angle, step = radians(space.angle), space.length / count
        for number in range(count):
            off = (number - (count - 1) / 2) * step
            points.append((space.x + cos(angle) * off, space.y + sin(angle) * off))
    return points
