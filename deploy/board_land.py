"""Draw the ground of the built-in boards: `python deploy/board_land.py LAND.geojson`.

LAND.geojson is Natural Earth's land at 1:50,000,000 (public domain): `land-50m.json` of the npm package world-atlas, made
GeoJSON by `topo2geo` of topojson-client. A board isn't a map: its cities stand where there was room. So the land is bent by
a thin-plate spline that takes every city of deploy/board_places.json to its place on the board, smoothed a little, then
cut to the board and simplified. The result is services/tables/trains/land/*.json, in the units of the board's file.
"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Final

Point = tuple[float, float]
Ring = list[Point]

ROOT: Final = Path(__file__).parents[1]
BOARDS: Final = ROOT / "services" / "referee" / "games" / "trains" / "boards"
LAND: Final = ROOT / "services" / "tables" / "trains" / "land"
PLACES: Final = Path(__file__).parent / "board_places.json"
SMOOTHING: Final = 0.05
WINDOW: Final = 0.8  # of the land that is looked at, beyond the cities
MARGIN: Final = 0.12  # of the board, beyond its cities
STEP_DEG: Final = 0.5  # longer edges of the land are divided, because the spline bends them
MIN_AREA: Final = 60.0  # square units; smaller islands are left out
TOLERANCE: Final = 1.3  # units


def mercator(lon: float, lat: float) -> Point:
    """A place on a plane, in degrees of longitude; north is up, so y falls."""
    return lon, -math.degrees(math.log(math.tan(math.pi / 4 + math.radians(lat) / 2)))


class Spline:
    """A smoothed thin-plate spline from one plane to another."""

    def __init__(self, sources: list[Point], targets: list[Point]) -> None:
        self.sources = sources
        scale = sum(math.dist(a, b) ** 2 for a in sources for b in sources) / len(sources) ** 2
        self.scale, count = math.sqrt(scale), len(sources)
        matrix = [
            [self._kernel(a, b) + (SMOOTHING if i == j else 0) for j, b in enumerate(sources)] + [1.0, *a]
            for i, a in enumerate(sources)
        ]
        matrix += [[1.0] * count + [0.0] * 3]
        matrix += [[source[axis] for source in sources] + [0.0] * 3 for axis in (0, 1)]
        rights = [list(target) for target in targets] + [[0.0, 0.0]] * 3
        self.weights = solve(matrix, [list(right) for right in rights])

    def _kernel(self, a: Point, b: Point) -> float:
        square = (math.dist(a, b) / self.scale) ** 2
        return square * math.log(square) if square else 0.0

    def __call__(self, at: Point) -> Point:
        """The place of a point of the first plane on the second."""
        terms = [self._kernel(at, source) for source in self.sources] + [1.0, *at]
        x, y = (
            sum(term * row[axis] for term, row in zip(terms, self.weights, strict=True)) for axis in (0, 1)
        )
        return x, y


def solve(matrix: list[list[float]], rights: list[list[float]]) -> list[list[float]]:
    """The solution of a system of linear equations, by elimination with pivots."""
    size = len(matrix)
    rows = [row[:] + right for row, right in zip(matrix, rights, strict=True)]
    for column in range(size):
        pivot = max(range(column, size), key=lambda row: abs(rows[row][column]))
        rows[column], rows[pivot] = rows[pivot], rows[column]
        for row in range(size):
            if row != column and (factor := rows[row][column] / rows[column][column]):
                rows[row] = [a - factor * b for a, b in zip(rows[row], rows[column], strict=True)]
    return [[value / rows[i][i] for value in rows[i][size:]] for i in range(size)]


def cut(ring: Ring, axis: int, limit: float, keeps_less: bool) -> Ring:
    """The part of a ring on one side of a straight line (Sutherland and Hodgman)."""
    kept: Ring = []
    for i, b in enumerate(ring):
        a = ring[i - 1]
        a_in, b_in = ((p[axis] <= limit) == keeps_less for p in (a, b))
        if a_in != b_in:
            share = (limit - a[axis]) / (b[axis] - a[axis])
            kept.append((a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1])))
        if b_in:
            kept.append(b)
    return kept


def cut_to(ring: Ring, low: Point, high: Point) -> Ring:
    """The part of a ring within a rectangle."""
    for axis in (0, 1):
        ring = cut(cut(ring, axis, high[axis], True), axis, low[axis], False) if ring else ring
    return ring


def simplify(points: Ring) -> Ring:
    """The points without those that change the line by less than the tolerance (Douglas and Peucker)."""
    keep, stack = {0, len(points) - 1}, [(0, len(points) - 1)]
    while stack:
        first, last = stack.pop()
        (ax, ay), (bx, by) = points[first], points[last]
        length = math.dist(points[first], points[last]) or 1e-9
        far, place = 0.0, 0
        for i in range(first + 1, last):
            x, y = points[i]
            off = abs((bx - ax) * (ay - y) - (ax - x) * (by - ay)) / length
            if length < 1e-6:
                off = math.dist(points[i], points[first])
            if off > far:
                far, place = off, i
        if far > TOLERANCE:
            keep.add(place)
            stack += [(first, place), (place, last)]
    return [points[i] for i in sorted(keep)]


def area(ring: Ring) -> float:
    """The area of a ring."""
    return abs(sum(a[0] * b[1] - b[0] * a[1] for a, b in zip(ring, ring[1:] + ring[:1], strict=True))) / 2


def divide(ring: Ring) -> Ring:
    """The ring with its long edges divided."""
    points: Ring = []
    for a, b in zip(ring, ring[1:] + ring[:1], strict=True):
        parts = max(1, math.ceil(math.dist(a, b) / STEP_DEG))
        points += [(a[0] + (b[0] - a[0]) * i / parts, a[1] + (b[1] - a[1]) * i / parts) for i in range(parts)]
    return points


def draw(board: str, places: dict[str, Point], world: list[Ring]) -> list[Ring]:
    """The land of one board."""
    cities = read_cities(board)
    known = [city for city in cities if city in places]
    spline = Spline([mercator(*places[city]) for city in known], [cities[city] for city in known])
    xs, ys = [[at[axis] for at in cities.values()] for axis in (0, 1)]
    dx, dy = MARGIN * (max(xs) - min(xs)), MARGIN * (max(ys) - min(ys))
    low, high = (min(xs) - dx, min(ys) - dy), (max(xs) + dx, max(ys) + dy)
    lons, lats = [[places[city][axis] for city in known] for axis in (0, 1)]
    width, height = max(lons) - min(lons), max(lats) - min(lats)
    west, east = min(lons) - WINDOW * width, max(lons) + WINDOW * width
    south, north = min(lats) - WINDOW * height, max(lats) + WINDOW * height
    rings: list[Ring] = []
    for ring in world:
        near = cut_to(ring, (west, south), (east, north))
        if len(near) < 4:
            continue
        bent = cut_to([spline(mercator(*at)) for at in divide(near)], low, high)
        if len(bent) >= 4 and area(bent) > MIN_AREA:
            slim = simplify([*bent, bent[0]])[:-1]
            rings.append([(round(x), round(y)) for x, y in slim])
    return [ring for ring in rings if len(ring) > 2]


def read_cities(board: str) -> dict[str, Point]:
    """The cities of a board's file, and where they are."""
    sys.path.insert(0, str(ROOT))
    from services.referee.games.trains.board import load_board  # noqa: PLC0415 - the path must be set first

    return {city.id: (float(city.at[0]), float(city.at[1])) for city in load_board(board).form.cities}


