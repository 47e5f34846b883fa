"""How a seat withdraws: it leaves, is out of time, or is removed (CLOCK-2, CONDUCT-2, CONDUCT-3)."""

from __future__ import annotations

from typing import Final

from schemas.commands import CallTime, EndGame, Leave
from schemas.events import SeatCleared, SeatGone
from schemas.field_types import Seat
from schemas.game_options import ExitReason
from schemas.refusals import require
from services.referee.games.state import EventStream, GameState

LEAST_IDLE_MS: Final = 600_000  # before a host may end a game
DAY_MS: Final = 86_400_000  # the same, where a move has no time


def leave(state: GameState, seat: Seat, command: Leave) -> EventStream:
    """The seat leaves the game by its own command (CONDUCT-3)."""
    require(not state.result, "GAME-3", "the game is over")
    yield from withdraw_seat(state, seat, "removed" if state.rule_options.strict else "left")


def call_time(state: GameState, seat: Seat | None, command: CallTime) -> EventStream:
    """The server reports that a seat's time is over; the recorded times must show it (CLOCK-2)."""
    late_seat = command.seat
    require(late_seat < len(state.seats), "CLOCK-2", f"there is no seat {late_seat}")
    require(late_seat in state.pending_choices, "CLOCK-2", f"the table isn't waiting for seat {late_seat}")
    require(state.is_out_of_time(late_seat), "CLOCK-2", f"seat {late_seat} has time left")
    yield from withdraw_seat(state, late_seat, "removed" if state.rule_options.strict else "out of time")


def end_abandoned(state: GameState, seat: Seat | None, command: EndGame) -> EventStream:
    """The host ends the game: it is as if the time of all seats were over, so it is counted as it stands (END-4).
    `require_abandoned` has looked."""
    require(state.started, "GAME-2", "the game hasn't started")
    require(not state.result, "GAME-3", "the game is over")
    reason: ExitReason = "removed" if state.rule_options.strict else "out of time"
    for playing in [*state.active_seats]:
        yield from withdraw_seat(state, playing, reason)


def require_abandoned(state: GameState, idle_ms: int) -> None:
    """Refuses with GAME-8 to end a game whose last entry isn't that old: somebody may still play it."""
    move_ms = state.rule_options.move_ms
    least_ms = max(LEAST_IDLE_MS, DAY_MS if move_ms is None else move_ms // 2)
    reason = (
        f"the last entry is {idle_ms // 1000} s old; after {least_ms // 1000} s the host may end the game"
    )
    require(not state.started or idle_ms >= least_ms, "GAME-8", reason)


def withdraw_seat(state: GameState, seat: Seat, reason: ExitReason) -> EventStream:
    """Make the seat's pending choice in the simplest way, then go on without the seat."""
    yield from state.ruleset.settle(state, seat, reason)
    yield SeatGone(seat, reason)
    if reason == "removed":
        yield SeatCleared(seat)
    yield from state.ruleset.go_on_without(state, seat)
