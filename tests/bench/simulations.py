"""Whole games of usa on the rules alone, four seats, as `ledgerline simulate` plays them: by the CPU of a game, writing left out."""

from __future__ import annotations

from statistics import median
from time import process_time

from services.compiled_rules import rules_form
from services.tournament.simulated_games import plan_simulation
from services.tournament.viewed_game import GameSetting, play_fast
from tests.bench.figure import Figure, Part, Report, Size

CORES = 2
GOAL_COMPILED, GOAL_PURE = 300, 150  # greedy games a second on so many cores
HOURS_GOAL = 3.0  # of a million random games


def measure(size: Size, report: Report) -> Figure:
    parts: dict[str, Part] = {}
    rates = dict[str, float]()
    for policy in ("greedy", "random"):
        report(policy)
        found = [games_per_s(policy, size.of(60, 2), f"bench {number}") for number in range(size.of(5, 1))]
        rates[policy], parts[f"{policy}_games_per_cpu_s"] = CORES * median(found), found
    hours = 1e6 / rates["random"] / 3_600
    goal = GOAL_COMPILED if rules_form().compiled else GOAL_PURE
    return Figure(
        f"`simulate`, usa, four seats, by CPU on {CORES} cores: greedy games a second; a million random games",
        f"{'compiled' if rules_form().compiled else 'pure'} {rates['greedy']:.0f}; {hours:.1f} h",
        f"at least {goal}; under {HOURS_GOAL:g} h",
        rates["greedy"] >= goal and hours < HOURS_GOAL,
        parts,
    )


def games_per_s(policy: str, games: int, seed: str) -> float:
    """Games a second of CPU, of one process."""
    start = process_time()
    played = sum(1 for _ in play_fast(GameSetting("usa"), plan_simulation((policy,) * 4, games, seed), 1))
    return played / (process_time() - start)
