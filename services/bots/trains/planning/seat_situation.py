"""A seat's situation in numbers: its cards, its cars, the cost of each route.

Of other seats only their routes, their cars and the number of their cards are read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from schemas.field_types import Seat
from schemas.trains.field_types import LOCOMOTIVE, PLUS_FOUR
from services.bots.trains.planning.board_graph import UNREACHABLE, BoardGraph, TicketEnds, graph_of
from services.bots.trains.planning.plan_weights import WEIGHTS
from services.referee.games.trains.board import GRAY
from services.referee.games.trains.moves.routes import TUNNEL_KIND
from services.referee.games.trains.train_state import TrainGame

MOST_TURNS: Final = 99  # where the end isn't near


@dataclass(slots=True)
class SeatSituation:
    """The seat's situation; `costs` is by route: 0 for its own, UNREACHABLE for what it can't use."""

    graph: BoardGraph
    hand: dict[str, int]  # colours only
    locomotives: int
    plus_fours: int
    cars: int
    costs: list[float]
    is_free: list[bool]  # by route: it may still be claimed by this seat
    loans: list[bool]  # by route: another seat's, that a station could borrow
    stations_left: int
    tickets: list[TicketEnds]
    turns_left: int  # a guess at how many turns the seat still has, this one too


def see_situation(state: TrainGame, seat: Seat) -> SeatSituation:
    """The situation of the seat in this state, which may be its own view."""
    graph, seat_state = graph_of(state.own.board, state.rule_options), state.seats[seat].own
    hand = {str(card): count for card, count in seat_state.hand.items() if count > 0 and card is not None}
    locomotives, plus_fours = hand.pop(LOCOMOTIVE, 0), hand.pop(PLUS_FOUR, 0)
    stations_left = len(state.rule_options.station_costs) - len(seat_state.stations)
    situation = SeatSituation(
        graph,
        hand,
        locomotives,
        plus_fours,
        seat_state.cars,
        [UNREACHABLE] * len(graph.routes),
        [False] * len(graph.routes),
        [False] * len(graph.routes),
        stations_left,
        [ticket_of(graph, state, str(name)) for name in seat_state.tickets],
        estimate_turns(state, seat),
    )
    price_routes(situation, state, seat)
    return situation


def ticket_of(graph: BoardGraph, state: TrainGame, name: str) -> TicketEnds:
    """The ticket of this name."""
    ticket = state.own.board.tickets[name]
    return TicketEnds(graph.city_index[ticket.a], graph.city_index[ticket.b], ticket.points)


def estimate_turns(state: TrainGame, seat: Seat) -> int:
    """How many turns the seat still has, this one too: exactly in the last turns, else by the others' cars."""
    table = state.own
    if table.in_last_turns:
        return 2 if seat in table.seats_with_last_turn and state.turn != seat else 1
    last_cars = state.rule_options.last_cars
    others = (state.seats[other].own.cars for other in state.active_seats if other != seat)
    turns = (max(0, cars - last_cars) / WEIGHTS.cars_a_turn for cars in others)
    return 1 + int(min(turns, default=MOST_TURNS))


def price_routes(situation: SeatSituation, state: TrainGame, seat: Seat) -> None:
    """Fill in the costs: the cars, cards and turns that each route takes, less its points."""
    graph, costs, seat_state = situation.graph, situation.costs, state.seats[seat].own
    index, car_price = graph.route_index, WEIGHTS.car_price * graph.car_value
    for name in seat_state.routes:
        costs[index[name]] = 0.0
    best_held = max(situation.hand.values(), default=0)
    late = max(0.0, 1 - situation.turns_left / WEIGHTS.turns_early)
    card_credit = WEIGHTS.card_credit + WEIGHTS.haste * late
    for (length, color, locomotives), names in state.own.open_routes.items():
        if length > situation.cars:
            continue
        held = best_held if color == GRAY else situation.hand.get(color, 0)
        base = length * car_price + WEIGHTS.claim_price + locomotives * WEIGHTS.locomotive_price
        base -= card_credit * min(held, length)
        for name in names:
            if name not in seat_state.blocked_parallels:
                route = index[name]
                cost = base - graph.points[route]
                if graph.routes[route].kind == TUNNEL_KIND:
                    cost += WEIGHTS.tunnel_price
                costs[route] = max(WEIGHTS.least_cost, cost + WEIGHTS.haste * late * length)
                situation.is_free[route] = True
    if state.rule_options.station_costs:
        _price_loans(situation, state, seat)


def _price_loans(situation: SeatSituation, state: TrainGame, seat: Seat) -> None:
    """Others' routes that a station of the seat borrows or could borrow (STATION-3)."""
    index, stations = situation.graph.route_index, state.seats[seat].own.stations
    price = WEIGHTS.loan_price + state.rule_options.station_points
    table = state.own
    for name, owner in table.route_owners.items():
        if owner == seat:
            continue
        route = table.board.routes[name]
        if route.a in stations or route.b in stations:
            situation.costs[index[name]] = WEIGHTS.least_cost
        elif situation.stations_left and not {route.a, route.b} <= table.station_owners.keys():
            situation.costs[index[name]] = price
            situation.loans[index[name]] = True
