"""A started game with a given position, to answer questions about the position."""

from __future__ import annotations

from typing import Final

from schemas.commands import Command, CommandEnvelope, CreateGame, StartGame, TakeSeat
from services.referee.games.decide import decide_envelope
from services.referee.games.state import GameState
from services.referee.games.trains.train_state import TrainGame

QUESTION_GAME_ID: Final = "question"
UNUSED_SEED: Final = "00" * 32  # only for what neither the position nor the command's own seed decides


def start_from_position(command: CreateGame) -> TrainGame:
    """The state of the game that `command` creates, after every seat was taken and the game started.

    All seats of `command` are for people. Raises UnloggedRejectionError if the game can't be created."""
    state: TrainGame = GameState()

    def apply_command(command: Command) -> None:
        decide_envelope(state, CommandEnvelope("laid", QUESTION_GAME_ID, None, command), 0, UNUSED_SEED)

    apply_command(command)
    for seat in range(len(command.seats)):
        apply_command(TakeSeat(f"seat {seat}", seat))
    apply_command(StartGame())
    return state
