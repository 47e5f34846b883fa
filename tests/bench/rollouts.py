"""Rollouts of the two-seat USA game from its opening, and a decision of `searcher` with 1,024 of them; CPU of one core."""

from __future__ import annotations

from random import Random
from statistics import median
from time import process_time

from services.bots.seat_random import SeatRandom
from services.bots.trains.searching.candidates import evaluate_candidates
from services.bots.trains.searching.compact_rules import compact_rules
from services.bots.trains.searching.rollout_forms import IS_COMPILED, Rollouts
from services.bots.trains.searching.world_sampler import WorldSampler
from services.referee.games import legal
from services.referee.games.state import ACTION
from services.tournament.viewed_game import CoreGame, GameSetting
from tests.bench.figure import Figure, Report, Size

GOAL = 20_000
DECISION_ROLLOUTS, DECISION_GOAL_S = 1_024, 0.5


def measure(size: Size, report: Report) -> Figure:
    worlds = size.of(1_000, 20) if IS_COMPILED else size.of(100, 2)
    rates = [rollout_rate(worlds) for _ in range(size.of(7, 2))]
    report("decisions")
    decisions = [decision_s(f"decision {number}") for number in range(size.of(5, 1))]
    rate, slowest = max(rates), max(decisions)
    return Figure(
        "rollouts of the USA game from its opening, two seats, a second of CPU; a decision of 1,024",
        f"{'compiled' if IS_COMPILED else 'pure'} {rate:,.0f} (median {median(rates):,.0f}); at most {slowest:.2f} s",
        f"at least {GOAL:,}; under {DECISION_GOAL_S} s",
        rate >= GOAL and slowest < DECISION_GOAL_S,
        {"rollouts_per_s": rates, "decision_s": decisions},
    )


def opened(seed: str) -> CoreGame:
    """A game of planners whose first turn begins."""
    game = CoreGame(GameSetting("usa"), ("planner",) * 2, seed)
    while ACTION not in game.state.pending_choices.values():
        game.play_move(min(game.state.pending_choices))
    return game


def rollout_rate(count: int) -> float:
    """Rollouts a second of CPU, each in a world of its own."""
    game = opened("rollouts")
    view = game.view(seat := min(game.state.pending_choices))
    rules = compact_rules(view)
    sampler, rollouts = WorldSampler(view, seat, rules), Rollouts(rules, 2)
    worlds = [rollouts.world(sampler.sample(Random(number))) for number in range(count)]
    opening, start = rollouts.opening(None), process_time()
    for world in worlds:
        rollouts.play(world, opening)
    return count / (process_time() - start)


def decision_s(seed: str) -> float:
    """CPU seconds of the first decision of a turn, sampling and all."""
    game = opened(seed)
    view = game.view(seat := min(game.state.pending_choices))
    commands, start = legal(view, seat), process_time()
    evaluate_candidates(view, seat, commands, SeatRandom("0f" * 32, 1), DECISION_ROLLOUTS)
    return process_time() - start
