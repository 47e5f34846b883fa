"""The final reckoning (SCORE-*, TIE-1): from the table alone, not from running totals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from schemas.events import SeatScore
from services.referee.rules.board import Route, Ticket, worth
from services.referee.rules.search.connectivity import Networks
from services.referee.rules.search.station_loans import Loan, best_loans
from services.referee.rules.table import Place, Table


def score(table: Table) -> tuple[SeatScore, ...]:
    """Every seat's score as if the game ended now, in seat order, places from 1.

    Removed seats rank below all others, with nothing."""
    scores = [seat_score(table, seat) for seat in range(len(table.places))]
    longest = max(s.longest for s in scores)
    most = max(len(s.made) for s in scores)
    return tuple(placed(table, [with_bonuses(table, s, longest, most) for s in scores]))


def seat_score(table: Table, seat: int) -> SeatScore:
    """One seat's points, without what depends on the others, and not yet placed."""
    place, figures = table.places[seat], table.figures
    routes = sum(worth(figures, table.board.routes[name]) for name in place.routes)
    if figures.points_at_once and table.laid is None:
        told = f"seat {seat}: {place.points} as claimed, {routes} counted (SCORE-1)"
        assert routes == place.points, told
    known = [table.board.tickets[ticket] for ticket in place.tickets if ticket is not None]
    lent = lent_to(table, seat, known)
    own = own_pairs(table, place)
    networks = Networks([*own, *((loan.a, loan.b) for loan in lent if loan)], table.board.countries)
    made = tuple(t.id for t in known if networks.joins(t.a, t.b))
    tickets = sum(t.points if t.id in made else -t.points for t in known)
    stations = figures.station_points * (len(figures.station_costs) - len(place.stations))
    if place.gone == "removed":
        stations = 0
    return SeatScore(
        seat=seat,
        routes=routes,
        made=made,
        missed=tuple(t.id for t in known if t.id not in made),
        tickets=tickets,
        won=sum(t.points for t in known if t.id in made),
        lent=tuple(loan and loan.route for loan in lent),
        longest=longest_route(table, place),
        bonus=0,
        most=0,
        stations=stations,
        merchandise=place.merchandise,
        total=routes + tickets + stations + place.merchandise,
        place=0,
    )


def with_bonuses(table: Table, score: SeatScore, longest: int, most: int) -> SeatScore:
    """The same with the bonuses of those who hold the longest route, or made the most tickets
    (SCORE-3, SCORE-4); nobody holds nothing."""
    bonus = table.figures.longest_bonus if score.longest == longest > 0 else 0
    tickets = table.figures.most_tickets_bonus if len(score.made) == most > 0 else 0
    return replace(score, bonus=bonus, most=tickets, total=score.total + bonus + tickets)


def own_pairs(table: Table, place: Place) -> list[tuple[str, str]]:
    """The seat's own routes, as the cities that each joins."""
    routes = table.board.routes
    return [(routes[name].a, routes[name].b) for name in place.routes]


def longest_route(table: Table, place: Place) -> int:
    """Spaces of the seat's longest trail or path, as its ruleset measures; lent routes don't count."""
    countries, routes = table.board.countries, (table.board.routes[name] for name in place.routes)
    return table.rules.longest((*dead_ends(route, countries), route.length) for route in routes)


def dead_ends(route: Route, countries: frozenset[str]) -> tuple[str, str]:
    """The route's ends. In a country each route has one of its own: no way goes on from there."""
    a, b = (f"{end}/{route.id}" if end in countries else end for end in (route.a, route.b))
    return a, b


def lent_to(table: Table, seat: int, tickets: Sequence[Ticket]) -> tuple[Loan | None, ...]:
    """What each of the seat's stations borrows: the choice that makes its tickets worth the most."""
    place = table.places[seat]
    if not place.stations:
        return ()
    choices = [lendable(table, seat, city, neighbour) for city, neighbour in place.stations.items()]
    wanted = [(t.a, t.b, t.points) for t in tickets]
    return best_loans(own_pairs(table, place), choices, wanted, table.board.countries)


def lendable(table: Table, seat: int, city: str, neighbour: str | None) -> list[Loan]:
    """Routes of other seats into this city, from the neighbour that was named, or from any."""
    loans = []
    for name, owner in table.owners.items():
        route = table.board.routes[name]
        if owner != seat and city in (route.a, route.b) and neighbour in (None, route.a, route.b):
            loans.append(Loan(name, route.a, route.b))
    return loans


# -- places ------------------------------------------------------------------------------


def placed(table: Table, scores: Sequence[SeatScore]) -> Iterable[SeatScore]:
    """The same scores with places: by total, then by the ruleset's tie-breaks, then shared."""
    keys = {
        s.seat: (_ranks(table.places[s.seat]), s.total, *(rank(s, scores) for rank in table.rules.tie_breaks))
        for s in scores
    }
    for s in scores:
        place = 1 + sum(other > keys[s.seat] for other in keys.values())
        yield replace(s, place=place)


def most_tickets_made(score: SeatScore, scores: Sequence[SeatScore]) -> int:
    return len(score.made)


def holds_longest(score: SeatScore, scores: Sequence[SeatScore]) -> int:
    return int(score.longest == max(other.longest for other in scores))


def points_of_tickets_made(score: SeatScore, scores: Sequence[SeatScore]) -> int:
    return score.won


def points_of_stations(score: SeatScore, scores: Sequence[SeatScore]) -> int:
    return score.stations


def longest_bonus(score: SeatScore, scores: Sequence[SeatScore]) -> int:
    return score.bonus


def merchandise_total(score: SeatScore, scores: Sequence[SeatScore]) -> int:
    return score.merchandise


def _ranks(place: Place) -> bool:
    return place.gone != "removed"
