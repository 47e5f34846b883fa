"""The points of a compact game at its end (SCORE-*), and the tickets that a seat's routes make."""

from __future__ import annotations

from collections.abc import Sequence

from services.bots.trains.searching.compact_game import NOWHERE, CompactGame
from services.referee.games.trains.search.longest_trail import Networks
from services.referee.games.trains.search.station_loans import Loan, best_loans


def final_points(game: CompactGame) -> list[int]:
    """Every seat's points as if the game ended now; 0 of a seat that was removed."""
    rules, totals = game.rules, list(game.points)
    tickets_made, longest = [0] * len(totals), [0] * len(totals)
    for seat in rules.scoring:
        tickets = game.tickets[seat]
        made = tickets_at_end(game, seat)
        tickets_made[seat] = sum(made)
        for ticket, is_made in zip(tickets, made, strict=True):
            totals[seat] += ticket.points if is_made else -ticket.points
        totals[seat] += rules.station_points * (len(rules.station_costs) - len(game.stations[seat]))
        if rules.longest_bonus:
            longest[seat] = rules.measure_longest(
                [rules.measured_routes[route] for route in game.routes[seat]]
            )
    _add_bonus(totals, rules.most_tickets_bonus, tickets_made)
    _add_bonus(totals, rules.longest_bonus, longest)
    return totals


def _add_bonus(totals: list[int], bonus: int, counts: Sequence[int]) -> None:
    """Every seat with the highest count gets the bonus; nobody for none (SCORE-3, SCORE-4)."""
    most = max(counts)
    for seat, count in enumerate(counts):
        totals[seat] += bonus if count == most > 0 else 0


def tickets_at_end(game: CompactGame, seat: int) -> list[bool]:
    """Whether each ticket of the seat is made, with the best loans of its stations (STATION-3)."""
    if not game.stations[seat]:
        return tickets_made(game, seat)
    rules, cities, tickets = game.rules, game.rules.cities, game.tickets[seat]
    own = _own_ends(game, seat)
    loans = best_loans(
        own,
        [_lendable(game, seat, city, neighbour) for city, neighbour in game.stations[seat]],
        [(cities[ticket.a], cities[ticket.b], ticket.points) for ticket in tickets],
        rules.countries,
    )
    networks = Networks([*own, *((loan.a, loan.b) for loan in loans if loan)], rules.countries)
    return [networks.connects(cities[ticket.a], cities[ticket.b]) for ticket in tickets]


def tickets_made(game: CompactGame, seat: int) -> list[bool]:
    """Whether the seat's own routes make each of its tickets."""
    tickets, cities = game.tickets[seat], game.rules.cities
    if game.rules.countries:
        networks = Networks(_own_ends(game, seat), game.rules.countries)
        return [networks.connects(cities[ticket.a], cities[ticket.b]) for ticket in tickets]
    ends, network = game.rules.graph.ends, list(range(len(cities)))
    for route in game.routes[seat]:
        one, other = network[ends[route][0]], network[ends[route][1]]
        if one != other:
            network = [one if each == other else each for each in network]
    return [network[ticket.a] == network[ticket.b] for ticket in tickets]


def _own_ends(game: CompactGame, seat: int) -> list[tuple[str, str]]:
    ends, cities = game.rules.graph.ends, game.rules.cities
    return [(cities[ends[route][0]], cities[ends[route][1]]) for route in game.routes[seat]]


def _lendable(game: CompactGame, seat: int, city: int, neighbour: int) -> list[Loan]:
    """Routes of other seats into the city: from the neighbour that was named, or from any."""
    graph, cities = game.rules.graph, game.rules.cities
    loans = list[Loan]()
    for other, routes in enumerate(game.routes):
        for route in routes if other != seat else ():
            a, b = graph.ends[route]
            if city in (a, b) and neighbour in (NOWHERE, a, b):
                loans.append(Loan(graph.routes[route].id, cities[a], cities[b]))
    return loans
