"""In which order a sweep takes the cities, so that its frontier stays small."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

MAX_STARTS: Final = 12
COST_BASE: Final = 3  # how fast the states of a sweep grow with its frontier


def sweep_order(neighbours: Mapping[str, Collection[str]]) -> list[str]:
    """All cities of a connected graph, in an order with a small frontier: the cities that aren't swept and
    have a neighbour that is. It is the cheapest of a few greedy orders."""
    least, chosen = float("inf"), list(neighbours)
    for start in sorted(neighbours, key=lambda city: (len(neighbours[city]), city))[:MAX_STARTS]:
        order, cost = _order_from(start, neighbours, least)
        if cost < least:
            least, chosen = cost, order
    return chosen


def _order_from(
    start: str, neighbours: Mapping[str, Collection[str]], most: float
) -> tuple[list[str], float]:
    """The greedy order from this city, and its cost; it stops where it costs more than `most`."""
    unseen_counts = {city: len(near) for city, near in neighbours.items()}  # neighbours that nothing led to
    waiting, frontier = dict.fromkeys(neighbours), dict.fromkeys([start])
    order, cost = list[str](), 0.0

    def growth(city: str) -> tuple[int, bool]:
        """By how many cities the frontier grows with this one; of equals one of the frontier is first."""
        is_new = city not in frontier
        return unseen_counts[city] + is_new - 1, is_new

    def see(city: str) -> None:
        frontier[city] = None
        for near in neighbours[city]:
            unseen_counts[near] -= 1

    see(start)
    city = start
    while cost < most:
        if city not in frontier:
            see(city)
        for near in neighbours[city]:
            if near in waiting and near not in frontier:
                see(near)
        del waiting[city], frontier[city]
        order.append(city)
        cost += COST_BASE ** len(frontier)
        if not waiting:
            break
        city = min(waiting, key=growth)
    return order, cost
