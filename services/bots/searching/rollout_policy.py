"""How the seats of a rollout play: as `planner` does, on a compact game. A seat's network is planned once, and anew
only when a route on it is taken, its turns grow short or it gets tickets; cards and claims follow from what it misses.
It draws no more tickets unless it can do nothing else: chosen without looking ahead, they cost more than they bring."""

from __future__ import annotations

from typing import Final

from services.bots.planning.board_graph import UNREACHABLE, shortest_path
from services.bots.planning.plan_weights import WEIGHTS
from services.bots.searching.compact_game import FREE, NO_CARD, CompactGame
from services.bots.searching.compact_rules import ANY_COLOUR, WILD, TicketEnds
from services.bots.searching.rollout_needs import RolloutNeeds
from services.bots.searching.rollout_plan import RolloutPlan, make_plan, route_costs, turns_for, turns_left

MAX_TURNS: Final = 1_000  # of a rollout; no game takes as many


class Rollout:
    """One game played to its end. `plans` is by seat, None if not planned."""

    def __init__(self, game: CompactGame) -> None:
        self.game = game
        self.plans: list[RolloutPlan | None] = [None] * len(game.cars)
        self.claimed = -1  # routes, when `by_points` was made
        self.by_points: list[int] = []  # the free routes

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
        needs, turns = self.find_needs(), turns_left(game, game.turn)
        claim = self._last_claim() if turns <= 1 else self._best_claim(needs, turns)
        if claim is not None:
            game.claim(*claim)
        elif game.has_second_card() or WILD in game.market:
            self.draw_cards(needs)
        elif (last := self._last_claim()) is not None:
            game.claim(*last)
        elif game.ticket_deck:
            game.keep_tickets(game.draw_tickets(), range(game.rules.least_kept))
            self.plans[game.turn] = None
        else:
            game.pass_turn()
            return
        game.end_turn()

    def plan(self, seat: int) -> RolloutPlan:
        """The seat's plan; anew where it can't be carried out any more."""
        game, plan = self.game, self.plans[seat]
        if plan is not None:
            owners, lengths = game.owners, game.rules.graph.lengths
            if any(owners[route] == seat for route in plan.routes):
                left = [i for i, route in enumerate(plan.routes) if owners[route] != seat]
                plan = RolloutPlan([plan.routes[i] for i in left], [plan.weights[i] for i in left])
                self.plans[seat] = plan
            turns = turns_left(game, seat)
            if (
                all(game.can_claim(seat, route) for route in plan.routes)
                and sum([lengths[route] for route in plan.routes]) <= game.cars[seat]
                and (turns >= WEIGHTS.turns_counted or turns_for(game, seat, plan.routes) <= turns)
            ):
                return plan
        made = self.plans[seat] = make_plan(game, seat)
        return made

    def find_needs(self) -> RolloutNeeds:
        """What the seat whose turn it is wants, and misses."""
        game = self.game
        needs = RolloutNeeds(game, self.plan(game.turn))
        lengths = game.rules.graph.lengths
        cars = game.cars[game.turn] - sum([lengths[route] for route in needs.routes])
        needs.add_fillers(game, cars, self._free_routes())
        return needs

    def _free_routes(self) -> list[int]:
        """The free routes, those with most points first."""
        game, claimed = self.game, sum([len(routes) for routes in self.game.routes])
        if self.claimed != claimed:
            routes = self.by_points if self.claimed >= 0 else game.rules.by_points
            self.by_points = [route for route in routes if game.owners[route] == FREE]
            self.claimed = claimed
        return self.by_points

    # -- tickets -------------------------------------------------------------------------

    def draw_tickets(self) -> None:
        """Draw tickets, and keep those that bring more than they cost, and at least as many as it must."""
        game, seat = self.game, self.game.turn
        offer = game.draw_tickets()
        game.keep_tickets(offer, self._worth_keeping(offer))
        self.plans[seat] = None

    def _worth_keeping(self, offer: list[TicketEnds]) -> list[int]:
        """The places in the offer of the tickets to keep."""
        game, seat = self.game, self.game.turn
        costs = route_costs(game, seat, turns_left(game, seat))
        for route in self.plan(seat).routes:
            costs[route] = 0.0
        gains = [0.9 * t.points - shortest_path(game.rules.graph, costs, t.a, t.b)[0] for t in offer]
        ranked = sorted(range(len(offer)), key=lambda index: -gains[index])
        least = game.rules.least_kept
        return [index for rank, index in enumerate(ranked) if rank < least or gains[index] > 0]

    # -- claims --------------------------------------------------------------------------

    def _best_claim(self, needs: RolloutNeeds, turns: int) -> tuple[int, int, int] | None:
        """The claim that is worth most, as route, colour and locomotives; None if none is worth it now."""
        game, seat = self.game, self.game.turn
        graph, plan, hand = game.rules.graph, self.plans[seat], game.hands[seat]
        planned = len(plan.routes) if plan is not None else 0
        cars = game.cars[seat] - sum([graph.lengths[route] for route in needs.routes[:planned]])
        share = min(1.0, turns * WEIGHTS.filler_pace / max(1, cars))
        filler_price = WEIGHTS.filler_price * graph.car_value * share
        wild_price = WEIGHTS.wild_price * min(1.0, max(0.0, needs.wilds_short / WEIGHTS.cards_short))
        most_held, best, most = max(hand[:WILD]) + hand[WILD], None, 0.0
        for index, route in enumerate(needs.routes):
            length = graph.lengths[route]
            if length > most_held:
                continue
            payment = self._payment(needs, index, wild_price)
            if payment is None:
                continue
            price, colour, wilds = payment
            if index < planned:
                worth = 2 * needs.weights[index] + graph.points[route] / 10 - WEIGHTS.claim_threshold
            else:
                worth = graph.points[route] - length * filler_price - WEIGHTS.filler_margin
                worth -= WEIGHTS.filler_wild * max(0.0, wilds + min(0, needs.wilds_short))
            if worth - price > most:
                best, most = (route, colour, wilds), worth - price
        return best

    def _payment(self, needs: RolloutNeeds, index: int, wild_price: float) -> tuple[float, int, int] | None:
        """The cheapest payment: what its cards are worth for other routes, its colour, its locomotives."""
        game, route = self.game, needs.routes[index]
        hand, length, colour = (
            game.hands[game.turn],
            game.rules.graph.lengths[route],
            game.rules.colours[route],
        )
        own, best, least = length - needs.missing[index], None, UNREACHABLE
        for paid in range(WILD) if colour == ANY_COLOUR else (colour,):
            wilds = max(0, length - hand[paid])
            if wilds <= hand[WILD]:
                kept = needs.reserved[paid] - (own if needs.colours[index] == paid else 0)
                price = wild_price * wilds
                price += WEIGHTS.reserved_price * max(0, length - wilds - hand[paid] + kept)
                if price < least:
                    best, least = (price, paid, wilds), price
        return best

    def _last_claim(self) -> tuple[int, int, int] | None:
        """The claim with most points at once, with the tickets that it makes; None if none can be paid for."""
        game, graph, seat = self.game, self.game.rules.graph, self.game.turn
        hand, cars, owners, colours = game.hands[seat], game.cars[seat], game.owners, game.rules.colours
        missing, points = self.plan(seat).routes, graph.points
        ticket_points = 2 * sum([ticket.points for ticket in game.tickets[seat]]) if len(missing) == 1 else 0
        held = [*hand[:WILD], max(hand[:WILD])]
        best, most = None, -1
        for route, length in enumerate(graph.lengths):
            if length <= cars and owners[route] == FREE and held[colours[route]] + hand[WILD] >= length:
                worth = points[route] + (ticket_points if ticket_points and route == missing[0] else 0)
                if worth > most and game.can_claim(seat, route):
                    colour = colours[route] if colours[route] != ANY_COLOUR else hand.index(held[-1])
                    best, most = (route, colour, max(0, length - hand[colour])), worth
        return best

    # -- cards ---------------------------------------------------------------------------

    def draw_cards(self, needs: RolloutNeeds) -> None:
        """Two cards, or a locomotive that lies open."""
        values = needs.card_values(self.game)
        if self._draw_card(values, is_first=True) and self.game.has_second_card():
            needs.assign(self.game)
            self._draw_card(needs.card_values(self.game), is_first=False)

    def draw_second_card(self) -> None:
        """The second card of a turn."""
        self._draw_card(self.find_needs().card_values(self.game), is_first=False)

    def _draw_card(self, values: list[float], *, is_first: bool) -> bool:
        """The card that is worth most; returns whether a second one may follow."""
        game = self.game
        blind = (12 * sum(values, 0.0) + 2 * values[WILD]) / 110 if game.has_cards() else -1.0
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
