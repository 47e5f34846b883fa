"""Which of the legal commands are worth a rollout: the planner's choice first, then others that make sense."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from schemas.commands import ClaimRoute, Command, DrawBlind, DrawMarket, DrawTickets, KeepTickets
from schemas.field_types import Seat
from services.bots.planning.claim_choice import payment_price
from services.bots.planning.draw_choice import best_card
from services.bots.planning.move_plan import MovePlan, make_move_plan
from services.bots.planning.plan_weights import WEIGHTS
from services.referee.rules import GameState
from services.referee.rules.state import ACTION, TICKETS

CLAIMS: Final = 4  # routes at most
CARS_FOR_TICKETS: Final = 12  # with fewer left no more tickets are drawn
KEEPS: Final = 16  # choices of tickets at most


def list_candidates(
    state: GameState, seat: Seat, commands: Sequence[Command], planned: Command
) -> list[Command]:
    """The planner's choice and its alternatives; that choice alone where there is nothing to search."""
    choice, candidates = state.pending_choices[seat], [planned]
    if choice == TICKETS and len(commands) <= KEEPS:
        candidates += [command for command in commands if isinstance(command, KeepTickets)]
    elif choice == ACTION:
        candidates += _actions(make_move_plan(state, seat, WEIGHTS), commands)
    return [each for index, each in enumerate(candidates) if each not in candidates[:index]]


def _actions(plan: MovePlan, commands: Sequence[Command]) -> list[Command]:
    """The best claims, each with its cheapest payment, the best card, and more tickets while cars are left."""
    claims: dict[int, ClaimRoute] = {}
    prices: dict[int, float] = {}
    graph = plan.situation.graph
    for command in commands:
        if isinstance(command, ClaimRoute):
            route = graph.route_index[command.route]
            price = _payment_price(plan, command, route)
            if price < prices.get(route, price + 1):
                claims[route], prices[route] = command, price

    def worth(route: int) -> float:
        return 4 * plan.wanted.get(route, 0.0) + graph.points[route] - prices[route]

    actions: list[Command] = [claims[route] for route in sorted(claims, key=worth, reverse=True)[:CLAIMS]]
    draws = [command for command in commands if isinstance(command, DrawBlind | DrawMarket)]
    if (card := best_card(plan, draws)) is not None:
        actions.append(card)
    if plan.situation.cars >= CARS_FOR_TICKETS:
        actions += [command for command in commands if isinstance(command, DrawTickets)][:1]
    return actions


def _payment_price(plan: MovePlan, claim: ClaimRoute, route: int) -> float:
    """As `claim_choice` has it; of a route that the plan doesn't want the locomotives alone."""
    if route in plan.needs.needs:
        return payment_price(plan, claim, route)
    return sum(
        plan.needs.reserved.get(card, 0) + 2.0 * (card not in plan.situation.hand) for card in claim.cards
    )
