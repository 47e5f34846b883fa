"""The policy `random`: any legal command, each as likely as any other."""

from __future__ import annotations

from collections.abc import Sequence

from schemas.commands import Command
from schemas.field_types import Seat
from services.bots.policies.random_source import SeatRandom
from services.referee.rules import GameState


def choose_randomly(
    state: GameState, seat: Seat, commands: Sequence[Command], seat_random: SeatRandom
) -> Command:
    return seat_random.choice(commands)
