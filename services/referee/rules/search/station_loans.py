"""What stations lend, so that their owner's tickets score the most (STATION-3). Exact.

The seat's own routes form blocks of connected cities, and a loan does nothing but join two blocks. Loans
that can't help any ticket are dropped first; of the others every combination is tried. For the last
station nothing is tried: one pass over the blocks gives what each of its loans would add. So four
stations with nine loans each take a thousand passes. A country is part of no block, since no path goes
through it; where a route leads to one, blocks aren't enough, and every combination is tried.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import product
from typing import NamedTuple

from services.referee.rules.search.connectivity import Networks

Pair = tuple[int, int]  # two blocks, the lower first
BlockLabels = tuple[int, ...]  # for each block, the lowest block that it is connected to


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

    A ticket (city, city, points) is made if own and lent routes join its cities. Of combinations with the
    same score the one with the fewest loans is returned, then the first in the order of the stations and
    of their loans, None being last."""
    own = list(own)
    all_ends = (*own, *((loan.a, loan.b) for loans in stations for loan in loans))
    if not all(countries.isdisjoint(ends) for ends in all_ends):
        return _best_by_exhaustion(own, stations, tickets, countries)
    networks = Networks(own)
    blocks: dict[str, int] = {}

    def block_pair(a: str, b: str) -> Pair:
        first, second = (blocks.setdefault(networks.network(city), len(blocks)) for city in (a, b))
        return _ordered_pair(first, second)

    loans_by_pair: list[dict[Pair, Loan]] = [{} for _ in stations]
    for station, loans in zip(loans_by_pair, stations, strict=True):
        for loan in loans:
            station.setdefault(block_pair(loan.a, loan.b), loan)  # of those that join the same, the first
    ticket_points: Counter[Pair] = Counter()
    for a, b, points in tickets:
        ticket_points[block_pair(a, b)] += points
    choice = _Search(loans_by_pair, ticket_points, tuple(range(len(blocks)))).choice if loans_by_pair else ()
    return tuple(station[pair] if pair else None for station, pair in zip(loans_by_pair, choice, strict=True))


def _best_by_exhaustion(
    own: Sequence[tuple[str, str]],
    stations: Sequence[Sequence[Loan]],
    tickets: Sequence[tuple[str, str, int]],
    countries: frozenset[str],
) -> tuple[Loan | None, ...]:
    """The same where routes lead to countries: every combination is tried."""

    def choice_value(choice: tuple[Loan | None, ...]) -> tuple[int, int]:
        lent = [(loan.a, loan.b) for loan in choice if loan]
        networks = Networks([*own, *lent], countries)
        return sum(points for a, b, points in tickets if networks.connects(a, b)), -len(lent)

    choices: list[list[Loan | None]] = []
    for loans in stations:
        loans_by_cities: dict[frozenset[str], Loan] = {}
        for loan in loans:
            loans_by_cities.setdefault(frozenset((loan.a, loan.b)), loan)  # of parallel ones the first
        choices.append([*loans_by_cities.values(), None])
    return max(product(*choices), key=choice_value)


class _Search:
    """Tries all combinations; of equal ones the first is kept."""

    def __init__(
        self, loan_pairs: Sequence[Iterable[Pair]], ticket_points: Counter[Pair], blocks: BlockLabels
    ) -> None:
        together = _join_all(blocks, [pair for pairs in loan_pairs for pair in pairs])
        self.ticket_points = {
            (a, b): points
            for (a, b), points in ticket_points.items()
            if a != b and together[a] == together[b]
        }
        self.pairs = _useful_pairs(loan_pairs, {block for pair in self.ticket_points for block in pair})
        self.choice: tuple[Pair | None, ...] = (None,) * len(loan_pairs)
        self.best = (0, 0)  # the points, and the loans below nothing
        self._search(blocks, (), 0)

    def _search(self, blocks: BlockLabels, chosen: tuple[Pair | None, ...], loans: int) -> None:
        """Tries what the stations after the chosen ones can lend."""
        if len(chosen) == len(self.pairs) - 1:
            self._search_last_station(blocks, chosen, loans)
            return
        for a, b in self.pairs[len(chosen)]:
            if blocks[a] != blocks[b]:
                self._search(_join(blocks, a, b), (*chosen, (a, b)), loans + 1)
        self._search(blocks, (*chosen, None), loans)

    def _search_last_station(self, blocks: BlockLabels, chosen: tuple[Pair | None, ...], loans: int) -> None:
        """The same for the last station: one pass gives what each of its loans would add."""
        across: Counter[Pair] = Counter()
        for (a, b), points in self.ticket_points.items():
            across[_ordered_pair(blocks[a], blocks[b])] += points
        points_made = sum(points for (a, b), points in across.items() if a == b)
        for pair in (*self.pairs[-1], None):
            value = (points_made, -loans)
            if pair:
                a, b = blocks[pair[0]], blocks[pair[1]]
                value = (points_made + across[_ordered_pair(a, b)] * (a != b), -loans - 1)
            if value > self.best:
                self.best, self.choice = value, (*chosen, pair)


def _ordered_pair(a: int, b: int) -> Pair:
    return (a, b) if a < b else (b, a)


def _join(blocks: BlockLabels, a: int, b: int) -> BlockLabels:
    low, high = _ordered_pair(blocks[a], blocks[b])
    return tuple([low if block == high else block for block in blocks])


def _join_all(blocks: BlockLabels, pairs: Iterable[Pair]) -> BlockLabels:
    for a, b in pairs:
        if blocks[a] != blocks[b]:
            blocks = _join(blocks, a, b)
    return blocks


def _useful_pairs(loan_pairs: Sequence[Iterable[Pair]], ticket_blocks: set[int]) -> list[list[Pair]]:
    """The loans without those that end where no ticket ends and no other station can continue."""
    useful = [[(a, b) for a, b in pairs if a != b] for pairs in loan_pairs]
    while True:
        station_counts = Counter(
            block for pairs in useful for block in {block for pair in pairs for block in pair}
        )
        reduced = [
            [
                pair
                for pair in pairs
                if all(block in ticket_blocks or station_counts[block] > 1 for block in pair)
            ]
            for pairs in useful
        ]
        if reduced == useful:
            return useful
        useful = reduced
