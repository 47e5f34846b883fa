"""What a route is worth to a seat of a rollout that lengthens its longest path, as `planner` counts it at tables of
two (trail_bonus). That measures; this adds the route to the longest paths that end where it begins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from services.bots.planning.plan_weights import WEIGHTS
from services.bots.planning.trail_bonus import chance_of_longest
from services.bots.searching.compact_game import FREE, NOT_YET, CompactGame
from services.bots.searching.compact_rules import CompactRules
from services.referee.rules.search.longest_path import longest_path

RIVALS: Final = 2  # seats: at larger tables such routes cost more than they bring
STEPS: Final = 600  # that are looked at of one network, which is a tree or nearly so


class Span(NamedTuple):
    """Of a city in a network: the spaces of the longest path that begins there, and its part of the network."""

    spaces: int
    part: int


NO_SPAN: Final = Span(0, -1)  # of any other city


def counts_paths(rules: CompactRules) -> bool:
    """Whether such a route is worth a thought: a trail may turn back where it ends, a path may not."""
    return rules.measure_longest is longest_path and rules.longest_bonus > 0 and len(rules.order) == RIVALS


def path_bonuses(
    game: CompactGame, seat: int, spans: Mapping[int, Span], rival_spans: Mapping[int, Span]
) -> dict[int, float]:
    """By free route what it adds to the chance of the bonus, in points. `spans` are those of the seat's own and
    planned routes, and of the other seat's own."""
    rival = game.rules.order[game.rules.order[0] == seat]
    growth = 0.0 if game.last_turns != NOT_YET else WEIGHTS.trail_growth * game.cars[rival]
    longest, behind = _longest(spans), _longest(rival_spans) + growth
    before = chance_of_longest(longest - behind, WEIGHTS)
    swing = WEIGHTS.trail_share * 2 * game.rules.longest_bonus
    graph, found = game.rules.graph, dict[int, float]()
    for city, (spaces, part) in spans.items():
        for route, other in graph.exits[city]:
            if game.owners[route] == FREE and (beyond := spans.get(other, NO_SPAN)).part != part:
                length = spaces + graph.lengths[route] + beyond.spaces
                if length > longest:
                    found[route] = swing * (chance_of_longest(length - behind, WEIGHTS) - before)
    return found


def _longest(spans: Mapping[int, Span]) -> int:
    return max([span.spaces for span in spans.values()], default=0)


def find_spans(game: CompactGame, routes: Sequence[int]) -> dict[int, Span]:
    """The cities of a network of these routes; where it has many cycles, its paths are nearly the longest."""
    graph, ways = game.rules.graph, dict[int, list[tuple[int, int]]]()
    for route in routes:
        a, b = graph.ends[route]
        ways.setdefault(a, []).append((b, graph.lengths[route]))
        ways.setdefault(b, []).append((a, graph.lengths[route]))
    most_steps, spans = STEPS // max(1, len(ways)), dict[int, Span]()
    for city in ways:
        spaces, reached = _longest_from(city, ways, most_steps)
        spans[city] = Span(spaces, min(reached))
    return spans


def _longest_from(
    start: int, ways: Mapping[int, Sequence[tuple[int, int]]], most_steps: int
) -> tuple[int, set[int]]:
    """The spaces of the longest path from this city, and the cities that paths reach."""
    longest, reached, paths = 0, {start}, [(start, 0, frozenset((start,)))]
    while paths and most_steps:
        most_steps -= 1
        city, spaces, seen = paths.pop()
        longest = max(longest, spaces)
        for other, length in ways[city]:
            if other not in seen:
                reached.add(other)
                paths.append((other, spaces + length, seen | {other}))
    return longest, reached
