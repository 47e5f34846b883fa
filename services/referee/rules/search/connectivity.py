"""Which places a seat's routes join (SCORE-2)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable


class Networks:
    """The networks of some routes: whether a path joins two places, and passes through no country.

    A country is an end point only, so it belongs to no network; it touches those of its neighbours."""

    def __init__(self, routes: Iterable[tuple[str, str]], countries: Collection[str] = ()) -> None:
        self._parents: dict[str, str] = {}
        self._country_neighbours: dict[str, set[str]] = defaultdict(set)  # the neighbours of every country
        for a, b in routes:
            if a in countries:
                self._country_neighbours[a].add(b)
            if b in countries:
                self._country_neighbours[b].add(a)
            if a not in countries and b not in countries:
                self._parents[self.network(a)] = self.network(b)

    def connects(self, a: str, b: str) -> bool:
        """Whether a path joins the two; a place is joined with itself."""
        if a not in self._country_neighbours and b not in self._country_neighbours:
            return self.network(a) == self.network(b)
        return (
            a == b
            or b in self._country_neighbours.get(a, ())
            or not self._reachable_networks(a).isdisjoint(self._reachable_networks(b))
        )

    def network(self, city: str) -> str:
        """The city, not a country, that stands for all of this city's network."""
        parents = self._parents
        while (parent := parents.get(city, city)) != city:
            parents[city] = parents.get(parent, parent)  # halves the way for the next one who asks
            city = parent
        return city

    def _reachable_networks(self, place: str) -> set[str]:
        """The networks that a path from this place can go on in."""
        starts = self._country_neighbours.get(place, {place})
        return {self.network(city) for city in starts if city not in self._country_neighbours}
