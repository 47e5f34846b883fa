"""What a seat of a rollout needs: its hand, assigned to the routes that it wants, as `planner` does (card_needs)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from services.bots.planning.card_needs import GRAY_VALUE, IDLE_GROWTH, IDLE_VALUE
from services.bots.planning.move_plan import MOST_FILLERS
from services.bots.planning.plan_weights import WEIGHTS
from services.bots.searching.compact_game import CompactGame
from services.bots.searching.compact_rules import ANY_COLOUR, WILD
from services.bots.searching.rollout_plan import RolloutPlan

ENOUGH_FILLERS: Final = 12  # routes looked at at least, as some can't be claimed together


class RolloutNeeds:
    """The hand as it is assigned to the wanted routes: by route its colour and what it misses."""

    __slots__ = ("colours", "missing", "reserved", "routes", "spare", "weights", "wilds_short")

    def __init__(self, game: CompactGame, plan: RolloutPlan) -> None:
        hand = game.hands[game.turn]
        self.routes, self.weights = list(plan.routes), list(plan.weights)
        self.colours, self.missing = list[int](), list[int]()
        self.spare, self.reserved = list[int](), list[int]()
        self.assign(game)
        self.wilds_short = sum(self.missing) - hand[WILD]

    def assign(self, game: CompactGame) -> None:
        """The hand to the routes, the most important first, those of a colour before the gray ones."""
        count = len(self.routes)
        self.spare, self.reserved = game.hands[game.turn][:WILD], [0] * WILD
        spare, reserved = self.spare, self.reserved
        self.colours, self.missing = [0] * count, [0] * count
        lengths, colours = game.rules.graph.lengths, game.rules.colours
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

    def add_fillers(self, game: CompactGame, cars: int, by_points: Sequence[int]) -> None:
        """Routes outside of the network as well: those that bring most points a turn, for so many cars.
        `by_points` are the free routes, those with most points first."""
        lengths, points, colours = game.rules.graph.lengths, game.rules.graph.points, game.rules.colours
        held, planned = [*self.spare, max(self.spare)], set(self.routes)
        rates, least = list[tuple[float, int]](), 0.0
        for route in by_points:
            length, value = lengths[route], points[route]
            if len(rates) >= ENOUGH_FILLERS and value <= least:
                break
            if length <= cars and route not in planned:
                missing = length - held[colours[route]]
                rate = value / (missing / 2 + 1) if missing > 0 else float(value)
                rates.append((rate, -route))
                if len(rates) == ENOUGH_FILLERS:
                    least = min(rates)[0]
        rates.sort(reverse=True)
        found = 0
        for rate, negated in rates:
            route = -negated
            if lengths[route] <= cars and game.can_claim(game.turn, route):
                cars -= lengths[route]
                self.routes.append(route)
                self.weights.append(WEIGHTS.filler_weight * rate / 4)
                found += 1
                if found == MOST_FILLERS:
                    break
        self.assign(game)

    def card_values(self, game: CompactGame) -> list[float]:
        """By kind what one more card is worth: about 1 where a route of the network misses it."""
        values = [IDLE_VALUE + IDLE_GROWTH * count for count in game.hands[game.turn]]
        most, grays, colours = 0.3, 0.0, game.rules.colours
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
        return values
