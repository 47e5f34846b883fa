"""Flat Monte Carlo: candidates are played out in equal worlds, and half of them are dropped a round."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import inf, sqrt
from statistics import mean, stdev
from typing import Final, NamedTuple, TypeAlias

from schemas.commands import Command
from schemas.field_types import Seat
from services.bots.seat_random import SeatRandom
from services.referee.games import GameState

WORLD_SEEDS: Final = range(1 << 32)  # of a choice's worlds


class CandidateValue(NamedTuple):
    """A candidate, and the mean over its rollouts; all numbers are None without a rollout."""

    command: Command
    rollouts: int
    points: float | None  # the seat's own at the end
    points_error: float | None  # the standard error of that mean; None with one rollout
    lead: float | None  # the seat's points less those of the best other seat
    lead_error: float | None
    loss_error: float | None  # of how much that is smaller than the best's, in the same worlds
    is_planners: bool  # whether it is the choice of `planner`
    is_done: bool  # whether it is what the seat did


# The values of a seat's legal commands in its view, by so many rollouts of all of them together; among them in any case
# what the seat did there, where that is known.
Search: TypeAlias = Callable[
    [GameState, Seat, Sequence[Command], SeatRandom, int, Command | None], tuple[CandidateValue, ...]
]


class OwnSearch(NamedTuple):
    """The search of a family of games."""

    evaluate: Search
    rollouts: int  # of a choice, for the policy `searcher`


OWN_SEARCHES: Final[dict[type, OwnSearch]] = {}  # by the class of the game's own state


@dataclass(slots=True)
class Candidate:
    """A command, and what each of its rollouts came to. A lead beyond `most_lead`, either way, is worth no more than it."""

    command: Command
    is_planners: bool = False
    is_done: bool = False
    most_lead: float = inf
    points: list[int] = field(default_factory=list)
    leads: list[int] = field(default_factory=list)

    @property
    def worths(self) -> list[float]:
        """What is chosen by, of each rollout."""
        return [max(-self.most_lead, min(self.most_lead, lead)) for lead in self.leads]

    @property
    def mean_worth(self) -> float:
        """0 without a rollout."""
        return mean(self.worths) if self.leads else 0.0


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
    """Half of them, and in any case the planner's choice and what the seat did."""
    ranked = sorted(candidates, key=lambda each: -each.mean_worth)
    kept = ranked[: max(2, (len(ranked) + 1) // 2)]
    return [each for each in candidates if each in kept or each.is_planners or each.is_done]


def best_of(candidates: Sequence[Candidate]) -> Candidate:
    """The one that is worth most, of those that were played out most often."""
    return max(candidates, key=lambda each: (len(each.leads), each.mean_worth))


def values_of(candidates: Sequence[Candidate], best: Candidate) -> tuple[CandidateValue, ...]:
    """The values of all: the best first, then by their worth."""
    others = sorted((each for each in candidates if each is not best), key=lambda each: -each.mean_worth)
    return tuple(_value(each, best) for each in (best, *others))


def standard_error(values: Sequence[float]) -> float | None:
    """The standard error of their mean; None of a single value."""
    return stdev(values) / sqrt(len(values)) if len(values) > 1 else None


def _value(candidate: Candidate, best: Candidate) -> CandidateValue:
    has_any = bool(candidate.points)
    losses = [a - b for a, b in zip(best.leads, candidate.leads, strict=False)]
    return CandidateValue(
        candidate.command,
        len(candidate.points),
        mean(candidate.points) if has_any else None,
        standard_error(candidate.points),
        mean(candidate.leads) if has_any else None,
        standard_error(candidate.leads),
        standard_error(losses),
        candidate.is_planners,
        candidate.is_done,
    )
