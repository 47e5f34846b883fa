"""What a seat may do now: one list, made from what the seat can see, so that it reveals nothing else."""

from __future__ import annotations

from schemas.commands import Command, Pass
from schemas.field_types import Seat
from services.referee.games.state import ACTION, GameState


def legal(state: GameState, seat: Seat) -> list[Command]:
    """Every command that the referee would accept from this seat now, in a fixed order.

    Leaving is always possible and never listed; a market card is listed by its slot only. The list is the
    same for the referee's state and the seat's own view: nothing hidden from the seat is read."""
    choice = state.pending_choices.get(seat)
    if choice is None or state.is_out_of_time(seat):
        return []
    commands: list[Command] = []
    must_act = choice != ACTION
    for move in state.ruleset.moves[choice]:
        list_offers = move.offers
        offers = list_offers(state, seat)
        commands += offers
        must_act = must_act or (bool(offers) and not move.is_optional)
    must_act = must_act or not state.ruleset.has_command(Pass)
    return commands if must_act else [Pass(), *commands]  # TURN-4
