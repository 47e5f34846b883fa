"""Seats are told apart from each other and from every route, also by who is colour-blind."""

from __future__ import annotations

import re
from itertools import combinations, product
from pathlib import Path

import pytest

import services.gateway

PAGES = Path(next(iter(services.gateway.__path__))) / "pages"
BASE, BOARD = ((PAGES / path).read_text("utf-8") for path in ("shared/base.css", "trains/board.css"))
ROUTES = ("purple", "white", "blue", "yellow", "orange", "red", "green", "black", "gray")
LEAST = 18.0  # CIE 76, of which 2.3 can just be seen
SIGHT = {  # Machado, Oliveira and Fernandes 2009, at full severity, for linear RGB
    "all three cones": ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.01182, 0.04294, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.3039),
    ),
}
TO_XYZ = (
    (0.4124564, 0.3575761, 0.1804375),
    (0.2126729, 0.7151522, 0.072175),
    (0.0193339, 0.119192, 0.9503041),
)

Triple = tuple[float, float, float]


def times(matrix: tuple[Triple, ...], color: Triple) -> Triple:
    x, y, z = (sum(a * b for a, b in zip(row, color, strict=True)) for row in matrix)
    return x, y, z


def linear(channel: int) -> float:
    share = channel / 255
    return share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4


def lab(color: str, sight: str) -> Triple:
    """A colour as somebody sees it, in CIE Lab."""
    red, green, blue = (linear(int(color[at : at + 2], 16)) for at in (1, 3, 5))
    r, g, b = (min(max(part, 0.0), 1.0) for part in times(SIGHT[sight], (red, green, blue)))
    parts = (part / sum(row) for part, row in zip(times(TO_XYZ, (r, g, b)), TO_XYZ, strict=True))
    x, y, z = (part ** (1 / 3) if part > 0.008856 else 7.787 * part + 16 / 116 for part in parts)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def difference(a: str, b: str, sight: str) -> float:
    pairs = zip(lab(a, sight), lab(b, sight), strict=True)
    return float(sum((x - y) ** 2 for x, y in pairs) ** 0.5)


def colours(name: str) -> list[str]:
    """The colour of this name in each theme."""
    return re.findall(rf"--{name}: (#\w{{6}})", BASE)


@pytest.mark.parametrize("sight", SIGHT)
def test_a_seats_colour_is_no_routes_and_no_other_seats(sight: str) -> None:
    seats = [colours(f"s{seat}")[0] for seat in range(8)]
    routes = [colour for name in ROUTES for colour in colours(name)]
    assert len(routes) == 2 * len(ROUTES)
    alike = [
        (a, b)
        for a, b in [*combinations(seats, 2), *product(seats, routes)]
        if difference(a, b, sight) < LEAST
    ]
    assert alike == []


def test_each_seats_ribbon_has_a_pattern_of_its_own() -> None:
    patterns = dict(re.findall(r"\.s-(\d) \.pattern \{ (.*?) \}", BOARD))
    assert set(patterns) == set("01234567")
    assert len(set(patterns.values())) == 8
