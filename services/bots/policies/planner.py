"""The policy `planner`: a cheap network for the tickets worth making, cards by what it still needs, and long
routes with the cars that are left over. What it thinks with is in services/bots/planning."""

from __future__ import annotations

from collections.abc import Sequence

from schemas.commands import Command
from schemas.field_types import Seat
from services.bots.planning.command_choice import plan_command
from services.bots.planning.plan_weights import WEIGHTS
from services.bots.policies.random_source import SeatRandom
from services.referee.rules import GameState


def planner(state: GameState, seat: Seat, commands: Sequence[Command], seat_random: SeatRandom) -> Command:
    """The command of the policy."""
    return plan_command(state, seat, commands, seat_random, WEIGHTS)
