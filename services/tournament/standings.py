"""The standings: by policy win rate, score and tickets made, each with a 95 % interval over seed blocks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist, mean, stdev
from typing import Final

from openskill.models import PlackettLuce

from services.tournament.game_results import GameResult

INTERVAL: Final = NormalDist().inv_cdf(0.975)  # standard errors to either side


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over blocks, and how far the 95 % interval reaches to either side; None with one block."""

    mean: float
    margin: float | None


@dataclass(frozen=True, slots=True)
class PolicyStanding:
    """One policy's figures."""

    policy: str
    games: int  # seats that it played
    win_rate: Estimate  # a shared first place counts in parts
    score: Estimate
    tickets_made: Estimate  # share
    rating: float  # openskill's ordinal: mu - 3 sigma
    mu: float
    sigma: float


@dataclass(frozen=True, slots=True)
class Standings:
    """A tournament's figures: policies by win rate, the winner's score, and who beats whom."""

    policies: tuple[PolicyStanding, ...]
    winner_score: Estimate
    beats: Mapping[tuple[str, str], float]  # share of the meetings in which the first ends above the second


def compute_standings(results: Sequence[GameResult]) -> Standings:
    """The standings after these games; the same for the same games in any order."""
    ordered = sorted(results, key=lambda game: (game.block, [seat.policy for seat in game.seats]))
    ratings = rate_policies(ordered)
    names = sorted(ratings)
    standings = [_standing(ordered, name, *ratings[name]) for name in names]
    standings.sort(key=lambda each: (-each.win_rate.mean, each.policy))
    winner_scores = _by_block(ordered, lambda game: [max(float(seat.total) for seat in game.seats)])
    return Standings(tuple(standings), estimate(winner_scores), _count_beats(ordered))


def estimate(blocks: Sequence[Sequence[float]]) -> Estimate:
    """The mean of the blocks' means, and its 95 % interval. Blocks without a value don't count."""
    means = [mean(values) for values in blocks if values]
    if not means:
        return Estimate(0.0, None)
    margin = INTERVAL * stdev(means) / sqrt(len(means)) if len(means) > 1 else None
    return Estimate(mean(means), margin)


def rate_policies(results: Sequence[GameResult]) -> dict[str, tuple[float, float]]:
    """By policy the openskill rating (mu, sigma) after these games (Plackett-Luce). Several seats count by the best place."""
    model = PlackettLuce()
    ratings = {seat.policy: model.rating() for game in results for seat in game.seats}
    for game in results:
        places: dict[str, int] = {}
        for seat in game.seats:
            places[seat.policy] = min(seat.place, places.get(seat.policy, seat.place))
        if len(places) > 1:
            teams = model.rate(
                [[ratings[name]] for name in places], ranks=[float(p) for p in places.values()]
            )
            ratings.update((name, team[0]) for name, team in zip(places, teams, strict=True))
    return {name: (rating.mu, rating.sigma) for name, rating in ratings.items()}


def _standing(results: Sequence[GameResult], name: str, mu: float, sigma: float) -> PolicyStanding:
    def own(game: GameResult) -> list[int]:
        return [seat for seat, result in enumerate(game.seats) if result.policy == name]

    wins = _by_block(results, lambda game: [game.share_won(seat) for seat in own(game)])
    scores = _by_block(results, lambda game: [float(game.seats[seat].total) for seat in own(game)])
    made = _by_block(
        results,
        lambda game: [
            result.made / (result.made + result.missed)
            for result in (game.seats[seat] for seat in own(game))
            if result.made + result.missed
        ],
    )
    games = sum(len(own(game)) for game in results)
    return PolicyStanding(
        name, games, estimate(wins), estimate(scores), estimate(made), mu - 3 * sigma, mu, sigma
    )


def _by_block(
    results: Sequence[GameResult], values: Callable[[GameResult], Sequence[float]]
) -> list[list[float]]:
    blocks: dict[int, list[float]] = {}
    for game in results:
        blocks.setdefault(game.block, []).extend(values(game))
    return list(blocks.values())


def _count_beats(results: Sequence[GameResult]) -> dict[tuple[str, str], float]:
    """By pair of policies the share of their meetings in which the first ends above; a tie is half."""
    meetings: dict[tuple[str, str], list[float]] = {}
    for game in results:
        for one in game.seats:
            for other in game.seats:
                if one.policy != other.policy:
                    value = 0.5 if one.place == other.place else float(one.place < other.place)
                    meetings.setdefault((one.policy, other.policy), []).append(value)
    return {pair: mean(values) for pair, values in sorted(meetings.items())}