def read_world(path: Path) -> list[Ring]:
    """All outer rings of a GeoJSON file; seas inside of land aren't drawn."""
    document = json.loads(path.read_text())
    rings: list[Ring] = []
    for feature in document.get("features", [document]):
        geometry = feature["geometry"]
        polygons = (
            geometry["coordinates"] if geometry["type"] == "MultiPolygon" else [geometry["coordinates"]]
        )
        for ring in (unwrap(polygon[0][:-1]) for polygon in polygons):
            west, east = min(lon for lon, _ in ring), max(lon for lon, _ in ring)
            turns = (-360, 0, 360) if west < -180 or east > 180 else (0,)  # seen from both sides
            rings += [[(lon + turn, lat) for lon, lat in ring] for turn in turns]
    return rings


def unwrap(ring: list[list[float]]) -> Ring:
    """A ring whose longitudes don't jump where it crosses the antimeridian."""
    points: Ring = []
    for lon, lat in ring:
        turns = round((points[-1][0] - lon) / 360) if points else 0
        points.append((lon + 360 * turns, lat))
    return points


def main() -> None:
    """Write the land of every board that has places."""
    world = read_world(Path(sys.argv[1]))
    for board, places in json.loads(PLACES.read_text()).items():
        rings = draw(board, {city: tuple(at) for city, at in places.items()}, world)
        text = json.dumps({"rings": rings}, separators=(",", ":"))
        (LAND / f"{board}.json").write_text(text + "\n")
        sys.stderr.write(f"{board}: {len(rings)} rings, {len(text)} bytes\n")


if __name__ == "__main__":
    main()
