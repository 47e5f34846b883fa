"""Which cities a seat's routes join (SCORE-2), with countries as dead ends, and the longest trail along them (SCORE-3).

A trail uses no route twice; the longest has the most spaces. It is exact.

Connected routes form one trail exactly when at most two of their cities are odd, that is, have an odd
number of these routes (Euler). So the search leaves out routes, at the least loss of spaces, until that
is so. On most boards that needs few guesses: an odd city is an end of the trail, or loses a route. Where it
needs more, the cities are swept instead (trail_sweep), which is slower and never very slow.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from typing import Final

from services.referee.games.trains.search.sweeps import Edge, longest_trail_over_bridges

INFINITE_LOSS: Final = 1 << 30
MAX_GUESSES: Final = 100


def longest_trail(edges: Iterable[Edge]) -> int:
    """Spaces of the longest trail over these routes (city, city, length); 0 for none."""
    inside, core, arms = _without_trees(list(edges))
    if not core:
        return inside
    pairs = ((city, number, length) for city, pair in arms.items() for number, length in enumerate(pair))
    arm_routes = [(city, f"{city}/arm {number}", length) for city, number, length in pairs if length]
    search = _Search([*core, *arm_routes], inside)
    search.search_all()
    return search.best if search.is_complete else longest_trail_over_bridges(core, arms, search.best)


def _without_trees(edges: list[Edge]) -> tuple[int, list[Edge], dict[str, tuple[int, int]]]:
    """The longest path that stays inside trees, the rest of the routes, and the trees that hang on it.

    A trail enters such a tree only at its start or its end. So of the trees at one city only the two longest
    paths into them matter: its arms, the longest first."""
    degree: dict[str, int] = {}
    route_xor: dict[str, int] = {}  # the numbers of a city's routes, xor-ed: of one, its own
    for number, (a, b, _) in enumerate(edges):
        for city in (a, b):
            degree[city] = degree.get(city, 0) + 1
            route_xor[city] = route_xor.get(city, 0) ^ number
    inside, remaining = 0, dict(enumerate(edges))
    longest, second = dict.fromkeys(degree, 0), dict.fromkeys(degree, 0)  # of the arms at each city
    leaves = [city for city, count in degree.items() if count == 1]
    while leaves:
        leaf = leaves.pop()
        if not degree[leaf]:
            continue  # the last city of a tree
        a, b, length = remaining.pop(route_xor[leaf])
        root = b if leaf == a else a
        arm, other_arm = length + longest[leaf], longest[root]
        inside = max(inside, arm + other_arm)
        if arm > other_arm:
            longest[root], second[root] = arm, other_arm
        elif arm > second[root]:
            second[root] = arm
        route_xor[root] ^= route_xor[leaf]
        degree[root] -= 1
        if degree[root] == 1:
            leaves.append(root)
    in_core = [city for city, count in degree.items() if count > 1]  # a leaf's is left as it was, or 0
    return inside, [*remaining.values()], {c: (longest[c], second[c]) for c in in_core if longest[c]}


class _Search:
    """The search for the routes to leave out. Sets of routes and of cities are bit masks, the shortest route the lowest
    bit. After MAX_GUESSES it gives up: `best` is then the longest trail found, or the known one."""

    def __init__(self, edges: list[Edge], best_known: int) -> None:
        edges = sorted(edges, key=lambda edge: edge[2])
        names = dict.fromkeys(city for a, b, _ in edges for city in (a, b))
        city_numbers = {name: number for number, name in enumerate(names)}
        self.lengths = [length for _, _, length in edges]
        self.ends = [(city_numbers[a], city_numbers[b]) for a, b, _ in edges]
        self.routes_at = [0] * len(names)  # the routes at each city
        for number, (a, b) in enumerate(self.ends):
            self.routes_at[a] |= 1 << number
            self.routes_at[b] |= 1 << number
        self.best = best_known
        self.guesses_left = MAX_GUESSES

    @property
    def is_complete(self) -> bool:
        return self.guesses_left >= 0

    def search_all(self) -> None:
        """Searches every network of connected routes."""
        waiting = (1 << len(self.lengths)) - 1
        while waiting:
            part = self._component(waiting & -waiting, waiting)
            waiting ^= part
            self._search(part, self._spaces(part), 0, 0)

    def _search(self, routes: int, spaces: int, kept: int, ends: int) -> None:
        """All trails among these connected routes that use all of `kept`, and whose ends are `ends`, as far
        as these are chosen."""
        self.guesses_left -= 1
        if self.guesses_left < 0:
            return
        odd = self._odd_cities(routes)
        if odd.bit_count() <= 2:
            self.best = max(self.best, spaces)
            return
        loose, more = routes & ~kept, 2 - ends.bit_count()
        losses = [(self._shortest(self.routes_at[city] & loose), city) for city in bits(odd ^ ends)]
        if spaces - self._loss_bound(losses, ends, more) <= self.best:
            return
        city = max(losses)[1]  # the city that costs the most, as it decides the most
        if more and not ends >> city & 1:
            self._search(routes, spaces, kept, ends | 1 << city)
        for number in bits(self.routes_at[city] & loose):
            if self.guesses_left < 0:
                return
            self._search_without(number, routes, spaces, kept, ends)
            kept |= 1 << number  # what follows is without another one

    def _search_without(self, number: int, routes: int, spaces: int, kept: int, ends: int) -> None:
        """Search on without one route; if that disconnects the rest, on either side."""
        routes ^= 1 << number
        part = self._component(self.routes_at[self.ends[number][0]] & routes, routes)
        if part == routes:
            self._search(routes, spaces - self.lengths[number], kept, ends)
            return
        for side in (part, routes ^ part):
            is_feasible = not kept & ~side and all(self.routes_at[city] & side for city in bits(ends))
            if is_feasible and (side_spaces := self._spaces(side)) > self.best:
                self._search(side, side_spaces, kept, ends)

    def _odd_cities(self, left: int) -> int:
        """The cities with an odd number of these routes."""
        odd = 0
        for city, routes in enumerate(self.routes_at):
            if (routes & left).bit_count() & 1:
                odd |= 1 << city
        return odd

    @staticmethod
    def _loss_bound(losses: list[tuple[int, int]], ends: int, more: int) -> float:
        """A lower bound of the spaces to leave out: half of the shortest route at every city of wrong parity
        (a route has two cities), but not at the `more` ends that are still to be chosen."""
        chosen = sum(loss for loss, city in losses if ends >> city & 1)
        others = sorted(loss for loss, city in losses if not ends >> city & 1)
        return (chosen + sum(others[: max(0, len(others) - more)])) / 2

    def _shortest(self, routes: int) -> int:
        """The length of the shortest of these routes; of none, more than any trail."""
        return self.lengths[(routes & -routes).bit_length() - 1] if routes else INFINITE_LOSS

    def _component(self, part: int, left: int) -> int:
        """All routes of `left` that are connected to `part`."""
        waiting = part
        while waiting:
            number = waiting.bit_length() - 1
            a, b = self.ends[number]
            new = (self.routes_at[a] | self.routes_at[b]) & left & ~part
            waiting ^= 1 << number | new
            part |= new
        return part

    def _spaces(self, routes: int) -> int:
        return sum(self.lengths[number] for number in bits(routes))


def bits(number: int) -> Iterator[int]:
    """The positions of the set bits, lowest first."""
    while number:
        low = number & -number
        yield low.bit_length() - 1
        number ^= low


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
