"""The longest trail where some routes are bridges: routes without which their ends aren't connected. Exact.

A trail crosses a bridge once. So what lies beyond one can only be the trail's beginning or its end, and all
that matters of it is the longest trail that leads there: an arm, as a tree has. The parts between bridges
are searched one by one, the outermost first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from services.referee.games.trains.search.trail_sweep import Edge, longest_connected_trail

ANCHOR: Final = 1 << 20  # an arm that is longer than all routes together: the longest trail ends with it


class _Part(NamedTuple):
    """Cities that stay connected whichever route is taken away, and the routes between them."""

    edges: list[Edge]
    root: str  # the city at the bridge
    bridge: tuple[str, int] | None  # the city beyond it, and its length; None where no bridge is left


def longest_trail_over_bridges(
    edges: Sequence[Edge], arms: Mapping[str, tuple[int, int]], best_known: int
) -> int:
    """Spaces of the longest trail over these routes and arms, or `best_known` if none is longer."""
    longest_arms = {city: list(pair) for city, pair in arms.items()}
    for part in _parts_outermost_first(edges):
        part_arms = {city: (first, second) for city, (first, second) in longest_arms.items()}
        first, second = part_arms.get(part.root, (0, 0))
        best_known = max(best_known, first + second)
        best_known = longest_connected_trail(part.edges, part_arms, best_known)
        if part.bridge is not None:
            beyond, length = part.bridge
            part_arms[part.root] = (ANCHOR, first)
            arm = length - ANCHOR + longest_connected_trail(part.edges, part_arms, ANCHOR + first)
            longest_arms[beyond] = sorted((arm, *longest_arms.get(beyond, (0, 0))), reverse=True)[:2]
    return best_known


def _parts_outermost_first(edges: Sequence[Edge]) -> list[_Part]:
    """All parts. Each comes after the parts beyond all its bridges but one (Tarjan 1974)."""
    ways: dict[str, list[tuple[int, str]]] = {}
    for number, (a, b, _) in enumerate(edges):
        ways.setdefault(a, []).append((number, b))
        ways.setdefault(b, []).append((number, a))
    visits, open_cities, parts = dict[str, int](), list[str](), list[_Part]()

    def visit(city: str, by: int | None) -> int:
        """The earliest visited city that can be reached from what lies behind this one."""
        earliest, place = len(visits), len(open_cities)
        visits[city] = earliest
        open_cities.append(city)
        for number, near in ways[city]:
            if number != by:
                earliest = min(earliest, visits[near] if near in visits else visit(near, number))
        if earliest == visits[city]:
            cities = set(open_cities[place:])
            del open_cities[place:]
            inner = [edge for edge in edges if edge[0] in cities and edge[1] in cities]
            parts.append(_Part(inner, city, None if by is None else _beyond(edges[by], city)))
        return earliest

    for city in ways:
        if city not in visits:
            visit(city, None)
    return parts


def _beyond(bridge: Edge, city: str) -> tuple[str, int]:
    a, b, length = bridge
    return (b if city == a else a), length
