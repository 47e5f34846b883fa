"""The candidates for a seat's move, and what each of them is expected to bring."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from schemas.commands import Command
from schemas.field_types import Seat
from services.bots.policies.planner import planner
from services.bots.policies.random_source import SeatRandom
from services.referee.rules import GameState


class SearchBudget(NamedTuple):
    """How much may be thought about one move. With `seconds` None the outcome depends on nothing but the
    seat's view and its stream."""

    rollouts: int = 64  # games played out, of all candidates together
    seconds: float | None = None  # of wall time, looked at after every rollout


class CandidateValue(NamedTuple):
    """A candidate, and the mean over its rollouts; all numbers are None without a rollout."""

    command: Command
    rollouts: int
    points: float | None  # the seat's own at the end
    points_error: float | None  # the standard error of that mean; None with one rollout
    lead: float | None  # the seat's points less those of the best other seat: what is chosen by
    lead_error: float | None
    is_planners: bool  # whether it is the choice of `planner`


def evaluate_candidates(
    view: GameState,
    seat: Seat,
    commands: Sequence[Command],
    seat_random: SeatRandom,
    budget: SearchBudget,
) -> tuple[CandidateValue, ...]:
    """The sensible candidates among the seat's legal commands (at least one), the one to choose first.

    Pure, but for the clock where the budget has `seconds`: nothing is read that the seat doesn't see, and all
    chance comes from `seat_random`. Where the rollouts don't know the rules, or there is but one sensible
    candidate, that is the planner's choice alone, without a rollout."""
    choice = planner(view, seat, commands, seat_random)
    return (CandidateValue(choice, 0, None, None, None, None, is_planners=True),)
