"""The policy of all seats of a rollout: `planner` on a compact game.

A seat's network is planned once, and anew only when a route on it is taken, its turns grow short or it gets tickets. A seat
draws no tickets unless it can do nothing else: chosen without looking ahead, they cost more than they bring."""

from __future__ import annotations

from operator import mul
from typing import Final

from services.bots.trains.planning.board_graph import TicketEnds, shortest_path
from services.bots.trains.planning.plan_weights import WEIGHTS
from services.bots.trains.searching.compact_game import FREE, NO_CARD, NOT_YET, NOWHERE, CompactGame, Payment
from services.bots.trains.searching.compact_rules import WILD
from services.bots.trains.searching.final_points import final_points
from services.bots.trains.searching.rollout_actions import (
    Claim,
    best_claim,
    best_journey,
    build_station,
    free_places,
    is_station_due,
    last_claim,
    place_for_passenger,
)
from services.bots.trains.searching.rollout_needs import Fillers, RolloutNeeds, find_fillers
from services.bots.trains.searching.rollout_plan import (
    RolloutPlan,
    make_plan,
    route_costs,
    turns_for,
    turns_left,
)

MAX_TURNS: Final = 1_000  # of a rollout; no game takes as many


class Rollout:
    """One game played to its end. `plans` is by seat, None if not planned."""

    def __init__(self, game: CompactGame) -> None:
        self.game = game
        self.plans: list[RolloutPlan | None] = [None] * len(game.cars)
        self.claimed = -1  # routes, when `by_points` was made
        self.by_points: list[int] = []  # the free routes
        # by seat, each with the plan, the count of routes claimed and whether it was among the last turns
        self.fillers: list[tuple[RolloutPlan, int, bool, Fillers] | None] = [None] * len(game.cars)

    def play(self) -> list[int]:
        """Every seat's points at the end."""
        for _ in range(MAX_TURNS):
            if self.game.is_over:
                break
            self.play_turn()
        return final_points(self.game)

    def play_turn(self) -> None:
        """The turn of the seat whose turn it is, as the policy plays it."""
        game, seat = self.game, self.game.turn
        needs, turns, plan = self.find_needs(), turns_left(game, seat), self.plan(seat)
        is_played = self._play_last(plan, needs) if turns <= 1 else self._play_turn(plan, needs, turns)
        if not (is_played or self._draw(needs)):
            self._play_without_cards(needs)
        game.end_turn()

    def _play_turn(self, plan: RolloutPlan, needs: RolloutNeeds, turns: int) -> bool:
        """Do what is worth more than cards now; returns whether anything is."""
        game, seat = self.game, self.game.turn
        if game.passenger_owners and (journey := best_journey(game, WEIGHTS.journey_points)) is not None:
            game.move_passenger(journey.city, journey.path)
        elif (claim := best_claim(game, plan, needs, turns)) is not None:
            self.claim(claim, plan)
        elif plan.loans and is_station_due(plan, turns) and build_station(game, plan, needs):
            self.plans[seat] = None
        else:
            return False
        return True

    def _play_last(self, plan: RolloutPlan, needs: RolloutNeeds) -> bool:
        """Do what brings most at once; returns whether anything does."""
        game, found = self.game, last_claim(self.game, plan, needs.bonuses)
        most = found[0] if found is not None else 0
        is_station_all = len(plan.loans) == 1 and not plan.routes
        if is_station_all and build_station(game, plan, needs):
            return True
        if game.passenger_owners and (journey := best_journey(game, most + 1)) is not None:
            game.move_passenger(journey.city, journey.path)
        elif found is not None:
            self.claim(found[1], plan)
        else:
            return False
        return True

    def _play_without_cards(self, needs: RolloutNeeds) -> None:
        """Do something without cards: any claim, else tickets."""
        game = self.game
        plan = self.plan(game.turn)
        if (found := last_claim(game, plan, needs.bonuses)) is not None:
            self.claim(found[1], plan)
        elif any(counts := self.next_tickets()):
            game.keep_tickets(game.draw_tickets(counts), range(game.rules.least_kept))
            self.plans[game.turn] = None
        elif game.rules.cards_asked:
            game.request_cards()
        else:
            game.pass_turn()

    def plan(self, seat: int) -> RolloutPlan:
        """The seat's plan, made anew if it can't be carried out any more."""
        game, plan = self.game, self.plans[seat]
        if plan is not None:
            owners, lengths = game.owners, game.rules.graph.lengths
            if any(owners[route] == seat for route in plan.routes):
                left = [i for i, route in enumerate(plan.routes) if owners[route] != seat]
                plan = RolloutPlan(
                    [plan.routes[i] for i in left], [plan.weights[i] for i in left], plan.loans
                )
                self.plans[seat] = plan
            turns = turns_left(game, seat)
            if (
                all(game.can_claim(seat, route) for route in plan.routes)
                and sum([lengths[route] for route in plan.routes]) <= game.cars[seat]
                and (not plan.loans or free_places(game, plan))
                and (turns >= WEIGHTS.turns_counted or turns_for(game, seat, plan.routes) <= turns)
            ):
                return plan
        made = self.plans[seat] = make_plan(game, seat)
        return made

    def find_needs(self) -> RolloutNeeds:
        """The needs of the seat whose turn it is."""
        game = self.game
        plan = self.plan(game.turn)
        needs = RolloutNeeds(game, plan)
        lengths = game.rules.graph.lengths
        cars = game.cars[game.turn] - sum([lengths[route] for route in needs.routes])
        needs.add_fillers(game, cars, self._find_fillers(plan))
        return needs

    def _find_fillers(self, plan: RolloutPlan) -> Fillers:
        """The routes outside of the plan, found anew once something is claimed or planned."""
        game, seat = self.game, self.game.turn
        free, is_last = self._free_routes(), game.last_turns != NOT_YET
        cached = self.fillers[seat]
        if cached is None or cached[0] is not plan or cached[1:3] != (self.claimed, is_last):
            cached = self.fillers[seat] = plan, self.claimed, is_last, find_fillers(game, plan, free)
        return cached[3]

    def _free_routes(self) -> list[int]:
        """The free routes, those with most points first."""
        game, claimed = self.game, sum([len(routes) for routes in self.game.routes])
        if self.claimed != claimed:
            routes = self.by_points if self.claimed >= 0 else game.rules.by_points
            self.by_points = [route for route in routes if game.owners[route] == FREE]
            self.claimed = claimed
        return self.by_points

    # -- claims --------------------------------------------------------------------------

    def claim(self, claim: Claim, plan: RolloutPlan) -> None:
        """Claim the route, with a passenger if the plan wants the route."""
        place = place_for_passenger(self.game, claim.route) if claim.route in plan.routes else NOWHERE
        self.claim_for(claim.route, claim.payment(self.game.rules.graph.lengths[claim.route]), place)

    def claim_for(self, route: int, payment: Payment, passenger: int = NOWHERE) -> None:
        """Claim the route with any payment, and pay what a tunnel asks for if the seat can."""
        game = self.game
        if game.rules.is_tunnel[route]:
            extra = game.reveal_tunnel(payment)
            more = self._pay_more(payment, extra)
            if more is None:
                return
            payment = [*payment, *more]
        game.claim(route, payment, passenger)

    def _pay_more(self, payment: Payment, extra: int) -> Payment | None:
        """The extra cards for a tunnel, as few locomotives as can be; None if the seat can't pay."""
        hand, paid = self.game.hands[self.game.turn], dict(payment)
        colour = payment[0][0]
        coloured = min(extra, hand[colour] - paid[colour]) if colour != WILD else 0
        if extra - coloured > hand[WILD] - paid.get(WILD, 0):
            return None
        return [(kind, count) for kind, count in ((colour, coloured), (WILD, extra - coloured)) if count]

    # -- tickets -------------------------------------------------------------------------

    def next_tickets(self) -> list[int]:
        """How many tickets a draw offers now, by deck; the most even mix, if the seat names one (TICKET-3)."""
        rules, sizes = self.game.rules, [len(deck) for deck in self.game.ticket_decks]
        if not rules.tickets_named:
            return [min(count, size) for count, size in zip(rules.tickets_drawn, sizes, strict=True)]
        left = [size if drawn else 0 for size, drawn in zip(sizes, rules.tickets_drawn, strict=True)]
        counts = [0] * len(left)
        for _ in range(min(rules.tickets_named, sum(left))):
            deck = max(range(len(left)), key=lambda each: (left[each] > counts[each], -counts[each]))
            counts[deck] += 1
        return counts

    def draw_tickets(self, counts: list[int]) -> None:
        """Draw tickets, and keep those that bring more than they cost, and at least as many as it must."""
        game, seat = self.game, self.game.turn
        offer = game.draw_tickets(counts)
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

    # -- cards ---------------------------------------------------------------------------

    def _draw(self, needs: RolloutNeeds) -> bool:
        """Draw cards, or ask for them; returns whether any can be had."""
        game = self.game
        if asked := game.rules.cards_asked:
            if sum(game.deck) < asked:
                return False
            game.request_cards()
        elif game.has_second_card() or WILD in game.market:
            self.draw_cards(needs)
        else:
            return False
        return True

    def draw_cards(self, needs: RolloutNeeds) -> None:
        """Two cards, or a locomotive that lies open."""
        values = needs.card_values(self.game)
        if self._draw_card(values, is_first=True) and self.game.has_second_card():
            needs.assign(self.game)
            self._draw_card(needs.card_values(self.game), is_first=False)

    def draw_second_card(self) -> None:
        """The second card of a turn, if one can be had."""
        if self.game.has_second_card():
            self._draw_card(self.find_needs().card_values(self.game), is_first=False)

    def _draw_card(self, values: list[float], *, is_first: bool) -> bool:
        """Draw the card that is worth most; returns whether a second one may follow."""
        game = self.game
        blind = sum(map(mul, values, game.rules.card_shares)) if game.has_cards() else -1.0
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
