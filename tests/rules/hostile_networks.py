"""Networks that make a search for the best one long: what a stranger would put on a board."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import combinations, product
from random import Random
from typing import Any, Final

Edge = tuple[str, str, int]
MAX_OWNED: Final = 52  # routes of one seat (GAME-6)


def bipartite(few: int, many: int) -> list[Edge]:
    """Every city of one side joined to every one of the other."""
    return [(f"h{a}", f"c{b}", 1) for a, b in product(range(few), range(many))]


def complete(cities: int) -> list[Edge]:
    """Every two cities joined."""
    return [(f"c{a}", f"c{b}", 1) for a, b in combinations(range(cities), 2)]


def grid(rows: int, columns: int) -> list[Edge]:
    """A city at every crossing of so many streets."""
    down = [(f"{r}.{c}", f"{r + 1}.{c}", 1) for r, c in product(range(rows - 1), range(columns))]
    return down + [(f"{r}.{c}", f"{r}.{c + 1}", 1) for r, c in product(range(rows), range(columns - 1))]


def regular(cities: int, degree: int, rng: Random) -> list[Edge]:
    """So many routes at every city, no two of them parallel: those of a ring, with many pairs of ends swapped."""
    steps = range(1, degree // 2 + 1)
    pairs = [(city, (city + step) % cities) for city in range(cities) for step in steps]
    pairs += [(city, city + cities // 2) for city in range(cities // 2) if degree % 2]
    for _ in range(10 * len(pairs)):
        (m, (a, b)), (n, (c, d)) = rng.sample([*enumerate(pairs)], 2)
        others = {frozenset(pair) for place, pair in enumerate(pairs) if place not in (m, n)}
        swapped = [(a, d), (c, b)]
        if a != d and c != b and others.isdisjoint(map(frozenset, swapped)) and {a, d} != {c, b}:
            pairs[m], pairs[n] = swapped
    return [(f"c{a}", f"c{b}", 1) for a, b in pairs]


def clusters(count: int, size: int, links: int, rng: Random) -> list[Edge]:
    """Near-complete clusters, each joined to an earlier one by so many routes of up to two spaces."""
    edges: list[Edge] = []
    for cluster in range(count):
        edges += [(f"{cluster}.{a}", f"{cluster}.{b}", 1) for a, b in combinations(range(size), 2)]
        for _ in range(links if cluster else 0):
            near, far = f"{cluster}.{rng.randrange(size)}", f"{rng.randrange(cluster)}.{rng.randrange(size)}"
            edges.append((near, far, rng.randint(1, 2)))
    return edges


def with_loops_beyond_bridges(edges: list[Edge], count: int) -> list[Edge]:
    """The same with so many double routes, each at the end of a route of its own: a trail uses two at most."""
    loops = [(f"c{3 * n}", f"near.{n}", 1) for n in range(count)]
    loops += [(f"near.{n}", f"far.{n}", length) for n in range(count) for length in (3, 2)]
    return [*edges, *loops]


def board_of(name: str, edges: Sequence[Edge]) -> dict[str, Any]:
    """A board's file with gray routes over these, named by their ends, and without tickets."""
    cities = dict.fromkeys(city for a, b, _ in edges for city in (a, b))
    return {
        "format": 1,
        "id": name,
        "title": name,
        "size": [1, 1],
        "cities": [{"id": city, "name": city, "at": [0, 0]} for city in cities],
        "routes": [
            {"id": f"{a}-{b}", "between": [a, b], "length": length, "color": "gray"} for a, b, length in edges
        ],
        "tickets": [],
    }


@cache
def hostile_networks() -> Mapping[str, list[Edge]]:
    """By name networks that one seat can own (52 routes, 100 cars). K(few,many) joins every city of one side to every
    one of the other; K(3,13) once took minutes, and K(3,17) for ever."""
    rng = Random(13)
    named = {f"K({few},{many})": bipartite(few, many) for few, many in ((3, 11), (3, 13), (3, 17), (5, 10))}
    named |= {f"K({few},{many})": bipartite(few, many) for few, many in ((2, 26), (4, 13), (6, 8), (7, 7))}
    named |= {f"K({cities})": complete(cities) for cities in (8, 9, 10)}
    named |= {f"{r} x {c} grid": grid(r, c) for r, c in ((2, 18), (3, 10), (4, 7), (5, 6))}
    named |= {
        f"{cities} cities of {degree} routes": regular(cities, degree, rng)
        for cities, degree in ((34, 3), (32, 3), (26, 4), (20, 5), (17, 6), (14, 7))
    }
    named |= {
        f"{count} clusters of {size}, {links} links": clusters(count, size, links, rng)[:MAX_OWNED]
        for count, size, links in ((6, 4, 3), (7, 4, 2), (4, 5, 4), (3, 6, 3), (8, 3, 3))
    }
    named["loops beyond bridges"] = with_loops_beyond_bridges(regular(28, 3, Random(1)), 3)
    return named
