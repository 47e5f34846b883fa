"""The legal commands that are worth a rollout: the planner's choice first, then others that make sense."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from schemas.commands import (
    BuildStation,
    ClaimRoute,
    Command,
    DeclineTunnel,
    DrawBlind,
    DrawMarket,
    DrawTickets,
    KeepTickets,
    MovePassenger,
    RequestCards,
)  # fmt: skip
from schemas.field_types import Seat
from services.bots.planning.action_choice import cheapest_station, passenger_worth, payment_price
from services.bots.planning.command_choice import best_card, even_mix, of_type
from services.bots.planning.move_plan import MovePlan, make_move_plan
from services.referee.rules import GameState
from services.referee.rules.moves.passengers import points_collected
from services.referee.rules.state import ACTION, TICKETS, TUNNEL

CLAIMS: Final = 4  # routes at most
JOURNEYS: Final = 2  # at most
CARS_FOR_TICKETS: Final = 12  # with fewer left no more tickets are drawn
KEEPS: Final = 16  # choices of tickets: of more only those close to the planner's


def list_candidates(
    state: GameState, seat: Seat, commands: Sequence[Command], planned: Command
) -> list[Command]:
    """The planner's choice and its alternatives; that choice alone if there is nothing to search."""
    choice, candidates = state.pending_choices[seat], [planned]
    if choice == TICKETS and isinstance(planned, KeepTickets):
        candidates += _other_keeps(of_type(commands, KeepTickets), planned)
    elif choice == TUNNEL:
        candidates += of_type(commands, DeclineTunnel)
    elif choice == ACTION:
        candidates += _actions(make_move_plan(state, seat), commands)
    return [each for index, each in enumerate(candidates) if each not in candidates[:index]]


def _other_keeps(keeps: Sequence[KeepTickets], planned: KeepTickets) -> Sequence[KeepTickets]:
    """All choices; of many only those with one ticket more, less or exchanged."""
    if len(keeps) <= KEEPS:
        return keeps
    return [keep for keep in keeps if len({*keep.keep} ^ {*planned.keep}) <= 2]


def _actions(plan: MovePlan, commands: Sequence[Command]) -> list[Command]:
    """The best claims, the best card, more tickets while cars are left, a request, the cheapest station, the best journeys."""
    actions: list[Command] = [*_claims(plan, of_type(commands, ClaimRoute))]
    draws = [command for command in commands if isinstance(command, DrawBlind | DrawMarket)]
    if (card := best_card(plan, draws)) is not None:
        actions.append(card)
    actions += of_type(commands, RequestCards)
    if plan.situation.cars >= CARS_FOR_TICKETS and (tickets := of_type(commands, DrawTickets)):
        actions.append(even_mix(tickets))
    if (station := cheapest_station(plan, of_type(commands, BuildStation))) is not None:
        actions.append(station)
    journeys = of_type(commands, MovePassenger)
    journeys.sort(key=lambda journey: -points_collected(plan.state, journey))
    return actions + journeys[:JOURNEYS]


def _claims(plan: MovePlan, claims: Sequence[ClaimRoute]) -> list[ClaimRoute]:
    """The claims that seem worth most, each route with its cheapest payment and its best passenger."""
    best: dict[int, ClaimRoute] = {}
    prices: dict[int, float] = {}
    graph = plan.situation.graph
    for claim in claims:
        route = graph.route_index[claim.route]
        price = _payment_price(plan, claim, route) - passenger_worth(plan, claim)
        if price < prices.get(route, price + 1):
            best[route], prices[route] = claim, price

    def worth(route: int) -> float:
        return 4 * plan.wanted.get(route, 0.0) + graph.points[route] - prices[route]

    return [best[route] for route in sorted(best, key=worth, reverse=True)[:CLAIMS]]


def _payment_price(plan: MovePlan, claim: ClaimRoute, route: int) -> float:
    """The price of a payment: `payment_price` for wanted routes; else reserved cards and locomotives alone count."""
    if route in plan.needs.needs:
        return payment_price(plan, claim, route)
    return sum(
        plan.needs.reserved.get(card, 0) + 2.0 * (card not in plan.situation.hand) for card in claim.cards
    )
