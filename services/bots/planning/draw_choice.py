"""Which card to draw, and whether to draw tickets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from schemas.commands import Command, DrawBlind, DrawMarket, DrawTickets
from schemas.field_types import LOCOMOTIVE
from services.bots.planning.card_needs import blind_value, card_values
from services.bots.planning.move_plan import MovePlan
from services.bots.planning.ticket_choice import expected_gain
from services.referee.rules.state import ACTION

BLIND_BONUS: Final = 0.01  # of two cards that are worth the same the one that others don't see
LEAST_TURNS: Final = 8  # with fewer left no more tickets are drawn


def best_card(plan: MovePlan, draws: Sequence[DrawBlind | DrawMarket]) -> Command | None:
    """The card that is worth most. A locomotive that lies open costs the second card (CARD-2)."""
    state, values = plan.state, card_values(plan.situation, plan.needs)
    blind = blind_value(state, plan.seat, values)
    open_cards = [str(card) for card in state.market if card not in (None, LOCOMOTIVE)]
    second = max([blind, *(values[card] for card in open_cards)])
    is_first = state.pending_choices[plan.seat] == ACTION

    def worth(draw: DrawBlind | DrawMarket) -> float:
        if isinstance(draw, DrawBlind):
            return blind + BLIND_BONUS
        card = str(state.market[draw.slot or 0])
        return values[card] - (second if card == LOCOMOTIVE and is_first else 0.0)

    return max(draws, key=worth, default=None)


def best_ticket_draw(plan: MovePlan, draws: Sequence[DrawTickets]) -> DrawTickets | None:
    """A draw of tickets in an even mix, where the network is complete and another ticket should pay."""
    situation, options = plan.situation, plan.state.rule_options
    is_early = situation.cars >= plan.weights.cars_to_draw * options.cars
    has_enough = len(situation.tickets) >= plan.weights.tickets_to_draw
    if not draws or not is_early or has_enough or plan.network.cars or situation.turns_left < LEAST_TURNS:
        return None
    drawn = options.draw_named or sum(options.draw_tickets.values())
    if expected_gain(plan, drawn) < plan.weights.draw_margin:
        return None
    return even_mix(draws)


def even_mix(draws: Sequence[DrawTickets]) -> DrawTickets:
    """Of these draws the one that takes most evenly from the decks."""
    return min(draws, key=lambda draw: max((draw.decks or {"": 0}).values()))
