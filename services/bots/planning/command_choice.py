"""A seat's command by its plan: the choices in the order in which they are worth considering."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

from schemas.commands import (
    BuildStation,
    ClaimRoute,
    Command,
    DrawBlind,
    DrawMarket,
    DrawTickets,
    KeepTickets,
    MovePassenger,
    PayTunnel,
    RequestCards,
)  # fmt: skip
from schemas.field_types import LOCOMOTIVE, Seat
from services.bots.planning.claim_choice import best_claim
from services.bots.planning.draw_choice import best_card, best_ticket_draw
from services.bots.planning.move_plan import MovePlan, make_move_plan
from services.bots.planning.other_actions import best_journey, best_last_move, best_station
from services.bots.planning.plan_weights import PlanWeights
from services.bots.planning.ticket_choice import choose_kept
from services.referee.rules import GameState
from services.referee.rules.moves.requests import CARDS_PER_REQUEST
from services.referee.rules.state import MIX, TUNNEL

if TYPE_CHECKING:
    from services.bots.policies.random_source import SeatRandom  # that package imports this module

C = TypeVar("C", bound=Command)


def plan_command(
    state: GameState,
    seat: Seat,
    commands: Sequence[Command],
    seat_random: SeatRandom,
    weights: PlanWeights,
) -> Command:
    """The command with these weights; chance decides only on risky tunnels, and where nothing is worth anything."""
    if len(commands) == 1:
        return commands[0]
    choice = state.pending_choices[seat]
    if choice == MIX:
        return min(of_type(commands, DrawTickets), key=lambda mix: max((mix.decks or {}).values()))
    if choice == TUNNEL:
        paid = of_type(commands, PayTunnel)
        return min(paid, key=lambda pay: pay.cards.get(LOCOMOTIVE, 0), default=commands[0])
    if keeps := of_type(commands, KeepTickets):
        return choose_kept(state, seat, keeps, weights)
    plan = make_move_plan(state, seat, weights)
    return _choose_action(plan, commands, seat_random) or seat_random.choice(commands)


def _choose_action(plan: MovePlan, commands: Sequence[Command], seat_random: SeatRandom) -> Command | None:
    """An action, or a second card."""
    claims, stations = of_type(commands, ClaimRoute), of_type(commands, BuildStation)
    journeys = of_type(commands, MovePassenger)
    if plan.situation.turns_left <= 1:
        return best_last_move(plan, claims, journeys, stations) or _draw(plan, commands)
    return (
        best_journey(plan, journeys)
        or best_claim(plan, claims, seat_random)
        or best_station(plan, stations)
        or best_ticket_draw(plan, of_type(commands, DrawTickets))
        or _draw(plan, commands)
        or _longest(plan, claims)
    )


def _draw(plan: MovePlan, commands: Sequence[Command]) -> Command | None:
    """A card, or a request for cards that brings some."""
    if requests := of_type(commands, RequestCards):
        return requests[0] if len(plan.state.deck) >= CARDS_PER_REQUEST else None
    return best_card(plan, [draw for draw in commands if isinstance(draw, DrawBlind | DrawMarket)])


def _longest(plan: MovePlan, claims: Sequence[ClaimRoute]) -> ClaimRoute | None:
    """Where no card can be had: the claim with the most points."""
    graph = plan.situation.graph
    return max(claims, key=lambda claim: graph.points[graph.route_index[claim.route]], default=None)


def of_type(commands: Sequence[Command], command_type: type[C]) -> list[C]:
    """The commands of this type, in their order."""
    return [command for command in commands if isinstance(command, command_type)]
