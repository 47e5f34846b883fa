"""The final reckoning (SCORE-*, TIE-1): from the table alone, not from running totals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from schemas.events import SeatScore
from services.referee.rules.table import Place, Table


def score(table: Table) -> tuple[SeatScore, ...]:
    """Every seat's score as if the game ended now, in seat order, places from 1.

    Removed seats rank below all others, with nothing."""
    longest = [longest_route(table, place) for place in table.places]
    record = max(longest)
    unplaced = []
    for seat in range(len(table.places)):
        holder = longest[seat] == record > 0
        bonus = table.figures.longest_bonus if holder else 0
        unplaced.append(seat_score(table, seat, longest[seat], bonus))
    return tuple(placed(table, unplaced))


def seat_score(table: Table, seat: int, longest: int, bonus: int) -> SeatScore:
    """One seat's points, not yet placed."""
    place = table.places[seat]
    routes = sum(table.figures.route_points[table.board.routes[r].length - 1] or 0 for r in place.routes)
    assert routes == place.points, f"seat {seat}: {place.points} as claimed, {routes} counted (SCORE-1)"
    known = [table.board.tickets[ticket] for ticket in place.tickets if ticket is not None]
    joined = _joined(table, place)
    made = tuple(t.id for t in known if joined(t.a) == joined(t.b))
    missed = tuple(t.id for t in known if t.id not in made)
    tickets = sum(t.points if t.id in made else -t.points for t in known)
    return SeatScore(seat, routes, made, missed, tickets, longest, bonus, routes + tickets + bonus, 0)


def longest_route(table: Table, place: Place) -> int:
    routes = (table.board.routes[route] for route in place.routes)
    return table.rules.longest((route.a, route.b, route.length) for route in routes)


def placed(table: Table, scores: list[SeatScore]) -> Iterable[SeatScore]:
    """The same scores with places: by total, then by the ruleset's tie-breaks, then shared."""
    keys = {
        s.seat: (_ranks(table.places[s.seat]), s.total, *(rank(s, scores) for rank in table.rules.tie_breaks))
        for s in scores
    }
    for s in scores:
        place = 1 + sum(other > keys[s.seat] for other in keys.values())
        yield SeatScore(s.seat, s.routes, s.made, s.missed, s.tickets, s.longest, s.bonus, s.total, place)


def most_tickets_made(score: SeatScore, scores: Sequence[SeatScore]) -> int:
    return len(score.made)


def holds_longest(score: SeatScore, scores: Sequence[SeatScore]) -> int:
    return int(score.longest == max(other.longest for other in scores))


def _ranks(place: Place) -> bool:
    return place.gone != "removed"


def _joined(table: Table, place: Place) -> Callable[[str], str]:
    """Which of the seat's networks a city is in: joined cities give the same answer."""
    above: dict[str, str] = {}

    def network(city: str) -> str:
        while (up := above.get(city, city)) != city:
            city = up
        return city

    for name in place.routes:
        route = table.board.routes[name]
        above[network(route.a)] = network(route.b)
    return network
