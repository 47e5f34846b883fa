"""Where a passenger goes: the walks that collect the most merchandise (PASSENGER-2, PASSENGER-3).

A beam search with an upper bound (branch and bound). All walks grow by one route at a time. Two walks
that are in the same city and used the same routes have the same future, so the first is enough. A walk is
dropped when it can't beat a known one even if it collected all tokens of the stretch (connected free
routes) where it is, and for every card left those of one more stretch. A narrow search finds good
journeys first; with that bound the wide one drops most walks early.
"""

from __future__ import annotations

from bisect import insort
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import Final, NamedTuple

from services.referee.games.trains.search.longest_trail import bits

NARROW_BUDGET: Final = 200  # walks that the first search extends
MAX_EXPANSIONS: Final = 3_000  # walks that the wide search extends, if the first one dropped any
UNSHARED_BY: Final = 1.5  # passengers of one seat; where it has more, they share the searches' limits
MAX_WALKS: Final = 1_500  # walks that either search makes on a board with more ways than a printed one
PRINTED_BUSIEST: Final = 10  # ways out of the busiest city of the printed board
PRINTED_FREE: Final = 30  # more ways than one seat can own there
PRINTED_WALKS: Final = 10_000  # more than any search there makes
MANY_CARDS: Final = 12  # more than the rules' deck has
BEAM_SHARE: Final = 10  # of the remaining budget, a tenth may go to walks of one length


class Journey(NamedTuple):
    """The routes in order, the cities entered in order, the cards paid, the points collected."""

    path: tuple[str, ...]
    cities: tuple[str, ...]
    toll: int
    points: int


def best_journeys(
    start: str, edges: Iterable[JourneyEdge], tokens: Mapping[str, int], cards: int, passengers: int = 1
) -> tuple[Journey, ...]:
    """The best journey from this city for every number of cards that is worth paying, cheapest first.

    A journey uses at least one way, each at most once, and pays at most `cards` cards. It scores the top
    token of every city that it enters, of each city once and never of the start. Each returned journey
    scores more than those before it. If any way can be taken, there is at least one journey: the cheapest,
    even if it scores nothing. Of equal journeys the one with the fewest routes is returned; then the
    first, with own routes before others' and otherwise in the order given.

    The journeys are optimal unless there are more than MAX_WAYS ways or the search would need more than
    MAX_EXPANSIONS walks; then they are the best found among so many. It is fewer where a city has many ways out, and
    where so many `passengers` of the seat are asked about in turn. The result is deterministic."""
    share = min(1.0, UNSHARED_BY / passengers)
    return _Search(start, nearest_edges(start, list(edges)), tokens, cards, share).journeys()


class _Walk(NamedTuple):
    """A partial journey: its city, and bit masks of the ways used and the cities seen (with the start)."""

    city: int
    used: int
    seen: int
    toll: int
    points: int
    path: tuple[int, ...]


class _Exit(NamedTuple):
    """A way out of a city. Of parallel ways the first unused one, which is the cheapest, is as good as any."""

    edge: int
    city: int
    toll: int
    earlier_parallels: int  # bit mask of the parallel ways to use before this one


