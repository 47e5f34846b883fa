"""What stations lend, so that their owner's tickets are worth the most (STATION-3). Exact.

The seat's own routes make blocks of cities, and all that a loan does is to join two blocks.
Loans that can't help any ticket are dropped first; of what is left every choice is tried. The
last station needs no trying, as one look at the blocks says what each of its loans would add:
so four stations with nine loans each are a thousand looks. A country is no part of a block, since
nothing joins up in it; where a route leads to one, the blocks don't tell enough, and all is tried.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import product
from typing import NamedTuple

from services.referee.rules.search.connectivity import Networks

Pair = tuple[int, int]  # two blocks, the lower first
Joined = tuple[int, ...]  # for each block, the lowest of those that it hangs together with


class Loan(NamedTuple):
    """A route of another seat that a station may lend, and its two cities."""

    route: str
    a: str
    b: str


def best_loans(
    own: Iterable[tuple[str, str]],
    stations: Sequence[Sequence[Loan]],
    tickets: Sequence[tuple[str, str, int]],
    countries: frozenset[str] = frozenset(),
) -> tuple[Loan | None, ...]:
    """What each station lends, or None, so that the tickets made score the most.

    A ticket (city, city, points) is made if own and lent routes join its cities. Among choices of
    the same score comes the one that lends the fewest routes, and then the first in the order of
    the stations and of their loans, None being last."""
    own = list(own)
    ways = (*own, *((loan.a, loan.b) for loans in stations for loan in loans))
    if not all(countries.isdisjoint(way) for way in ways):
        return _best_of_all(own, stations, tickets, countries)
    networks = Networks(own)
    blocks: dict[str, int] = {}

    def joined(a: str, b: str) -> Pair:
        first, second = (blocks.setdefault(networks.network(city), len(blocks)) for city in (a, b))
        return _pair(first, second)

    lent: list[dict[Pair, Loan]] = [{} for _ in stations]
    for station, loans in zip(lent, stations, strict=True):
        for loan in loans:
            station.setdefault(joined(loan.a, loan.b), loan)  # of those that join the same, the first
    wishes: Counter[Pair] = Counter()
    for a, b, points in tickets:
        wishes[joined(a, b)] += points
    choice = _Search(lent, wishes, tuple(range(len(blocks)))).choice if lent else ()
    return tuple(station[pair] if pair else None for station, pair in zip(lent, choice, strict=True))


def _best_of_all(
    own: Sequence[tuple[str, str]],
    stations: Sequence[Sequence[Loan]],
    tickets: Sequence[tuple[str, str, int]],
    countries: frozenset[str],
) -> tuple[Loan | None, ...]:
    """The same where routes lead to countries: every choice is tried."""

    def worth(choice: tuple[Loan | None, ...]) -> tuple[int, int]:
        lent = [(loan.a, loan.b) for loan in choice if loan]
        networks = Networks([*own, *lent], countries)
        return sum(points for a, b, points in tickets if networks.joins(a, b)), -len(lent)

    choices: list[list[Loan | None]] = []
    for loans in stations:
        apart: dict[frozenset[str], Loan] = {}
        for loan in loans:
            apart.setdefault(frozenset((loan.a, loan.b)), loan)  # of parallel ones the first
        choices.append([*apart.values(), None])
    return max(product(*choices), key=worth)


class _Search:
    """All choices, the first of equals first."""

    def __init__(self, lent: Sequence[Iterable[Pair]], wishes: Counter[Pair], apart: Joined) -> None:
        together = _with_all(apart, [pair for pairs in lent for pair in pairs])
        self.wishes = {
            (a, b): points for (a, b), points in wishes.items() if a != b and together[a] == together[b]
        }
        self.pairs = _useful(lent, {block for pair in self.wishes for block in pair})
        self.choice: tuple[Pair | None, ...] = (None,) * len(lent)
        self.best = (0, 0)  # the points, and the loans below nothing
        self._choose(apart, (), 0)

    def _choose(self, blocks: Joined, chosen: tuple[Pair | None, ...], loans: int) -> None:
        """Try whatever the stations after the chosen ones can lend."""
        if len(chosen) == len(self.pairs) - 1:
            self._choose_last(blocks, chosen, loans)
            return
        for a, b in self.pairs[len(chosen)]:
            if blocks[a] != blocks[b]:
                self._choose(_with(blocks, a, b), (*chosen, (a, b)), loans + 1)
        self._choose(blocks, (*chosen, None), loans)

    def _choose_last(self, blocks: Joined, chosen: tuple[Pair | None, ...], loans: int) -> None:
        """The same for the last station: its loans needn't be tried to see what each would add."""
        across: Counter[Pair] = Counter()
        for (a, b), points in self.wishes.items():
            across[_pair(blocks[a], blocks[b])] += points
        made = sum(points for (a, b), points in across.items() if a == b)
        for pair in (*self.pairs[-1], None):
            reached = (made, -loans)
            if pair:
                a, b = blocks[pair[0]], blocks[pair[1]]
                reached = (made + across[_pair(a, b)] * (a != b), -loans - 1)
            if reached > self.best:
                self.best, self.choice = reached, (*chosen, pair)


def _pair(a: int, b: int) -> Pair:
    return (a, b) if a < b else (b, a)


def _with(blocks: Joined, a: int, b: int) -> Joined:
    low, high = _pair(blocks[a], blocks[b])
    return tuple([low if block == high else block for block in blocks])


def _with_all(blocks: Joined, pairs: Iterable[Pair]) -> Joined:
    for a, b in pairs:
        if blocks[a] != blocks[b]:
            blocks = _with(blocks, a, b)
    return blocks


def _useful(lent: Sequence[Iterable[Pair]], wished: set[int]) -> list[list[Pair]]:
    """The loans without those that end where no ticket does and no other station goes on."""
    useful = [[(a, b) for a, b in pairs if a != b] for pairs in lent]
    while True:
        stations = Counter(block for pairs in useful for block in {block for pair in pairs for block in pair})
        fewer = [
            [pair for pair in pairs if all(block in wished or stations[block] > 1 for block in pair)]
            for pairs in useful
        ]
        if fewer == useful:
            return useful
        useful = fewer
