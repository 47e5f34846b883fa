"""Which tickets to keep, and what more of them would bring: by what a network for them takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from schemas.commands import KeepTickets
from schemas.field_types import Seat
from services.bots.planning.board_graph import UNREACHABLE, shortest_path
from services.bots.planning.move_plan import MovePlan
from services.bots.planning.network_plan import plan_network
from services.bots.planning.plan_weights import PlanWeights
from services.bots.planning.seat_situation import PlannedTicket, SeatSituation, see_situation, ticket_of
from services.referee.rules import GameState

MOST_CHOICES: Final = 64  # that are all planned; of more only those that add a ticket to the best so far
MOST_TICKETS: Final = 60  # of the tickets that may be drawn, that are looked at
SHARE_KEPT: Final = 0.9  # of a new ticket's points: the rest is the risk


def choose_kept(
    state: GameState, seat: Seat, keeps: Sequence[KeepTickets], weights: PlanWeights
) -> KeepTickets:
    """The tickets of the offer that bring most together with those that the seat has."""
    situation = see_situation(state, seat, weights)
    offer = [ticket_of(situation.graph, state, str(name)) for name in state.seats[seat].offer]

    def worth(keep: KeepTickets) -> float:
        tickets = situation.tickets + [offer[index] for index in keep.keep]
        return plan_network(situation, tickets, weights).worth

    return max(keeps, key=worth) if len(keeps) <= MOST_CHOICES else _grow_choice(keeps, worth)


def _grow_choice(keeps: Sequence[KeepTickets], worth: Callable[[KeepTickets], float]) -> KeepTickets:
    """Of very many choices the best of the smallest, then one ticket more as long as it pays."""
    by_size: dict[int, list[KeepTickets]] = {}
    for keep in keeps:
        by_size.setdefault(len(keep.keep), []).append(keep)
    first, *larger_sizes = sorted(by_size)
    best = max(by_size[first][:MOST_CHOICES], key=worth)
    best_worth = worth(best)
    for size in larger_sizes:
        candidate = max((k for k in by_size[size] if {*best.keep} <= {*k.keep}), key=worth)
        if (candidate_worth := worth(candidate)) <= best_worth:
            break
        best, best_worth = candidate, candidate_worth
    return best


def expected_gain(plan: MovePlan, drawn: int) -> float:
    """What the best of so many tickets, drawn at random from those not held, would bring beside the network."""
    situation, state = plan.situation, plan.state
    costs = list(situation.costs)
    for route in plan.network.routes:
        costs[route] = 0.0
    held, decks = set(state.seats[plan.seat].tickets), state.rule_options.draw_tickets
    names = [t.id for t in state.board.tickets.values() if t.id not in held and decks.get(t.deck)]
    names = names[:: 1 + len(names) // MOST_TICKETS]
    cars = situation.cars - plan.network.cars
    gains = sorted(_gain(situation, costs, ticket_of(situation.graph, state, name), cars) for name in names)
    below = expected = 0.0
    for rank, gain in enumerate(gains, 1):  # the chance that this one is the best of those drawn
        chance = (rank / len(gains)) ** drawn
        expected += gain * (chance - below)
        below = chance
    return expected


def _gain(situation: SeatSituation, costs: Sequence[float], ticket: PlannedTicket, cars: int) -> float:
    cost, routes = shortest_path(situation.graph, costs, ticket.a, ticket.b)
    needed = sum(situation.graph.lengths[route] for route in routes if costs[route])
    if cost >= UNREACHABLE or needed > cars:
        return -float(ticket.points)
    return max(SHARE_KEPT * ticket.points - cost, -float(ticket.points))
