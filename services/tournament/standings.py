"""The standings: by policy win rate, score and what else is counted, each with its 95 % interval over seed blocks; and ratings.

Games of a block share their luck, so blocks are the observations. A mean has Student's interval. A share has Wilson's, which
stays between 0 and 1 and has a width even where all was won.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from math import cos, log10, pi, sin, sqrt, tan
from operator import mul
from statistics import mean, stdev
from typing import Final, TypeVar

from services.tournament.game_results import GameResult, SeatResult, share_names

CONFIDENCE: Final = 0.95
MAX_FREEDOM: Final = 1_000  # from there on Student's t is within 0.002 of its limit
MEAN_RATING: Final = 1_500
RATING_STEP: Final = 400  # points of rating for a strength of ten times

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean, and the ends of its 95 % interval; None with one block."""

    mean: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class PolicyStanding:
    """One policy's figures."""

    policy: str
    games: int  # seats that it played
    win_rate: Estimate  # a shared first place counts in parts
    score: Estimate
    shares: Mapping[str, Estimate]  # by name of what it reached: of all that it might have
    rating: float


@dataclass(frozen=True, slots=True)
class Standings:
    """A tournament's figures: policies by win rate, the winner's score, and who beats whom."""

    policies: tuple[PolicyStanding, ...]
    winner_score: Estimate
    beats: Mapping[tuple[str, str], float]  # share of the meetings in which the first ends above the second


def compute_standings(results: Sequence[GameResult]) -> Standings:
    """The standings after these games; the same for the same games in any order."""
    meetings = _meetings(results)
    ratings = rate_policies(meetings)
    names = {seat.policy for game in results for seat in game.seats}
    standings = [_standing(results, name, ratings.get(name, MEAN_RATING)) for name in names]
    standings.sort(key=lambda each: (-each.win_rate.mean, each.policy))
    winner_scores = _by_block(results, lambda game: [max(float(seat.total) for seat in game.seats)])
    beats = {pair: mean(values) for pair, values in sorted(meetings.items())}
    return Standings(tuple(standings), estimate_mean(winner_scores), beats)


def _standing(results: Sequence[GameResult], name: str, rating: float) -> PolicyStanding:
    def own(game: GameResult) -> list[tuple[int, SeatResult]]:
        return [(seat, result) for seat, result in enumerate(game.seats) if result.policy == name]

    wins = _by_block(results, lambda game: [(game.share_won(seat), 1) for seat, _ in own(game)])
    scores = _by_block(results, lambda game: [float(result.total) for _, result in own(game)])

    def share(counted: str) -> Estimate:
        nothing = (0, 0)
        return estimate_share(
            _by_block(results, lambda game: [each.shares.get(counted, nothing) for _, each in own(game)])
        )

    played = sum(len(values) for values in wins)
    return PolicyStanding(
        name,
        played,
        estimate_share(wins),
        estimate_mean(scores),
        {counted: share(counted) for counted in share_names(results)},
        rating,
    )


def _by_block(results: Sequence[GameResult], values: Callable[[GameResult], Sequence[T]]) -> list[list[T]]:
    """The values of the games of each block that has any, in the order of the blocks."""
    blocks: dict[int, list[T]] = {}
    for game in sorted(results, key=lambda game: (game.block, [seat.policy for seat in game.seats])):
        blocks.setdefault(game.block, []).extend(values(game))
    return [block for block in blocks.values() if block]


# -- intervals -------------------------------------------------------------------------------


def estimate_mean(blocks: Sequence[Sequence[float]]) -> Estimate:
    """The mean of the blocks' means, with Student's interval."""
    means = [mean(values) for values in blocks]
    if len(means) < 2:
        return Estimate(mean(means) if means else 0.0)
    margin = student_t(len(means) - 1) * stdev(means) / sqrt(len(means))
    return Estimate(mean(means), mean(means) - margin, mean(means) + margin)


