"""The claimed routes that a passenger's journey may use, as the edges of a network."""

from __future__ import annotations

from collections import defaultdict
from typing import Final, NamedTuple

MAX_WAYS: Final = 120  # a search sees the nearest ways only


class JourneyEdge(NamedTuple):
    """A claimed route between two cities, and the passenger cards it costs: 0 or 1."""

    route: str
    a: str
    b: str
    toll: int


def nearest_edges(start: str, edges: list[JourneyEdge]) -> list[JourneyEdge]:
    """At most MAX_WAYS of these ways, in their order: those with the fewest ways from the start."""
    if len(edges) <= MAX_WAYS:
        return edges
    ways_at: dict[str, list[int]] = defaultdict(list)
    for number, way in enumerate(edges):
        ways_at[way.a].append(number)
        ways_at[way.b].append(number)
    cities, near = dict.fromkeys([start]), dict.fromkeys(ways_at[start])
    waiting = [start]
    for city in waiting:
        near.update(dict.fromkeys(ways_at[city]))
        if len(near) >= MAX_WAYS:
            break
        for number in ways_at[city]:
            for end in (edges[number].a, edges[number].b):
                if end not in cities:
                    cities[end] = None
                    waiting.append(end)
    return [edges[number] for number in sorted([*near][:MAX_WAYS])]
