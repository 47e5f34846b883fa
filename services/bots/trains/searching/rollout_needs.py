"""The needs of a seat in a rollout: the routes that it wants beside its plan, and its hand assigned to all of them.

`planner` does the like in `move_plan`. It measures the longest route with each route added; here the route is added to the
longest paths that end where it begins."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from services.bots.trains.planning.move_plan import (
    FERRY_VALUE,
    GRAY_VALUE,
    IDLE_GROWTH,
    IDLE_VALUE,
    MOST_FILLERS,
    PASSENGER_VALUE,
    PLUS_FOUR_VALUE,
    chance_of_longest,
)
from services.bots.trains.planning.plan_weights import WEIGHTS
from services.bots.trains.searching.compact_game import FREE, NOT_YET, CompactGame
from services.bots.trains.searching.compact_rules import ANY_COLOUR, TOLL, WILD, WILD_IF_LONG
from services.bots.trains.searching.rollout_plan import RolloutPlan

NO_BONUSES: Final[Mapping[int, int]] = {}
ENOUGH_FILLERS: Final = 12  # that are looked at, to see what another one must bring
# Fillers are compared by whole numbers, of which rollout_engine.c compares many at once.
FILLER_UNITS: Final = 256  # of a point
FULL_SHARE: Final = 256  # of a filler's value, if no card is missing


class RolloutNeeds:
    """The hand, assigned to the wanted routes: the colour of each, and how many cards it misses."""

    __slots__ = ("bonuses", "colours", "missing", "reserved", "routes", "spare", "weights", "wilds_short")

    def __init__(self, game: CompactGame, plan: RolloutPlan) -> None:
        self.routes, self.weights = list(plan.routes), list(plan.weights)
        self.colours, self.missing = list[int](), list[int]()
        self.spare, self.reserved = list[int](), list[int]()
        self.bonuses = NO_BONUSES  # by route outside of the network, beside its points, in units
        self.assign(game)
        hand = game.hands[game.turn]
        # wild cards that the network misses, less those in hand
        self.wilds_short = sum(self.missing) - hand[WILD] - sum(hand[WILD_IF_LONG:TOLL]) / 2

    def assign(self, game: CompactGame) -> None:
        """Assign the hand: to the most important routes first, to those of a colour before the gray ones."""
        count = len(self.routes)
        self.spare, self.reserved = game.hands[game.turn][:WILD], [0] * WILD
        spare, reserved = self.spare, self.reserved
        self.colours, self.missing = [0] * count, [0] * count
        lengths, colours = game.rules.spaces, game.rules.colours  # a ferry's locomotives aside
        grays = list[int]()
        for index, route in enumerate(self.routes):
            colour = colours[route]
            if colour == ANY_COLOUR:
                grays.append(index)
                continue
            used = min(lengths[route], spare[colour])
            spare[colour] -= used
            reserved[colour] += used
            self.colours[index], self.missing[index] = colour, lengths[route] - used
        for index in grays:
            most = max(spare)
            colour, length = spare.index(most), lengths[self.routes[index]]
            used = length if length < most else most
            spare[colour] -= used
            reserved[colour] += used
            self.colours[index], self.missing[index] = colour, length - used

    def add_fillers(self, game: CompactGame, cars: int, fillers: Fillers) -> None:
        """Add the fillers that bring most points a turn with so many cars."""
        lengths, found = game.rules.graph.lengths, 0
        self.bonuses = fillers.bonuses
        for rate, negated in sorted(self._filler_rates(game, cars, fillers), reverse=True):
            route = -negated
            if lengths[route] <= cars:
                cars -= lengths[route]
                self.routes.append(route)
                self.weights.append(WEIGHTS.filler_weight * rate / (4 * FILLER_UNITS * FULL_SHARE))
                found += 1
                if found == MOST_FILLERS:
                    break
        self.assign(game)

    def _filler_rates(self, game: CompactGame, cars: int, fillers: Fillers) -> list[tuple[int, int]]:
        """The points a turn of the fillers within so many cars, each with the route's number, negated; the best are among them."""
        lengths, colours, held = game.rules.graph.lengths, game.rules.colours, [*self.spare, max(self.spare)]
        rates, least = list[tuple[int, int]](), -1
        all_fit = cars >= MOST_FILLERS * max(lengths)  # so that none of the best is left out
        for value, negated in fillers.ranked:
            if value * FULL_SHARE < least:
                break
            length = lengths[-negated]
            if length <= cars:
                missing = max(0, length - held[colours[-negated]])
                rates.append((value * (2 * FULL_SHARE // (missing + 2)), negated))
                if len(rates) == ENOUGH_FILLERS and all_fit:
                    least = sorted(rates)[-MOST_FILLERS][0]  # a rate is never above its value
        return rates

    def card_values(self, game: CompactGame) -> list[float]:
        """The worth of one more card, by kind: about 1 if a route of the network misses it."""
        hand, rules = game.hands[game.turn], game.rules
        values = [IDLE_VALUE + IDLE_GROWTH * count for count in hand]
        most, grays, colours = 0.3, 0.0, rules.colours
        for index, missing in enumerate(self.missing):
            if missing:
                value, colour = self.weights[index] * (1 + 0.5 / missing), self.colours[index]
                values[colour] = max(values[colour], value)
                most = max(most, value)
                if colours[self.routes[index]] == ANY_COLOUR:
                    grays += self.weights[index]
        for colour in range(WILD):
            values[colour] += GRAY_VALUE * grays
        values[WILD] = 1.15 * most
        if rules.has_ferries and sum([rules.ferries[route] for route in self.routes]) > hand[WILD]:
            values[WILD] += FERRY_VALUE
        if rules.kind_count > WILD_IF_LONG:
            values[WILD_IF_LONG], values[TOLL] = PLUS_FOUR_VALUE * most, PASSENGER_VALUE
        return values


# -- routes outside of the plan --------------------------------------------------------------


class Fillers(NamedTuple):
    """The routes outside of a plan that the seat can claim, while nothing is claimed."""

    ranked: list[tuple[int, int]]  # what each brings and its number, negated: what brings most first
    bonuses: Mapping[int, int]  # by route: what it adds to the chance of the longest, in units


def find_fillers(
    game: CompactGame, plan: RolloutPlan, free_routes: Iterable[int], bonuses: Mapping[int, int]
) -> Fillers:
    """The fillers of the seat whose turn it is, with these bonuses by route."""
    rules, graph, left_out = game.rules, game.rules.graph, set(plan.routes)
    for route in game.routes[game.turn]:
        left_out.update(rules.parallels[route])
    touched = [False] * len(rules.cities)
    touch_points = WEIGHTS.touch_bonus / 4  # a car
    if rules.longest_bonus:
        for route in (*game.routes[game.turn], *plan.routes):
            a, b = graph.ends[route]
            touched[a] = touched[b] = True
    ranked = list[tuple[int, int]]()
    for route in free_routes:
        if route not in left_out:
            a, b = graph.ends[route]
            value = float(graph.points[route])
            if touched[a] != touched[b]:  # cards for it are worth more
                value += touch_points * graph.lengths[route]
            ranked.append((int(value * FILLER_UNITS) + bonuses.get(route, 0), -route))
    ranked.sort(reverse=True)
    return Fillers(ranked, bonuses)


RIVALS: Final = 2  # seats


class Span(NamedTuple):
    """The spaces of the longest path from a city of a network, and the city's part of that network."""

    spaces: int
    part: int


NO_SPAN: Final = Span(0, -1)  # of any other city


def path_bonuses(game: CompactGame, planned: Iterable[int]) -> dict[int, int]:
    """By free route its worth for the longest route's bonus, in units, beside the planned routes of the seat to act. Empty with
    more than two seats: such routes cost more there than they bring."""
    seat, rival = game.turn, rival_of(game)
    if rival is None:
        return {}
    spans = find_spans(game, (*game.routes[seat], *sorted(planned)))
    growth = 0 if game.last_turns != NOT_YET else int(WEIGHTS.trail_growth * game.cars[rival])
    longest, behind = longest_span(spans), longest_span(find_spans(game, game.routes[rival])) + growth
    before = chance_of_longest(longest - behind)
    swing = WEIGHTS.trail_share * 2 * game.rules.longest_bonus * FILLER_UNITS
    exits, owners, lengths = game.rules.graph.exits, game.owners, game.rules.graph.lengths
    found, gains = dict[int, int](), dict[int, int]()  # gains by spaces
    for city, (spaces, part) in spans.items():
        for route, other in exits[city]:
            if owners[route] == FREE and (beyond := spans.get(other, NO_SPAN)).part != part:
                length = spaces + lengths[route] + beyond.spaces
                if length > longest:
                    if length not in gains:
                        gains[length] = int(swing * (chance_of_longest(length - behind) - before))
                    found[route] = gains[length]
    return found


def rival_of(game: CompactGame) -> int | None:
    """The only other seat that plays for the longest route; None with more."""
    order = game.rules.order
    return order[order[0] == game.turn] if game.rules.longest_bonus and len(order) == RIVALS else None


def longest_span(spans: Mapping[int, Span]) -> int:
    """The spaces of the longest path."""
    return max([span.spaces for span in spans.values()], default=0)


def find_spans(game: CompactGame, routes: Sequence[int]) -> dict[int, Span]:
    """The cities of a network of these routes, each with its span.

    Exact for trees, which most are: a longest path from a city ends at one end of the longest of all. With cycles paths
    may be longer, and a trail may pass a city twice."""
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
