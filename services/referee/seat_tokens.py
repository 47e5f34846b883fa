"""The tokens of a seat that is freed: they are void before the entry that frees it is written.

So whoever has the seat next gets a token of a later generation, whatever crashes when.
"""

from __future__ import annotations

from typing import Protocol

from schemas.commands import CommandEnvelope, FreeSeat
from schemas.field_types import Seat
from services.referee.rules import GameState


class FreedSeatRecord(Protocol):
    """Where gateways look which tokens are void."""

    def record_freed_seat(self, game: str, seat: Seat, times: int) -> None:
        """Record how often a seat was freed: its tokens of before open nothing any more. It may be recorded again."""
        ...


def void_tokens(record: FreedSeatRecord, envelope: CommandEnvelope, state: GameState) -> None:
    """Record how often the seat was freed, by the state after a decision on freeing it; of any other command nothing.

    A refusal is recorded too: it corrects a decision before it that conflicted."""
    command = envelope.command
    if isinstance(command, FreeSeat) and command.seat < len(state.seats):
        record.record_freed_seat(envelope.game, command.seat, state.seats[command.seat].times_freed)
