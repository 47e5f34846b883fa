"""What stations lend, so that their owner's tickets score the most (STATION-3). Exact.

The seat's own routes form blocks of connected cities, and a loan does nothing but join two blocks, or bring
a country to one. Every combination of loans is tried; how many there are is bounded when a game is created
(GAME-6). So that a combination costs the same however many tickets there are, a block keeps two bit masks:
the tickets whose first city is in it or in a country beside it, and those whose second is. The tickets in both
are made. No path goes through a country, so a country is in no block.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import reduce
from operator import or_
from typing import Final, NamedTuple

from services.referee.games.trains.search.longest_trail import Networks

Pair = tuple[str, str]  # two blocks, or a block and a country, or two countries


class Loan(NamedTuple):
    """A route of another seat that a station may lend, and its two cities."""

    route: str
    a: str
    b: str


class _Ends(NamedTuple):
    """The tickets that begin, and those that end, in some places: bit masks of tickets."""

    first: int = 0
    second: int = 0


NOTHING: Final = _Ends()


class _Blocks(NamedTuple):
    """The blocks as some loans join them."""

    own_ends: Mapping[str, _Ends]  # by block or country, before any loan
    ends: Mapping[str, _Ends]  # of blocks that loans changed
    joined: Mapping[str, str]  # a block that is part of another one now, and that one
    made: int  # bit mask of the tickets made

    def with_loan(self, pair: Pair, countries: Collection[str]) -> _Blocks:
        """The blocks after one more loan."""
        a, b, ends = self._ends_with_loan(pair)
        if a == b:
            return self
        made = self.made | ends.first & ends.second
        if a in countries and b in countries:
            return _Blocks(self.own_ends, self.ends, self.joined, made)
        if a in countries or b in countries:
            changed = b if a in countries else a
            return _Blocks(self.own_ends, {**self.ends, changed: ends}, self.joined, made)
        joined = {place: a if block == b else block for place, block in self.joined.items()}
        return _Blocks(self.own_ends, {**self.ends, a: ends}, {**joined, b: a}, made)

    def made_with_loan(self, pair: Pair) -> int:
        """The tickets made after one more loan."""
        _, _, ends = self._ends_with_loan(pair)
        return self.made | ends.first & ends.second

    def _ends_with_loan(self, pair: Pair) -> tuple[str, str, _Ends]:
        """The two blocks that the loan joins, and the tickets that begin or end there."""
        a, b = pair
        if self.joined:
            a, b = self.joined.get(a, a), self.joined.get(b, b)
        first_a, second_a = self.ends.get(a) or self.own_ends.get(a, NOTHING)
        first_b, second_b = self.ends.get(b) or self.own_ends.get(b, NOTHING)
        return a, b, _Ends(first_a | first_b, second_a | second_b)


def best_loans(
    own: Iterable[tuple[str, str]],
    stations: Sequence[Sequence[Loan]],
    tickets: Sequence[tuple[str, str, int]],
    countries: frozenset[str] = frozenset(),
) -> tuple[Loan | None, ...]:
    """Find what each station lends, or None, so that the tickets made score the most.

    A ticket (city, city, points) is made if own and lent routes join its cities. Of combinations with the
    same score the one with the fewest loans is returned, then the first in the order of the stations and
    of their loans, None being last."""
    own = list(own)
    networks = Networks(route for route in own if countries.isdisjoint(route))

    def block(place: str) -> str:
        return place if place in countries else networks.network(place)

    ends: dict[str, _Ends] = defaultdict(_Ends)
    for number, (a, b, _) in enumerate(tickets):
        (first, second), bit = ends[block(a)], 1 << number
        ends[block(a)] = _Ends(first | bit, second)
        first, second = ends[block(b)]
        ends[block(b)] = _Ends(first, second | bit)
    blocks = _Blocks(ends, {}, {}, 0)
    for a, b in own:
        if not countries.isdisjoint((a, b)):
            blocks = blocks.with_loan((block(a), block(b)), countries)
    own_ends = {**ends, **blocks.ends}
    made = reduce(or_, (first & second for first, second in own_ends.values()), blocks.made)
    blocks = _Blocks(own_ends, {}, {}, made)
    loans_by_pair: list[dict[Pair, Loan]] = []
    for loans in stations:
        loans_by_pair.append({})
        for loan in loans:  # of those that join the same, the first
            a, b = sorted((block(loan.a), block(loan.b)))
            loans_by_pair[-1].setdefault((a, b), loan)
    pairs = _useful_pairs(loans_by_pair, blocks.own_ends)
    search = _Search(pairs, [points for *_, points in tickets], countries)
    search.search(blocks, ())
    return tuple(row[pair] if pair else None for row, pair in zip(loans_by_pair, search.choice, strict=True))


def _useful_pairs(loan_pairs: Sequence[Iterable[Pair]], ends: Mapping[str, _Ends]) -> list[list[Pair]]:
    """The loans without those that end where no ticket ends and no other station can continue."""
    useful = [[(a, b) for a, b in pairs if a != b] for pairs in loan_pairs]
    while True:
        station_counts = Counter(
            block for pairs in useful for block in {block for pair in pairs for block in pair}
        )
        reduced = [
            [pair for pair in pairs if all(block in ends or station_counts[block] > 1 for block in pair)]
            for pairs in useful
        ]
        if reduced == useful:
            return useful
        useful = reduced


class _Search:
    """Tries all combinations; of equal ones the first is kept."""

    def __init__(
        self, pairs: Sequence[Sequence[Pair]], ticket_points: Sequence[int], countries: Collection[str]
    ) -> None:
        self.pairs = pairs
        self.countries = countries
        # The tickets once more, digit by digit: those whose points have this binary digit.
        digits = range(max(ticket_points, default=0).bit_length())
        self.bit_planes = [
            sum(1 << number for number, points in enumerate(ticket_points) if points >> digit & 1)
            for digit in digits
        ]
        self.choice: tuple[Pair | None, ...] = (None,) * len(pairs)
        self.best = (-1, 0)  # the points, and the stations without a loan

    def search(self, blocks: _Blocks, chosen: tuple[Pair | None, ...]) -> None:
        """Tries what the stations after the chosen ones can lend."""
        if len(chosen) == len(self.pairs):
            self._compare(blocks.made, chosen)
            return
        is_last = len(chosen) == len(self.pairs) - 1
        for pair in self.pairs[len(chosen)]:
            if is_last:
                made = blocks.made_with_loan(pair)
                if made != blocks.made:  # else it's better to lend nothing
                    self._compare(made, (*chosen, pair))
            elif (joined := blocks.with_loan(pair, self.countries)) is not blocks:
                self.search(joined, (*chosen, pair))
        self.search(blocks, (*chosen, None))

    def _compare(self, made: int, chosen: tuple[Pair | None, ...]) -> None:
        """Remembers this combination if it is better than those before it."""
        value = (self._points(made), chosen.count(None))
        if value > self.best:
            self.best, self.choice = value, chosen

    def _points(self, tickets: int) -> int:
        return sum((tickets & plane).bit_count() << digit for digit, plane in enumerate(self.bit_planes))
