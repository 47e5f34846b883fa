"""Ways over routes, by plain searches: what is joined, the longest trail, the longest simple path."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import TypeAlias

Edge: TypeAlias = tuple[str, str, int]  # two places and the spaces between them


def group_joined(pairs: Iterable[tuple[str, str]]) -> dict[str, int]:
    """A number for each place; places that a path joins have the same one."""
    group: dict[str, int] = {}
    for number, (a, b) in enumerate(pairs):
        old_a, old_b = group.setdefault(a, 2 * number), group.setdefault(b, 2 * number + 1)
        if old_a != old_b:
            for place, its_group in group.items():
                if its_group == old_b:
                    group[place] = old_a
    return group


def longest_simple_path(edges: Iterable[Edge]) -> int:
    """The most spaces along a way that visits no place twice (SCORE-3 of `trains`)."""
    near = defaultdict(list)
    for a, b, length in edges:
        near[a].append((b, length))
        near[b].append((a, length))

    def most_from(place: str, visited: set[str]) -> int:
        visited.add(place)
        most = max(
            (length + most_from(b, visited) for b, length in near[place] if b not in visited), default=0
        )
        visited.discard(place)
        return most

    return max((most_from(place, set()) for place in [*near]), default=0)


def longest_trail(edges: Iterable[Edge]) -> int:
    """The most spaces along a way that uses no edge twice (SCORE-3 of `usa` and `europe`)."""
    parts = defaultdict(list)
    edges = list(edges)
    group = group_joined((a, b) for a, b, _ in edges)
    for edge in edges:
        parts[group[edge[0]]].append(edge)
    return max((_longest_trail_of_part(part) for part in parts.values()), default=0)


def _longest_trail_of_part(edges: list[Edge]) -> int:
    """Of edges that hang together. Either one trail takes all, or a longest trail begins where an odd
    number of them meet: one that ends where it began, and leaves an edge out, could take that one too."""
    near = defaultdict(list)
    for number, (a, b, length) in enumerate(edges):
        near[a].append((b, length, 1 << number))
        near[b].append((a, length, 1 << number))
    odd = [place for place, there in near.items() if len(there) % 2]
    total = sum(length for _, _, length in edges)
    if len(odd) <= 2:  # Euler
        return total
    seen: set[tuple[str, int]] = set()
    best = 0

    def walk(place: str, used: int, so_far: int, left_over: int) -> None:
        nonlocal best
        best = max(best, so_far)
        if so_far + left_over <= best or (place, used) in seen:
            return
        seen.add((place, used))
        for b, length, bit in near[place]:
            if not used & bit:
                walk(b, used | bit, so_far + length, left_over - length)

    # All but two of the odd places lose an edge, of which one may serve two of them.
    shortest = sorted(min(length for _, length, _ in near[place]) for place in odd)
    lost = -(-sum(shortest[: len(odd) - 2]) // 2)
    for place in odd:
        walk(place, 0, 0, total - lost)
    return best
