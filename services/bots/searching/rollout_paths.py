"""What a route is worth to a seat of a rollout that lengthens its longest route, as `planner` counts it at tables of
two (trail_bonus). That measures; this adds the route to the longest paths that end where it begins."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from services.bots.planning.plan_weights import WEIGHTS
from services.bots.planning.trail_bonus import chance_of_longest
from services.bots.searching.compact_game import FREE, NOT_YET, CompactGame

RIVALS: Final = 2  # seats


class Span(NamedTuple):
    """Of a city in a network: the spaces of the longest path that begins there, and its part of the network."""

    spaces: int
    part: int


NO_SPAN: Final = Span(0, -1)  # of any other city


def path_bonuses(game: CompactGame, planned: Iterable[int]) -> dict[int, float]:
    """By free route what it adds to the chance of the bonus of the seat whose turn it is and which plans these routes,
    in points. None at tables of more seats: such routes cost more there than they bring."""
    order, seat = game.rules.order, game.turn
    if len(order) != RIVALS:
        return {}
    rival = order[order[0] == seat]
    spans = find_spans(game, (*game.routes[seat], *sorted(planned)))
    growth = 0.0 if game.last_turns != NOT_YET else WEIGHTS.trail_growth * game.cars[rival]
    longest, behind = _longest(spans), _longest(find_spans(game, game.routes[rival])) + growth
    before = chance_of_longest(longest - behind, WEIGHTS)
    swing = WEIGHTS.trail_share * 2 * game.rules.longest_bonus
    exits, owners, lengths = game.rules.graph.exits, game.owners, game.rules.graph.lengths
    found, gains = dict[int, float](), dict[int, float]()  # gains by spaces
    for city, (spaces, part) in spans.items():
        for route, other in exits[city]:
            if owners[route] == FREE and (beyond := spans.get(other, NO_SPAN)).part != part:
                length = spaces + lengths[route] + beyond.spaces
                if length > longest:
                    if length not in gains:
                        gains[length] = swing * (chance_of_longest(length - behind, WEIGHTS) - before)
                    found[route] = gains[length]
    return found


def _longest(spans: Mapping[int, Span]) -> int:
    return max([span.spaces for span in spans.values()], default=0)


def find_spans(game: CompactGame, routes: Sequence[int]) -> dict[int, Span]:
    """The cities of a network of these routes. Most are trees: a longest path from a city ends at one end of the longest
    of all. Where one has cycles, its paths may be longer, and a trail may pass a city twice."""
    graph, ways = game.rules.graph, dict[int, list[tuple[int, int]]]()
    for route in routes:
        a, b = graph.ends[route]
        ways.setdefault(a, []).append((b, graph.lengths[route]))
        ways.setdefault(b, []).append((a, graph.lengths[route]))
    spans = dict[int, Span]()
    for city in ways:
        if city not in spans:
            spaces_from = _spaces_from(city, ways)
            one = _spaces_from(max(spaces_from, key=spaces_from.__getitem__), ways)
            other = _spaces_from(max(one, key=one.__getitem__), ways)
            for each in spaces_from:
                spans[each] = Span(max(one[each], other[each]), city)
    return spans


def _spaces_from(start: int, ways: Mapping[int, Sequence[tuple[int, int]]]) -> dict[int, int]:
    """By city of the same part the spaces of a path to it."""
    spaces, cities = {start: 0}, [start]
    while cities:
        city = cities.pop()
        for other, length in ways[city]:
            if other not in spaces:
                spaces[other] = spaces[city] + length
                cities.append(other)
    return spaces