def estimate_share(blocks: Sequence[Sequence[tuple[float, int]]]) -> Estimate:
    """The share of all, where each value is how many of how many, with Wilson's interval: for as many independent ones as
    their spread over the blocks amounts to (Korn and Graubard 1998), by Student's t in place of the normal quantile."""
    sums = [(sum(part for part, _ in values), sum(whole for _, whole in values)) for values in blocks]
    sums = [(part, whole) for part, whole in sums if whole]
    total = sum(whole for _, whole in sums)
    if not total:
        return Estimate(0.0)
    count, share = len(sums), sum(part for part, _ in sums) / total
    if count < 2:
        return Estimate(share)
    spread = sum((part - share * whole) ** 2 for part, whole in sums) / total**2 * count / (count - 1)
    spread = max(spread, 1 / (2 * count) ** 2)  # equal blocks: one of them may have been half a game better
    size = share * (1 - share) / spread or total
    return Estimate(share, *wilson(share, size, student_t(count - 1)))


def wilson(share: float, size: float, quantile: float) -> tuple[float, float]:
    """The ends of Wilson's interval of a share among `size` observations (1927)."""
    added = quantile**2 / size
    center = (share + added / 2) / (1 + added)
    margin = quantile / (1 + added) * sqrt((share * (1 - share) + added / 4) / size)
    return max(0.0, center - margin), min(1.0, center + margin)


@cache
def student_t(freedom: int) -> float:
    """The number of standard errors to either side that hold CONFIDENCE of Student's t, found by halving."""
    freedom = min(freedom, MAX_FREEDOM)
    low, high = 0.0, pi / 2
    while high - low > 1e-12:
        middle = (low + high) / 2
        low, high = (middle, high) if _student_share(middle, freedom) < CONFIDENCE else (low, middle)
    return sqrt(freedom) * tan(low)


def _student_share(angle: float, freedom: int) -> float:
    """The share of Student's t within tan(angle) * sqrt(freedom) of 0 (Abramowitz and Stegun, 26.7.3 and 26.7.4)."""
    is_odd = freedom % 2
    factors = (cos(angle) ** 2 * n / (n + 1) for n in range(1 + is_odd, freedom - 2, 2))
    terms = accumulate(factors, mul, initial=cos(angle) ** is_odd)
    series = sin(angle) * sum(terms) if freedom > 1 else 0.0
    return 2 / pi * (angle + series) if is_odd else series


# -- ratings ---------------------------------------------------------------------------------


def _meetings(results: Sequence[GameResult]) -> dict[tuple[str, str], list[float]]:
    """By pair of policies what each meeting of two seats brought the first: 1 where it ended above, a half for a tie."""
    meetings: dict[tuple[str, str], list[float]] = {}
    for game in results:
        for one in game.seats:
            for other in game.seats:
                if one.policy != other.policy:
                    value = 0.5 if one.place == other.place else float(one.place < other.place)
                    meetings.setdefault((one.policy, other.policy), []).append(value)
    return meetings


def rate_policies(meetings: Mapping[tuple[str, str], Sequence[float]]) -> dict[str, float]:
    """By policy its Elo rating, which explains all meetings at once (Bradley-Terry, by Hunter's iteration of 2004), whatever
    their order. Each pair ties once more, so that one that never lost has a rating, too."""
    rows = {name: [pair for pair in sorted(meetings) if pair[0] == name] for name, _ in sorted(meetings)}
    won = {name: sum(sum(meetings[pair]) + 0.5 for pair in row) for name, row in rows.items()}
    strengths, change = dict.fromkeys(rows, 1.0), 1.0
    while change > 1e-7:
        change = 0.0
        for name, row in rows.items():
            before = strengths[name]
            strengths[name] = won[name] / sum(
                (len(meetings[pair]) + 1) / (before + strengths[pair[1]]) for pair in row
            )
            change = max(change, abs(strengths[name] / before - 1))
    level = sum(map(log10, strengths.values())) / max(1, len(strengths))
    return {
        name: MEAN_RATING + RATING_STEP * (log10(strength) - level) for name, strength in strengths.items()
    }
