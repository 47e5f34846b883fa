"""Where a passenger goes: the walks that collect the most merchandise (PASSENGER-2, PASSENGER-3).

The walks grow together, a route at a time. Two that stand in the same city with the same routes
behind them have the same future, so the first is enough. A walk is given up when whatever it can
still collect would not make it better than one that is known: at most all tokens of the stretch
of free routes where it stands, and for every card it has left those of one stretch more. A narrow
search finds good journeys; that lets the wide one give up most walks early.
"""

from __future__ import annotations

from bisect import insort
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Final, NamedTuple

NARROW_BUDGET: Final = 200  # walks that go on in the first search
MAX_EXPANSIONS: Final = 3_000  # and in the wide one, if that left any out
BEAM_SHARE: Final = 10  # of what may still go on, a tenth may be of one length


class JourneyEdge(NamedTuple):
    """A claimed route between two cities, and the passenger cards it costs: 0 or 1."""

    route: str
    a: str
    b: str
    toll: int


class Journey(NamedTuple):
    """The routes in order, the cities entered in order, the cards paid, the points collected."""

    path: tuple[str, ...]
    cities: tuple[str, ...]
    toll: int
    points: int


def best_journeys(
    start: str, edges: Iterable[JourneyEdge], tokens: Mapping[str, int], cards: int
) -> tuple[Journey, ...]:
    """The best journey from this city for every number of cards that is worth paying, cheapest first.

    A journey uses each way at most once, at least one, and pays `cards` at most; it scores the
    token of every city it enters, but of each only once and never of the start. Each that comes
    back scores more than those before it. If any way can be taken, so is there a journey: the
    cheapest, even if it scores nothing. Of equals the one with fewest routes comes back; then
    the first, own routes before others' and else in the order given.

    They are the best there are, unless it takes more than EXPANSIONS_MOST walks to be sure; then
    they are the best found among so many. The same question always has the same answer."""
    return _Search(start, edges, tokens, cards).journeys()


class _Walk(NamedTuple):
    """Where it stands, and what it used and saw, as the bits of numbers; the start counts as seen."""

    city: int
    used: int
    seen: int
    toll: int
    points: int
    path: tuple[int, ...]


class _Exit(NamedTuple):
    """A way out of a city. Of parallel ways the first that is left is as good as any."""

    edge: int
    city: int
    toll: int
    earlier_parallels: int  # the parallel ways to take before this one


