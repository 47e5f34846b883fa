"""Which routes outside of its network a seat of a rollout may claim, by what they bring, as `planner` counts it
(move_plan, trail_bonus): their points, and where the longest route has a bonus what brings the seat nearer to it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from services.bots.planning.plan_weights import WEIGHTS
from services.bots.searching.compact_game import CompactGame
from services.bots.searching.rollout_paths import path_bonuses
from services.bots.searching.rollout_plan import RolloutPlan


class Fillers(NamedTuple):
    """The free routes outside of a plan, while nothing is claimed."""

    ranked: list[tuple[float, int]]  # what each brings and its number, negated: what brings most first
    bonuses: Mapping[int, float]  # by route: what it adds to the chance of the longest, in points


def find_fillers(game: CompactGame, plan: RolloutPlan, free_routes: Iterable[int]) -> Fillers:
    """The fillers of the seat whose turn it is."""
    rules, graph, planned = game.rules, game.rules.graph, set(plan.routes)
    bonuses, touched = dict[int, float](), [False] * len(rules.cities)
    touch_points = WEIGHTS.touch_bonus / 4  # a car
    if rules.longest_bonus:
        bonuses = path_bonuses(game, plan.routes)
        for route in (*game.routes[game.turn], *plan.routes):
            a, b = graph.ends[route]
            touched[a] = touched[b] = True
    ranked = list[tuple[float, int]]()
    for route in free_routes:
        if route not in planned:
            a, b = graph.ends[route]
            value = graph.points[route] + bonuses.get(route, 0.0)
            if touched[a] != touched[b]:  # cards for it are worth more
                value += touch_points * graph.lengths[route]
            ranked.append((value, -route))
    ranked.sort(reverse=True)
    return Fillers(ranked, bonuses)
