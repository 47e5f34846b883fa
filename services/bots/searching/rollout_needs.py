"""What a seat of a rollout needs: its hand, assigned to the routes that it wants, as `planner` does (card_needs)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from services.bots.planning.card_needs import (
    FERRY_VALUE,
    GRAY_VALUE,
    IDLE_GROWTH,
    IDLE_VALUE,
    PASSENGER_VALUE,
    PLUS_FOUR_VALUE,
)
from services.bots.planning.move_plan import MOST_FILLERS
from services.bots.planning.plan_weights import WEIGHTS
from services.bots.searching.compact_game import CompactGame
from services.bots.searching.compact_rules import ANY_COLOUR, TOLL, WILD, WILD_IF_LONG
from services.bots.searching.rollout_fillers import Fillers
from services.bots.searching.rollout_plan import RolloutPlan

NO_BONUSES: Final[Mapping[int, float]] = {}
ENOUGH_FILLERS: Final = 12  # routes looked at at least, as some can't be claimed together


class RolloutNeeds:
    """The hand as it is assigned to the wanted routes: by route its colour and what it misses."""

    __slots__ = ("bonuses", "colours", "missing", "reserved", "routes", "spare", "weights", "wilds_short")

    def __init__(self, game: CompactGame, plan: RolloutPlan) -> None:
        self.routes, self.weights = list(plan.routes), list(plan.weights)
        self.colours, self.missing = list[int](), list[int]()
        self.spare, self.reserved = list[int](), list[int]()
        self.bonuses: Mapping[int, float] = NO_BONUSES  # by route outside of the network, beside its points
        self.wilds_short = 0.0  # wild cards that the network misses, less those in hand
        self.assign(game)

    def assign(self, game: CompactGame) -> None:
        """The hand to the routes, the most important first, those of a colour before the gray ones."""
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
        """Routes outside of the network as well: those that bring most points a turn, for so many cars."""
        lengths, count, found = game.rules.graph.lengths, len(self.routes), 0
        self.bonuses = fillers.bonuses
        for rate, negated in sorted(self._filler_rates(game, cars, fillers), reverse=True):
            route = -negated
            if lengths[route] <= cars and game.can_claim(game.turn, route):
                cars -= lengths[route]
                self.routes.append(route)
                self.weights.append(WEIGHTS.filler_weight * rate / 4)
                found += 1
                if found == MOST_FILLERS:
                    break
        self.assign(game)
        hand = game.hands[game.turn]
        self.wilds_short = sum(self.missing[:count]) - hand[WILD] - sum(hand[WILD_IF_LONG:TOLL]) / 2

    def _filler_rates(self, game: CompactGame, cars: int, fillers: Fillers) -> list[tuple[float, int]]:
        """What routes bring a turn that so many cars reach for, each with the route's number, negated."""
        lengths, colours, held = game.rules.graph.lengths, game.rules.colours, [*self.spare, max(self.spare)]
        rates, least = list[tuple[float, int]](), 0.0
        for value, negated in fillers.ranked:
            if len(rates) >= ENOUGH_FILLERS and value <= least:
                break
            length = lengths[-negated]
            if length <= cars:
                missing = length - held[colours[-negated]]
                rates.append((value / (missing / 2 + 1) if missing > 0 else value, negated))
                if len(rates) == ENOUGH_FILLERS:
                    least = min(rates)[0]
        return rates

    def card_values(self, game: CompactGame) -> list[float]:
        """By kind what one more card is worth: about 1 where a route of the network misses it."""
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
