"""The policy `searcher`: of some sensible commands the one that brings most in games played out, or the planner's.
What it thinks with is in services/bots/searching."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from schemas.commands import Command
from schemas.field_types import Seat
from services.bots.policies.random_source import SeatRandom
from services.bots.searching.candidate_values import SearchBudget, evaluate_candidates
from services.referee.rules import GameState

BUDGET: Final = SearchBudget(rollouts=64)  # without a clock: the same view and stream give the same command


def searcher(state: GameState, seat: Seat, commands: Sequence[Command], seat_random: SeatRandom) -> Command:
    """The command of the policy."""
    return evaluate_candidates(state, seat, commands, seat_random, BUDGET)[0].command
