"""Which places a seat's routes join (SCORE-2)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable


class Networks:
    """The networks of some routes: whether a path joins two places, and passes through no country.

    A country is an end point only, so it belongs to no network; it touches those of its neighbours."""

    def __init__(self, routes: Iterable[tuple[str, str]], countries: Collection[str] = ()) -> None:
        self._above: dict[str, str] = {}
        self._beside: dict[str, set[str]] = defaultdict(set)  # the neighbours of every country
        for a, b in routes:
            if a in countries:
                self._beside[a].add(b)
            if b in countries:
                self._beside[b].add(a)
            if a not in countries and b not in countries:
                self._above[self.network(a)] = self.network(b)

    def joins(self, a: str, b: str) -> bool:
        """Whether a path joins the two; a place is joined with itself."""
        if a not in self._beside and b not in self._beside:
            return self.network(a) == self.network(b)
        return a == b or b in self._beside.get(a, ()) or not self._touched(a).isdisjoint(self._touched(b))

    def network(self, city: str) -> str:
        """The city, not a country, that stands for all of this city's network."""
        above = self._above
        while (up := above.get(city, city)) != city:
            above[city] = above.get(up, up)  # halves the way for the next one who asks
            city = up
        return city

    def _touched(self, place: str) -> set[str]:
        """The networks that a path from this place can go on in."""
        ways = self._beside.get(place, {place})
        return {self.network(city) for city in ways if city not in self._beside}
