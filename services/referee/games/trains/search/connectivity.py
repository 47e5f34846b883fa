"""Which cities a seat's routes join (SCORE-2): union-find, with countries as dead ends."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable


class Networks:
    """The connected components of some routes, to ask whether a path joins two places.

    No path passes through a country. So a country belongs to no network; it touches the networks of its
    neighbours."""

    def __init__(self, routes: Iterable[tuple[str, str]], countries: Collection[str] = ()) -> None:
        self._parents: dict[str, str] = {}
        self._country_neighbours: dict[str, set[str]] = defaultdict(set)  # the neighbours of every country
        for a, b in routes:
            if a not in countries and b not in countries:
                self._parents[self.network(a)] = self.network(b)
                continue
            if a in countries:
                self._country_neighbours[a].add(b)
            if b in countries:
                self._country_neighbours[b].add(a)

    def connects(self, a: str, b: str) -> bool:
        """Whether a path joins the two places; a place is joined to itself."""
        if a not in self._country_neighbours and b not in self._country_neighbours:
            return self.network(a) == self.network(b)
        return (
            a == b
            or b in self._country_neighbours.get(a, ())
            or not self._reachable_networks(a).isdisjoint(self._reachable_networks(b))
        )

    def network(self, city: str) -> str:
        """The city that represents the network of this city, which is no country."""
        parents = self._parents
        while (parent := parents.get(city, city)) != city:
            parents[city] = parents.get(parent, parent)  # path halving: later calls are faster
            city = parent
        return city

    def _reachable_networks(self, place: str) -> set[str]:
        """The networks that a path from this place can reach."""
        starts = self._country_neighbours.get(place, {place})
        return {self.network(city) for city in starts if city not in self._country_neighbours}