class _Search:
    """Cities and ways by number; the start is city 0, and own ways come first."""

    def __init__(
        self, start: str, edges: Iterable[JourneyEdge], tokens: Mapping[str, int], cards: int, share: float
    ) -> None:
        self.share = share  # of all limits
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
        self.points_of: dict[int, int] = {}  # of cities together: most walks ask for the same ones again
        self.exits: list[list[_Exit]] = [[] for _ in names]
        parallel: dict[frozenset[str], int] = defaultdict(int)
        for way, (_, a, b, toll) in enumerate(self.edges):
            first = parallel[frozenset((a, b))]
            self.exits[self.city_numbers[a]].append(_Exit(way, self.city_numbers[b], toll, first))
            self.exits[self.city_numbers[b]].append(_Exit(way, self.city_numbers[a], toll, first))
            parallel[frozenset((a, b))] |= 1 << way
        self.free = sum(1 << way for way, (_, _, _, toll) in enumerate(self.edges) if not toll)
        stretches: list[int] = []
        for city in range(len(names)):
            if not any(stretch >> city & 1 for stretch in stretches):
                stretches.append(self._connected(1 << city, 0))
        self.stretches_of = {0: sorted(map(self._stretch, stretches), reverse=True)}
        self.busiest = max(1, *map(len, self.exits))
        is_printed = self.busiest <= PRINTED_BUSIEST and self.free.bit_count() <= PRINTED_FREE
        self.max_walks = PRINTED_WALKS if is_printed else MAX_WALKS
        self.enterable_cities: dict[int, list[int]] = {}

    def journeys(self) -> tuple[Journey, ...]:
        """The best journeys, cheapest first."""
        best_points = [-1] * (self.cards + 1)  # the most points found for each number of cards
        best_walks, is_complete = self._search(best_points, round(NARROW_BUDGET * self.share))
        if not is_complete:  # what is as good again has fewer routes, or comes first
            known_points = [max(-1, points - 1) for points in best_points]
            better, _ = self._search(known_points, round(MAX_EXPANSIONS * self.share))
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
        """By toll, the walks that score more than `best_points`, which is updated; and whether the search
        was complete. At most `budget` walks are extended."""
        best_walks: dict[int, _Walk] = {}
        walks, is_complete = [_Walk(0, 0, 1, 0, 0, ())], True
        walks_left = round(self.max_walks * self.share)
        while walks and budget:
            budget -= len(walks)
            longer: dict[tuple[int, int], _Walk] = {}
            for longer_walk in islice(chain.from_iterable(map(self._extend, walks)), walks_left):
                walks_left -= 1
                if (
                    longer.setdefault((longer_walk.city, longer_walk.used), longer_walk).points
                    > best_points[longer_walk.toll]
                ):
                    best_walks[longer_walk.toll] = longer_walk
                    best_points[longer_walk.toll :] = [
                        max(most, longer_walk.points) for most in best_points[longer_walk.toll :]
                    ]
            if not walks_left:
                return best_walks, False
            share = walks_left // self.busiest // BEAM_SHARE if self.max_walks == MAX_WALKS else budget
            most = min(budget, max(1, budget // BEAM_SHARE), max(1, share))
            walks, are_all = self._best([*longer.values()], best_points, most)
            is_complete = is_complete and are_all
        return best_walks, is_complete

    def _best(self, walks: list[_Walk], best_points: list[int], most: int) -> tuple[list[_Walk], bool]:
        """Of these walks that may still beat a known one the `most` best by rank, in their order; and whether
        they are all. The others are looked at no closer."""
        ranks = list(map(self._rank, walks))
        hopeful: list[int] = []
        for place in sorted(range(len(walks)), key=ranks.__getitem__, reverse=True):
            if len(hopeful) > most and (not most or ranks[place] < ranks[hopeful[most - 1]]):
                break  # all that are as good as the last are in
            if self._may_beat(walks[place], ranks[place], best_points):
                hopeful.append(place)
        if not most:
            return [], not hopeful
        least = ranks[hopeful[:most][-1]] if hopeful else 0
        kept = [walks[place] for place in sorted(hopeful) if ranks[place] >= least]
        return kept[:most], len(hopeful) <= most

    def _extend(self, walk: _Walk) -> Iterator[_Walk]:
        """All walks that are this one and one more way."""
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

    def _rank(self, walk: _Walk) -> int:
        """An upper bound of the walk's points if it pays no card more."""
        cards = self.cards - walk.toll
        fresh = self._enterable(walk.city, cards) & ~walk.seen
        if cards > MANY_CARDS:  # as if they paid for everything
            return walk.points + self._tokens(fresh)
        home = 1 << walk.city
        stretches = self._stretches(walk.used & self.free, walk.path)
        own_stretch = next(stretch for _, stretch in stretches if stretch & home)
        return walk.points + self._tokens(own_stretch & fresh)

    def _may_beat(self, walk: _Walk, rank: int, best_points: list[int]) -> bool:
        """Whether the walk, whose rank this is, may score more than a known one of as many cards."""
        cards = self.cards - walk.toll
        if rank > best_points[walk.toll]:
            return True
        fresh = self._enterable(walk.city, cards) & ~walk.seen
        if not 0 < cards <= MANY_CARDS or walk.points + self._tokens(fresh) <= best_points[walk.toll]:
            return False
        home = 1 << walk.city
        beyond: list[int] = []  # what the best of the other stretches hold, least first
        for most, stretch in self._stretches(walk.used & self.free, walk.path):
            if len(beyond) >= cards and most <= beyond[-cards]:
                break  # they are in the order of what they hold
            if stretch & fresh and not stretch & home:
                insort(beyond, self._tokens(stretch & fresh))
        most = rank
        for card, more in zip(range(walk.toll + 1, self.cards + 1), reversed(beyond), strict=False):
            most += more
            if most > best_points[card]:
                return True
        return False

    def _tokens(self, cities: int) -> int:
        points = self.points_of.get(cities)
        if points is None:
            points = sum(
                (cities & plane).bit_count() << digit for digit, plane in enumerate(self.token_bit_planes)
            )
            self.points_of[cities] = points
        return points

    def _stretches(self, used: int, path: tuple[int, ...]) -> list[tuple[int, int]]:
        """The cities that are connected by unused free ways, with their tokens, richest first.

        A walk differs from the one before it by one way, which splits at most one stretch."""
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
        """All cities that can be entered from here with so many cards; used ways count as usable."""
        if city not in self.enterable_cities:
            self.enterable_cities[city] = [self._connected(1 << city, 0)]
        rows = self.enterable_cities[city]  # by the number of cards
        while len(rows) <= cards and rows[-1] not in rows[-2:-1]:  # until a card more leads nowhere
            beyond = sum({1 << on.city for c in bits(rows[-1]) for on in self.exits[c]})
            rows.append(self._connected(beyond | rows[-1], 0))
        return rows[min(cards, len(rows) - 1)]

    def _connected(self, cities: int, used: int) -> int:
        """All cities that are connected to these by free ways that aren't used."""
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
        names, city, entered = list(self.city_numbers), 0, []
        for way in walk.path:
            city = next(on.city for on in self.exits[city] if on.edge == way)
            entered.append(names[city])
        return Journey(
            tuple(self.edges[way].route for way in walk.path), tuple(entered), walk.toll, walk.points
        )


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
