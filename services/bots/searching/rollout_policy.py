"""How the seats of a rollout play: a fast form of `planner`. A seat's network is planned once, and anew only when
a route on it is taken or it gets tickets; cards and claims follow from what the network misses."""

from __future__ import annotations

from typing import Final

from services.bots.planning.board_graph import UNREACHABLE, shortest_path
from services.bots.searching.compact_game import ANY_COLOUR, FREE, NO_CARD, NOT_YET, WILD, CompactGame

CAR_PRICE: Final = 1.0  # as a share of the best that a car can bring
LEAST_COST: Final = 0.3
FILLER_PRICE: Final = 0.9  # of each car, likewise
FILLER_PACE: Final = 3.0  # cars a turn
CARS_A_TURN: Final = 2.0
WILDS_KEPT: Final = 4  # a claim takes fewer locomotives than this while the network misses more routes
FILLERS_WANTED: Final = 3  # routes outside of the network that cards are collected for
MAX_TURNS: Final = 1_000  # of a rollout; no game takes as many


class Rollout:
    """One game played to its end. `targets` is by seat: the routes that its network misses, None if not planned."""

    def __init__(self, game: CompactGame) -> None:
        self.game = game
        self.targets: list[list[int] | None] = [None] * len(game.cars)
        graph = game.rules.graph
        self.prices = [
            max(LEAST_COST, length * CAR_PRICE * graph.car_value + 1 - points)
            for length, points in zip(graph.lengths, graph.points, strict=True)
        ]

    def play(self) -> list[int]:
        """Every seat's points at the end."""
        for _ in range(MAX_TURNS):
            if self.game.is_over:
                break
            self.play_turn()
        return self.game.final_points()

    def play_turn(self) -> None:
        """The turn of the seat whose turn it is, as the policy plays it."""
        game = self.game
        targets = self.plan(game.turn)
        turns = self._turns_left(game.turn)
        claim = self._claim(targets, turns)
        if claim is not None:
            game.claim(*claim)
        elif game.has_second_card() or WILD in game.market:
            self.draw_cards(targets)
        elif (last := self._best_filler(-UNREACHABLE)) is not None:
            game.claim(*last)
        elif game.ticket_deck:
            game.keep_tickets(game.draw_tickets(), range(game.rules.least_kept))
            self.targets[game.turn] = None
        else:
            game.pass_turn()
            return
        game.end_turn()

    # -- the network ---------------------------------------------------------------------

    def plan(self, seat: int) -> list[int]:
        """The routes that the seat's network misses."""
        game, targets = self.game, self.targets[seat]
        owners = game.owners
        if targets is not None:
            left = [route for route in targets if owners[route] != seat]
            length = game.rules.graph.lengths
            if all(game.can_claim(seat, r) for r in left) and sum(length[r] for r in left) <= game.cars[seat]:
                self.targets[seat] = left
                return left
        planned = self.targets[seat] = self._plan_anew(seat)
        return planned

    def _plan_anew(self, seat: int) -> list[int]:
        """The tickets in order of their points, each on its cheapest path; those that the cars don't reach for
        are left out."""
        game, graph, costs = self.game, self.game.rules.graph, self.route_costs(seat)
        cars, targets, networks = game.cars[seat], list[int](), game.networks(seat)
        for ticket in sorted(game.tickets[seat], key=lambda ticket: -ticket.points):
            if networks[ticket.a] == networks[ticket.b]:
                continue
            cost, path = shortest_path(graph, costs, ticket.a, ticket.b)
            new = [route for route in path if costs[route]]
            needed = sum(graph.lengths[route] for route in new)
            if cost < min(UNREACHABLE, 2 * ticket.points) and needed <= cars:
                cars -= needed
                targets += new
                for route in new:
                    costs[route] = 0.0
        return targets

    def route_costs(self, seat: int) -> list[float]:
        """By route what it takes the seat to have it: nothing where it has it."""
        game = self.game
        costs = [
            0.0 if owner == seat else price if owner == FREE else UNREACHABLE
            for owner, price in zip(game.owners, self.prices, strict=True)
        ]
        for route in game.routes[seat]:
            for other in game.rules.parallels[route]:
                if costs[other]:
                    costs[other] = UNREACHABLE
        return costs

    def _turns_left(self, seat: int) -> int:
        game = self.game
        if game.last_turns != NOT_YET:
            return 1
        least = min(cars for other, cars in enumerate(game.cars) if other != seat)
        return 1 + int(max(0, least - game.rules.last_cars) / CARS_A_TURN)

    # -- claims --------------------------------------------------------------------------

    def _claim(self, targets: list[int], turns: int) -> tuple[int, int, int] | None:
        """A route with the colour and the locomotives that pay for it: of the network first, else for points."""
        if turns <= 1 and (len(targets) != 1 or self._payment(targets[0]) is None):
            return self._best_filler(-UNREACHABLE)
        best, most = None, 0.0
        spare = WILDS_KEPT if len(targets) > 1 and turns > len(targets) else len(self.game.market) + WILD
        lengths = self.game.rules.graph.lengths
        for route in targets:
            payment = self._payment(route)
            if payment is not None and payment[1] < spare:
                worth = lengths[route] - 1.5 * payment[1] + 10
                if worth > most:
                    best, most = (route, *payment), worth
        if best is None and not targets:
            share = min(1.0, turns * FILLER_PACE / max(1, self.game.cars[self.game.turn]))
            return self._best_filler(FILLER_PRICE * self.game.rules.graph.car_value * share)
        return best

    def _payment(self, route: int) -> tuple[int, int] | None:
        """The colour, and how many locomotives are needed beside it; None if the hand can't pay."""
        game = self.game
        hand, length, colour = (
            game.hands[game.turn],
            game.rules.graph.lengths[route],
            game.rules.colours[route],
        )
        if length > game.cars[game.turn]:
            return None
        if colour == ANY_COLOUR:
            colour = max(range(WILD), key=hand.__getitem__)
        wilds = max(0, length - hand[colour])
        return (colour, wilds) if wilds <= hand[WILD] else None

    def _best_filler(self, price: float) -> tuple[int, int, int] | None:
        """The route with most points beside the price of its cars; None if none brings more than that."""
        game, graph = self.game, self.game.rules.graph
        hand, seat = game.hands[game.turn], game.turn
        most_held = max(hand[:WILD]) + hand[WILD]
        best, most, cars = None, 0.0 if price >= 0 else -UNREACHABLE, game.cars[seat]
        colours, points, owners = game.rules.colours, graph.points, game.owners
        for route, length in enumerate(graph.lengths):
            if length <= cars and length <= most_held and owners[route] == FREE:
                worth = points[route] - (price * length if price >= 0 else 0.0)
                if worth > most and (
                    colours[route] == ANY_COLOUR or hand[colours[route]] + hand[WILD] >= length
                ):
                    payment = self._payment(route)
                    if payment is not None and game.can_claim(seat, route):
                        best, most = (route, *payment), worth
        return best

    # -- cards ---------------------------------------------------------------------------

    def draw_cards(self, targets: list[int]) -> None:
        """Two cards, or a locomotive that lies open."""
        values = self._card_values(targets or self._wanted_fillers())
        if self._draw_card(values, is_first=True) and self.game.has_second_card():
            self._draw_card(values, is_first=False)

    def draw_second_card(self) -> None:
        """The second card of a turn."""
        targets = self.plan(self.game.turn)
        self._draw_card(self._card_values(targets or self._wanted_fillers()), is_first=False)

    def _draw_card(self, values: list[float], *, is_first: bool) -> bool:
        """The card that is worth most; returns whether a second one may follow."""
        game = self.game
        blind = sum(values) / len(values) if game.has_cards() else -1.0
        best, most, second = -1, blind, blind
        for slot, card in enumerate(game.market):
            if card not in (NO_CARD, WILD):
                value = values[card]
                second = max(second, value)
                if value > most:
                    best, most = slot, value
        if is_first and WILD in game.market and values[WILD] - second > most:
            best = game.market.index(WILD)
        if best < 0:
            game.draw_blind()
            return True
        return game.draw_market(best) != WILD

    def _card_values(self, wanted: list[int]) -> list[float]:
        """By kind what one more card is worth: most where few are missing."""
        game = self.game
        hand, lengths, colours = game.hands[game.turn], game.rules.graph.lengths, game.rules.colours
        values = [0.15 + 0.03 * count for count in hand]
        most = 0.3
        for route in wanted:
            colour = colours[route]
            if colour == ANY_COLOUR:
                colour = max(range(WILD), key=hand.__getitem__)
            missing = lengths[route] - hand[colour]
            if missing > 0:
                value = 1 + 0.5 / missing
                values[colour] = max(values[colour], value)
                most = max(most, value)
        values[WILD] = 1.15 * most
        return values

    def _wanted_fillers(self) -> list[int]:
        """The routes outside of the network that bring most points a turn."""
        game, graph = self.game, self.game.rules.graph
        hand, cars, colours = game.hands[game.turn], game.cars[game.turn], game.rules.colours
        held = [*hand[:WILD], max(hand[:WILD])]  # by colour of a route
        rates = [
            (graph.points[route] / ((length - min(length, held[colours[route]])) / 2 + 1), route)
            for route, length in enumerate(graph.lengths)
            if length <= cars and game.owners[route] == FREE
        ]
        return [route for _, route in sorted(rates, reverse=True)[:FILLERS_WANTED]]
