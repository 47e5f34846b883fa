"""The policy `random`: any legal command, each with the same probability."""

from __future__ import annotations

from collections.abc import Sequence

from schemas.commands import Command
from schemas.field_types import Seat
from services.bots.policies.random_source import SeatRandom
from services.referee.rules import GameState


def choose_randomly(
    state: GameState, seat: Seat, commands: Sequence[Command], seat_random: SeatRandom
) -> Command:
    """One of the commands at random."""
    return seat_random.choice(commands)
