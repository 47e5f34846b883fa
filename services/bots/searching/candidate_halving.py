"""Flat Monte Carlo: candidates are played out in equal worlds, and half of them are dropped a round."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import sqrt
from statistics import mean, stdev
from typing import NamedTuple

from schemas.commands import Command


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
class Candidate:
    """A command, and what each of its rollouts came to."""

    command: Command
    is_planners: bool = False
    points: list[int] = field(default_factory=list)
    leads: list[int] = field(default_factory=list)

    @property
    def mean_lead(self) -> float:
        """0 without a rollout."""
        return mean(self.leads) if self.leads else 0.0


def run_halving(
    candidates: Sequence[Candidate], rollouts: int, play_out: Callable[[Candidate], None]
) -> None:
    """Successive halving: every round has an equal share of the rollouts, half of the candidates go on to the next."""
    left = list(candidates)
    rounds = max(1, (len(left) - 1).bit_length())
    for _round in range(rounds):
        for _ in range(max(1, rollouts // (rounds * len(left)))):
            for candidate in left:
                play_out(candidate)
        left = _better_half(left)


def _better_half(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Half of them, and the planner's choice in any case."""
    ranked = sorted(candidates, key=lambda each: -each.mean_lead)
    kept = ranked[: max(2, (len(ranked) + 1) // 2)]
    return [each for each in candidates if each in kept or each.is_planners]


def best_of(candidates: Sequence[Candidate]) -> Candidate:
    """The one with the best lead, of those that were played out most often."""
    return max(candidates, key=lambda each: (len(each.leads), each.mean_lead))


def values_of(candidates: Sequence[Candidate], best: Candidate) -> tuple[CandidateValue, ...]:
    """The values of all: the best first, then by their leads."""
    others = sorted((each for each in candidates if each is not best), key=lambda each: -each.mean_lead)
    return tuple(_value(each) for each in (best, *others))


def standard_error(values: Sequence[float]) -> float | None:
    """The standard error of their mean; None of a single value."""
    return stdev(values) / sqrt(len(values)) if len(values) > 1 else None


def _value(candidate: Candidate) -> CandidateValue:
    has_any = bool(candidate.points)
    return CandidateValue(
        candidate.command,
        len(candidate.points),
        mean(candidate.points) if has_any else None,
        standard_error(candidate.points),
        candidate.mean_lead if has_any else None,
        standard_error(candidate.leads),
        candidate.is_planners,
    )