class _Search:
    """Cities and ways by number; the start is city 0, and own ways come first."""

    def __init__(
        self, start: str, edges: Iterable[JourneyEdge], tokens: Mapping[str, int], cards: int
    ) -> None:
        self.edges = sorted(edges, key=lambda way: way.toll)
        self.cards = min(cards, sum(way.toll for way in self.edges))
        names = dict.fromkeys([start, *(city for way in self.edges for city in (way.a, way.b))])
        self.city_numbers = {name: number for number, name in enumerate(names)}
        self.token_points = [0, *(tokens.get(name, 0) for name in list(names)[1:])]
        # The tokens once more, digit by digit: the cities whose token has this binary digit.
        digits = range(max(self.token_points).bit_length())
        self.token_bit_planes = [
            sum(1 << n for n, worth in enumerate(self.token_points) if worth >> d & 1) for d in digits
        ]
        self.exits: list[list[_Exit]] = [[] for _ in names]
        parallel: dict[frozenset[str], int] = defaultdict(int)
        for way, (_, a, b, toll) in enumerate(self.edges):
            first = parallel[frozenset((a, b))]
            self.exits[self.city_numbers[a]].append(_Exit(way, self.city_numbers[b], toll, first))
            self.exits[self.city_numbers[b]].append(_Exit(way, self.city_numbers[a], toll, first))
            parallel[frozenset((a, b))] |= 1 << way
        self.free = sum(1 << way for way, (_, _, _, toll) in enumerate(self.edges) if not toll)
        stretches = {self._connected(1 << city, 0) for city in range(len(names))}
        self.stretches_of = {0: sorted(map(self._stretch, stretches), reverse=True)}
        self.enterable_cities: dict[int, list[int]] = {}

    def journeys(self) -> tuple[Journey, ...]:
        """The row of best journeys."""
        best_points = [-1] * (self.cards + 1)  # the most points found for each number of cards
        best_walks, is_complete = self._search(best_points, NARROW_BUDGET)
        if not is_complete:  # what is as good again has fewer routes, or comes first
            better, _ = self._search([max(-1, points - 1) for points in best_points], MAX_EXPANSIONS)
            for toll, walk in best_walks.items():
                if toll not in better or better[toll].points < walk.points:
                    better[toll] = walk
            best_walks = better
        journeys: list[Journey] = []
        for _, walk in sorted(best_walks.items()):
            if not journeys or walk.points > journeys[-1].points:
                journeys.append(self._to_journey(walk))
        return tuple(journeys)

    def _search(self, best_points: list[int], budget: int) -> tuple[dict[int, _Walk], bool]:
        """By toll, the walks that score more than was known, which is brought up to date; and
        whether they are the best there are. At most `left` walks are made longer."""
        best_walks: dict[int, _Walk] = {}
        walks, is_complete = [_Walk(0, 0, 1, 0, 0, ())], True
        while walks and budget:
            budget -= len(walks)
            longer: dict[tuple[int, int], _Walk] = {}
            for longer_walk in chain.from_iterable(map(self._extend, walks)):
                if (
                    longer.setdefault((longer_walk.city, longer_walk.used), longer_walk).points
                    > best_points[longer_walk.toll]
                ):
                    best_walks[longer_walk.toll] = longer_walk
                    best_points[longer_walk.toll :] = [
                        max(most, longer_walk.points) for most in best_points[longer_walk.toll :]
                    ]
            ranks = [(rank, walk) for walk in longer.values() if (rank := self._rank(walk, best_points))]
            most = min(budget, max(1, budget // BEAM_SHARE))
            if len(ranks) > most:
                is_complete = False
                least = sorted(rank for rank, _ in ranks)[-most:][0]
                ranks = [(rank, walk) for rank, walk in ranks if rank >= least][:most]
            walks = [walk for _, walk in ranks]
        return best_walks, is_complete

    def _extend(self, walk: _Walk) -> Iterator[_Walk]:
        """The walk with one way more, in all ways."""
        city, used, seen, toll, points, path = walk
        for way, next_city, price, first in self.exits[city]:
            if not used >> way & 1 and not first & ~used and toll + price <= self.cards:
                more = 0 if seen >> next_city & 1 else self.token_points[next_city]
                yield _Walk(
                    next_city,
                    used | 1 << way,
                    seen | 1 << next_city,
                    toll + price,
                    points + more,
                    (*path, way),
                )

    def _rank(self, walk: _Walk, best_points: list[int]) -> int:
        """How promising a walk is: 0 if it can't become better than what is known."""
        cards = self.cards - walk.toll
        fresh = self._enterable(walk.city, cards) & ~walk.seen
        home, stretches = 1 << walk.city, self._stretches(walk.used & self.free, walk.path)
        beyond: list[int] = []  # what the best of the other stretches hold, least first
        here = 0
        for most, stretch in stretches:
            if stretch & home:
                here = self._tokens(stretch & fresh)
            elif cards and stretch & fresh and (len(beyond) < cards or most > beyond[-cards]):
                insort(beyond, self._tokens(stretch & fresh))
        rank = most = walk.points + here
        hopeful = most > best_points[walk.toll]
        for card, more in zip(range(walk.toll + 1, self.cards + 1), reversed(beyond), strict=False):
            most += more
            hopeful = hopeful or most > best_points[card]
        return 1 + rank if hopeful else 0

    def _tokens(self, cities: int) -> int:
        return sum((cities & plane).bit_count() << digit for digit, plane in enumerate(self.token_bit_planes))

    def _stretches(self, used: int, path: tuple[int, ...]) -> list[tuple[int, int]]:
        """The cities that hang together by free ways not used yet, and their tokens: richest first.

        A walk differs from the one before it by one way, which splits one stretch at most."""
        if used not in self.stretches_of:
            way = next(way for way in reversed(path) if used >> way & 1)
            before = self._stretches(used ^ 1 << way, path[: path.index(way)])
            a, b = 1 << self.city_numbers[self.edges[way].a], 1 << self.city_numbers[self.edges[way].b]
            side, whole = self._connected(a, used), next(cities for _, cities in before if cities & a)
            if not side & b:
                kept = [stretch for stretch in before if stretch[1] != whole]
                before = sorted([*kept, self._stretch(side), self._stretch(whole ^ side)], reverse=True)
            self.stretches_of[used] = before
        return self.stretches_of[used]

    def _stretch(self, cities: int) -> tuple[int, int]:
        return self._tokens(cities), cities

    def _enterable(self, city: int, cards: int) -> int:
        """All cities that can be entered from here with so many cards, and with ways used before."""
        if city not in self.enterable_cities:
            self.enterable_cities[city] = [self._connected(1 << city, 0)]
        rows = self.enterable_cities[city]  # by the number of cards
        while len(rows) <= cards and rows[-1] not in rows[-2:-1]:  # until a card more leads nowhere
            beyond = sum({1 << on.city for c in _bits(rows[-1]) for on in self.exits[c]})
            rows.append(self._connected(beyond | rows[-1], 0))
        return rows[min(cards, len(rows) - 1)]

    def _connected(self, cities: int, used: int) -> int:
        """All that hangs together with these cities by free ways."""
        waiting = cities
        while waiting:
            city = waiting.bit_length() - 1
            waiting ^= 1 << city
            for way, near, toll, _ in self.exits[city]:
                if not toll and not used >> way & 1 and not cities >> near & 1:
                    cities |= 1 << near
                    waiting |= 1 << near
        return cities

    def _to_journey(self, walk: _Walk) -> Journey:
        names, here, entered = list(self.city_numbers), 0, []
        for way in walk.path:
            here = next(on.city for on in self.exits[here] if on.edge == way)
            entered.append(names[here])
        return Journey(
            tuple(self.edges[way].route for way in walk.path), tuple(entered), walk.toll, walk.points
        )


def _bits(number: int) -> Iterator[int]:
    """The places of the bits that are set, lowest first."""
    while number:
        low = number & -number
        yield low.bit_length() - 1
        number ^= low
