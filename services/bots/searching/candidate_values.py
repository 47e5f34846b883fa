"""The candidates for a seat's move, and what each of them is expected to bring: flat Monte Carlo.

Every candidate is played out in the same worlds with the same chance (common random numbers), half of them
are dropped a round, and the planner's choice is left only for one that is clearly better.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import sqrt
from random import Random
from statistics import mean, stdev
from time import perf_counter
from typing import TYPE_CHECKING, Final, NamedTuple

from schemas.commands import Command
from schemas.field_types import Seat
from services.bots.planning.command_choice import plan_command
from services.bots.planning.plan_weights import WEIGHTS
from services.bots.searching.candidates import list_candidates
from services.bots.searching.compact_game import CompactGame
from services.bots.searching.compact_rules import compact_rules
from services.bots.searching.first_moves import play_first
from services.bots.searching.rollout_policy import Rollout
from services.bots.searching.world_sampler import WorldSampler
from services.referee.rules import GameState

if TYPE_CHECKING:
    from services.bots.policies.random_source import SeatRandom  # that package imports this module

ERRORS_TO_LEAVE: Final = 2.0  # standard errors by which another candidate must be better than the planner's
WORLD_SEEDS: Final = range(1 << 32)


class SearchBudget(NamedTuple):
    """How much may be thought about one move. With `seconds` None the outcome depends on nothing but the
    seat's view and its stream."""

    rollouts: int = 64  # games played out, of all candidates together
    seconds: float | None = None  # of wall time, looked at before every rollout


class CandidateValue(NamedTuple):
    """A candidate, and the mean over its rollouts; all numbers are None without a rollout."""

    command: Command
    rollouts: int
    points: float | None  # the seat's own at the end
    points_error: float | None  # the standard error of that mean; None with one rollout
    lead: float | None  # the seat's points less those of the best other seat: what is chosen by
    lead_error: float | None
    is_planners: bool  # whether it is the choice of `planner`


@dataclass(slots=True)
class _Candidate:
    command: Command
    is_planners: bool
    points: list[int] = field(default_factory=list)
    leads: list[int] = field(default_factory=list)


def evaluate_candidates(
    view: GameState,
    seat: Seat,
    commands: Sequence[Command],
    seat_random: SeatRandom,
    budget: SearchBudget,
) -> tuple[CandidateValue, ...]:
    """The sensible candidates among the seat's legal commands (at least one), the one to choose first.

    Pure, but for the clock where the budget has `seconds`: nothing is read that the seat doesn't see, and all
    chance comes from `seat_random`. Where there is but one sensible candidate, that is the planner's choice alone,
    without a rollout."""
    planned = plan_command(view, seat, commands, seat_random, WEIGHTS)
    found = list_candidates(view, seat, commands, planned)
    candidates = [_Candidate(command, command is planned) for command in found]
    if len(candidates) > 1:
        sampler = WorldSampler(view, seat, compact_rules(view))
        search = _Search(view, seat, sampler, seat_random.choice(WORLD_SEEDS), _stop_after(budget.seconds))
        search.run(candidates, budget.rollouts)
    best = _choose(candidates)
    others = sorted((each for each in candidates if each is not best), key=lambda each: -_mean_lead(each))
    return tuple(_value(each) for each in (best, *others))


def _stop_after(seconds: float | None) -> Callable[[], bool]:
    if seconds is None:
        return lambda: False
    end = perf_counter() + seconds
    return lambda: perf_counter() >= end


@dataclass(slots=True)
class _Search:
    """Rollouts of a move's candidates; world number n is the same for each of them."""

    view: GameState
    seat: Seat
    sampler: WorldSampler
    seed: int
    is_over_time: Callable[[], bool]
    worlds: list[CompactGame] = field(default_factory=list)

    def run(self, candidates: Sequence[_Candidate], rollouts: int) -> None:
        """Successive halving: every round has an equal share, half of the candidates go on to the next."""
        left = list(candidates)
        rounds = max(1, (len(left) - 1).bit_length())
        for _round in range(rounds):
            for _ in range(max(1, rollouts // (rounds * len(left)))):
                for candidate in left:
                    if self.is_over_time():
                        return
                    self.play_out(candidate)
            left = _better_half(left)

    def play_out(self, candidate: _Candidate) -> None:
        """One more rollout of the candidate."""
        number = len(candidate.points)
        if number == len(self.worlds):
            chance = Random(self.seed + number)  # noqa: S311  it decides nothing that is secret
            self.worlds.append(self.sampler.sample(chance))
        rollout = Rollout(self.worlds[number].copy())
        play_first(rollout, self.view, self.seat, candidate.command)
        points = rollout.play()
        own, others = points[self.seat], [each for each in rollout.game.rules.scoring if each != self.seat]
        candidate.points.append(own)
        candidate.leads.append(own - max([points[other] for other in others], default=0))


def _better_half(candidates: Sequence[_Candidate]) -> list[_Candidate]:
    """Half of them, and the planner's choice in any case."""
    ranked = sorted(candidates, key=lambda each: -_mean_lead(each))
    kept = ranked[: max(2, (len(ranked) + 1) // 2)]
    return [each for each in candidates if each in kept or each.is_planners]


def _choose(candidates: Sequence[_Candidate]) -> _Candidate:
    """The one with the best lead, if it is clearly better than the planner's choice in the same worlds."""
    planned = candidates[0]
    best = max(candidates, key=lambda each: (len(each.leads), _mean_lead(each)))
    gains = [a - b for a, b in zip(best.leads, planned.leads, strict=False)]
    error = _standard_error(gains)
    is_clear = error is not None and mean(gains) > errors_to_leave(len(gains)) * error
    return best if is_clear else planned


def errors_to_leave(count: int) -> float:
    """The limit for so many gains, two or more: their own spread says little of how sure the mean of few is.

    From three on a mean of 0 goes beyond it about as seldom as a normal one beyond ERRORS_TO_LEAVE (Student's t)."""
    return ERRORS_TO_LEAVE + 2.5 / (count - 1.9)


def _mean_lead(candidate: _Candidate) -> float:
    return mean(candidate.leads) if candidate.leads else 0.0


def _standard_error(values: Sequence[float]) -> float | None:
    return stdev(values) / sqrt(len(values)) if len(values) > 1 else None


def _value(candidate: _Candidate) -> CandidateValue:
    has_any = bool(candidate.points)
    return CandidateValue(
        candidate.command,
        len(candidate.points),
        mean(candidate.points) if has_any else None,
        _standard_error(candidate.points),
        mean(candidate.leads) if has_any else None,
        _standard_error(candidate.leads),
        candidate.is_planners,
    )
