"""A table for a question: a game that starts from a position, everybody seated, its turn begun."""

from __future__ import annotations

from typing import Final

from schemas.commands import Command, CommandEnvelope, CreateGame, StartGame, TakeSeat
from services.referee.rules.decide import decide_envelope
from services.referee.rules.state import GameState

QUESTION_GAME_ID: Final = "question"
UNUSED_SEED: Final = "00" * 32  # for what neither the position nor a seed of the command decides


def start_from_position(command: CreateGame) -> GameState:
    """The table of this game, whose seats are for people. Raises NotKept if there can be none."""
    state = GameState()

    def apply_command(command: Command) -> None:
        decide_envelope(state, CommandEnvelope("laid", QUESTION_GAME_ID, None, command), 0, UNUSED_SEED)

    apply_command(command)
    for seat in range(len(command.seats)):
        apply_command(TakeSeat(f"seat {seat}", seat))
    apply_command(StartGame())
    return state
