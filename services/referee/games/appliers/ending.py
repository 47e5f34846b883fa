"""How seats leave and games end; and refusals."""

from __future__ import annotations

from schemas.events import (
    CommandRefused,
    GameEnded,
    PlayOffCalled,
    PlayOffEnded,
    SeatCleared,
    SeatGone,
    SeedRevealed,
)  # fmt: skip
from services.referee.games.appliers.table import applies, apply_own
from services.referee.games.state import GameState


@applies(SeatGone)
def seat_gone(state: GameState, event: SeatGone) -> None:
    state.seats[event.seat].exit_reason = event.why
    state.pending_choices.pop(event.seat, None)
    apply_own(state, event)


@applies(SeatCleared)
def seat_cleared(state: GameState, event: SeatCleared) -> None:
    apply_own(state, event)


@applies(PlayOffCalled)
def play_off_called(state: GameState, event: PlayOffCalled) -> None:
    state.next_play_off = event


@applies(PlayOffEnded)
def play_off_ended(state: GameState, event: PlayOffEnded) -> None:
    """Nothing of this game's state changes: the event is for people who read it."""


@applies(SeedRevealed)
def seed_revealed(state: GameState, event: SeedRevealed) -> None:
    state.seed = event.seed


@applies(GameEnded)
def game_ended(state: GameState, event: GameEnded) -> None:
    state.result = event
    state.turn = None
    state.pending_choices = {}


@applies(CommandRefused)
def command_refused(state: GameState, event: CommandRefused) -> None:
    state.refusal_counts[event.seat] = state.refusal_counts.get(event.seat, 0) + 1
