"""The final scores (SCORE-*, TIE-1), counted from the state alone, not from running totals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from schemas.events import GameEnded
from schemas.trains.events import TrainScore
from services.referee.games.state import SeatState
from services.referee.games.trains.board import Route, Ticket, points_for_route
from services.referee.games.trains.search.longest_trail import Networks
from services.referee.games.trains.search.station_loans import Loan, best_loans
from services.referee.games.trains.train_state import TrainGame


def score(state: TrainGame) -> tuple[TrainScore, ...]:
    """Every seat's score as if the game ended now, in seat order, with places from 1.

    Removed seats score 0 and rank below all others (CONDUCT-2)."""
    scores = [seat_score(state, seat) for seat in range(len(state.seats))]
    longest = max(s.longest for s in scores)
    most = max(len(s.made) for s in scores)
    return tuple(assign_places(state, [with_bonuses(state, s, longest, most) for s in scores]))


def train_scores(result: GameEnded) -> tuple[TrainScore, ...]:
    """The scores that a train game ended with, in seat order."""
    return tuple(each for each in result.scores if isinstance(each, TrainScore))


def seat_score(state: TrainGame, seat: int) -> TrainScore:
    """One seat's points without the bonuses, which depend on the others; its place is 0 so far."""
    seat_state, rule_options = state.seats[seat], state.rule_options
    table = state.own
    routes = sum(points_for_route(rule_options, table.board.routes[name]) for name in seat_state.own.routes)
    if rule_options.points_at_once and table.position_starter is None:
        assert routes == seat_state.own.points, (
            f"seat {seat}: {seat_state.own.points} as claimed, {routes} counted (SCORE-1)"
        )
    known_tickets = [table.board.tickets[ticket] for ticket in seat_state.own.tickets if ticket is not None]
    loans = choose_loans(state, seat, known_tickets)
    own_ends = own_route_ends(state, seat_state)
    networks = Networks([*own_ends, *((loan.a, loan.b) for loan in loans if loan)], table.board.countries)
    made = tuple(t.id for t in known_tickets if networks.connects(t.a, t.b))
    tickets = sum(t.points if t.id in made else -t.points for t in known_tickets)
    stations = rule_options.station_points * (len(rule_options.station_costs) - len(seat_state.own.stations))
    if seat_state.exit_reason == "removed":
        stations = 0
    return TrainScore(
        seat=seat,
        routes=routes,
        made=made,
        missed=tuple(t.id for t in known_tickets if t.id not in made),
        tickets=tickets,
        won=sum(t.points for t in known_tickets if t.id in made),
        lent=tuple(loan and loan.route for loan in loans),
        longest=longest_route(state, seat_state.own.routes),  # lent ones don't count
        bonus=0,
        most=0,
        stations=stations,
        merchandise=seat_state.own.merchandise,
        total=routes + tickets + stations + seat_state.own.merchandise,
        place=0,
    )


def with_bonuses(state: TrainGame, score: TrainScore, longest: int, most: int) -> TrainScore:
    """Add to the scores the bonuses for the longest route (`longest` spaces) and for the most tickets made
    (`most`). A length or a number of 0 earns nobody a bonus (SCORE-3, SCORE-4)."""
    bonus = state.rule_options.longest_bonus if score.longest == longest > 0 else 0
    tickets = state.rule_options.most_tickets_bonus if len(score.made) == most > 0 else 0
    if not (bonus or tickets):
        return score
    return replace(score, bonus=bonus, most=tickets, total=score.total + bonus + tickets)


def own_route_ends(state: TrainGame, seat_state: SeatState) -> list[tuple[str, str]]:
    """The two cities of each of the seat's own routes."""
    routes = state.own.board.routes
    return [(routes[name].a, routes[name].b) for name in seat_state.own.routes]


def longest_route(state: TrainGame, names: Iterable[str]) -> int:
    """Spaces of the longest trail or path over these routes, as the ruleset measures it."""
    board = state.own.board
    routes = [board.routes[name] for name in names]
    if not board.countries:
        return state.ruleset.parts.measure_longest([(route.a, route.b, route.length) for route in routes])
    return state.ruleset.parts.measure_longest(
        [(*route_ends(route, board.countries), route.length) for route in routes]
    )


def routes_of_longest(state: TrainGame, seat_state: SeatState) -> list[str]:
    """The routes of a longest trail or path of the seat: of its own routes, those that can't all be spared. Where another
    is as long, the routes that were claimed late make it."""
    routes = list(seat_state.own.routes)
    spaces = longest_route(state, routes)
    for name in tuple(routes):
        others = [route for route in routes if route != name]
        if longest_route(state, others) == spaces:
            routes = others
    return routes


def route_ends(route: Route, countries: frozenset[str]) -> tuple[str, str]:
    """The route's ends. In a country each route has an end of its own, so that no path goes through."""
    a, b = route.a, route.b
    return f"{a}/{route.id}" if a in countries else a, f"{b}/{route.id}" if b in countries else b


def choose_loans(state: TrainGame, seat: int, tickets: Sequence[Ticket]) -> tuple[Loan | None, ...]:
    """Choose what each of the seat's stations borrows, so that its tickets score the most (STATION-3)."""
    seat_state = state.seats[seat]
    if not seat_state.own.stations:
        return ()
    choices = [
        lendable_routes(state, seat, city, neighbour) for city, neighbour in seat_state.own.stations.items()
    ]
    ticket_values = [(t.a, t.b, t.points) for t in tickets]
    return best_loans(own_route_ends(state, seat_state), choices, ticket_values, state.own.board.countries)


def lendable_routes(state: TrainGame, seat: int, city: str, neighbour: str | None) -> list[Loan]:
    """Routes of other seats into this city: from the neighbour that was named, or from any."""
    loans = []
    for name, owner in state.own.route_owners.items():
        route = state.own.board.routes[name]
        if owner != seat and city in (route.a, route.b) and neighbour in (None, route.a, route.b):
            loans.append(Loan(name, route.a, route.b))
    return loans


# -- places ------------------------------------------------------------------------------


def assign_places(state: TrainGame, scores: Sequence[TrainScore]) -> Iterable[TrainScore]:
    """The scores with their places: by total, then by the ruleset's tie-breaks, then shared (TIE-1)."""
    keys = {
        s.seat: (
            state.seats[s.seat].exit_reason != "removed",
            s.total,
            *(TIE_BREAKS[name](s, scores) for name in state.ruleset.parts.tie_breaks),
        )
        for s in scores
    }
    for s in scores:
        place = 1 + sum(other > keys[s.seat] for other in keys.values())
        yield replace(s, place=place)


# What decides between equal totals: higher wins.
TIE_BREAKS: Final[Mapping[str, Callable[[TrainScore, Sequence[TrainScore]], int]]] = {
    "tickets made": lambda score, scores: len(score.made),
    "points of tickets made": lambda score, scores: score.won,
    "longest route": lambda score, scores: int(score.longest == max(other.longest for other in scores)),
    "longest bonus": lambda score, scores: score.bonus,
    "unbuilt stations": lambda score, scores: score.stations,
    "merchandise": lambda score, scores: score.merchandise,
}
