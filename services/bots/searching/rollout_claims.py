"""Which route a seat of a rollout claims, and with which cards; as `planner` does (claim_choice, other_actions)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from services.bots.planning.board_graph import UNREACHABLE
from services.bots.planning.claim_choice import PLUS_FOUR_SHARE, TICKET_POINTS
from services.bots.planning.plan_weights import WEIGHTS
from services.bots.searching.compact_game import FREE, CompactGame, Payment
from services.bots.searching.compact_rules import ANY_COLOUR, TOLL, WILD, WILD_IF_LONG
from services.bots.searching.final_points import tickets_made
from services.bots.searching.rollout_needs import RolloutNeeds
from services.bots.searching.rollout_passengers import place_for_passenger, place_worth
from services.bots.searching.rollout_plan import RolloutPlan

NO_CLAIM: Final = -1


class Claim(NamedTuple):
    """A route and what is paid for it: a colour, and wild cards of both kinds beside it."""

    route: int
    colour: int
    wilds: int
    wilds_if_long: int

    def payment(self, length: int) -> Payment:
        """Its cards by kind."""
        coloured = length - self.wilds - self.wilds_if_long
        counts = ((self.colour, coloured), (WILD, self.wilds), (WILD_IF_LONG, self.wilds_if_long))
        return [(kind, count) for kind, count in counts if count]


def best_claim(game: CompactGame, plan: RolloutPlan, needs: RolloutNeeds, turns: int) -> Claim | None:
    """The claim that is worth most; None if none is worth it now."""
    rules, seat = game.rules, game.turn
    graph, hand, planned = rules.graph, game.hands[seat], len(plan.routes)
    cars = game.cars[seat] - sum([graph.lengths[route] for route in needs.routes[:planned]])
    share = min(1.0, turns * WEIGHTS.filler_pace / max(1, cars))
    if _would_end(game, plan):
        share *= WEIGHTS.end_share
    filler_price = WEIGHTS.filler_price * graph.car_value * share
    wild_price = WEIGHTS.wild_price * min(1.0, max(0.0, needs.wilds_short / WEIGHTS.cards_short))
    most_held, best, most = max(hand[:WILD]) + sum(hand[WILD:TOLL]), None, 0.0
    for index, route in enumerate(needs.routes):
        length = graph.lengths[route]
        if length > most_held:
            continue
        found = _cheapest_payment(game, needs, index, wild_price)
        if found is None:
            continue
        price, claim = found
        if index < planned:
            worth = 2 * needs.weights[index] + graph.points[route] / 10 - WEIGHTS.claim_threshold
            if game.passengers_left[seat]:
                worth += place_worth(game, place_for_passenger(game, route))
        else:
            wilds = claim.wilds + claim.wilds_if_long
            worth = graph.points[route] - length * filler_price - WEIGHTS.filler_margin
            worth -= WEIGHTS.filler_wild * max(0.0, wilds + min(0, needs.wilds_short))
            worth += needs.bonuses.get(route, 0.0)
        if worth - price > most and not (rules.is_tunnel[route] and _is_risky(game, claim)):
            best, most = claim, worth - price
    return best


def _would_end(game: CompactGame, plan: RolloutPlan) -> bool:
    """Whether the seat would have a duel end: its plan is done, few cars are left, and it is ahead."""
    seat = game.turn
    if len(game.cars) != 2 or plan.routes or game.cars[seat] > WEIGHTS.cars_to_end:
        return False
    made = zip(game.tickets[seat], tickets_made(game, seat), strict=True)
    tickets = sum([ticket.points if is_made else -ticket.points for ticket, is_made in made])
    others = game.points[1 - seat] + TICKET_POINTS * len(game.tickets[1 - seat])
    return game.points[seat] + tickets > others


def _cheapest_payment(
    game: CompactGame, needs: RolloutNeeds, index: int, wild_price: float
) -> tuple[float, Claim] | None:
    """What its cards are worth for other routes, and the claim."""
    rules, route, hand = game.rules, needs.routes[index], game.hands[game.turn]
    spaces, ferry, colour = rules.spaces[route], rules.ferries[route], rules.colours[route]
    plus_fours = _plus_fours(game, route)
    own, best, least = spaces - needs.missing[index], None, UNREACHABLE
    for paid in range(WILD) if colour == ANY_COLOUR else (colour,):
        missing = max(0, spaces - hand[paid])
        plus = min(missing, plus_fours)
        wilds = missing - plus
        if wilds + ferry <= hand[WILD]:
            kept = needs.reserved[paid] - (own if needs.colours[index] == paid else 0)
            price = wild_price * (wilds + PLUS_FOUR_SHARE * plus)
            price += WEIGHTS.reserved_price * max(0, spaces - missing - hand[paid] + kept)
            if price < least:
                best, least = Claim(route, paid, wilds + ferry, plus), price
    return None if best is None else (least, best)


def _plus_fours(game: CompactGame, route: int) -> int:
    """How many "+4" locomotives can pay for the route (ROUTE-7)."""
    rules = game.rules
    if rules.kind_count <= WILD_IF_LONG or rules.graph.lengths[route] < rules.wild_if_long_least:
        return 0
    return game.hands[game.turn][WILD_IF_LONG]


def _is_risky(game: CompactGame, claim: Claim) -> bool:
    """Whether a tunnel may ask for more cards than the seat should risk: one, or all where it turns up all there are,
    as it would turn up the same again in every turn."""
    hand, most = game.hands[game.turn], game.rules.tunnel_cards
    coloured = game.rules.graph.lengths[claim.route] - claim.wilds
    spare = hand[claim.colour] - coloured + hand[WILD] - claim.wilds
    return spare < (most if sum(game.deck) + sum(game.discards) <= most else 1)


def last_claim(
    game: CompactGame, plan: RolloutPlan, bonuses: Mapping[int, float]
) -> tuple[float, Claim] | None:
    """The claim with most points at once, and these, with the tickets that it makes and the bonuses by route; None if
    none can be paid for."""
    rules, seat, missing = game.rules, game.turn, plan.routes
    graph, owners, colours = rules.graph, game.owners, rules.colours
    hand, cars, points = game.hands[seat], game.cars[seat], graph.points
    ticket_points = 2 * sum([ticket.points for ticket in game.tickets[seat]]) if len(missing) == 1 else 0
    held, wilds, best, most = [*hand[:WILD], max(hand[:WILD])], hand[WILD], NO_CLAIM, -1.0
    for route, length in enumerate(graph.lengths):
        if length <= cars and owners[route] == FREE:
            worth = points[route] + bonuses.get(route, 0.0)
            if ticket_points and route == missing[0]:
                worth += ticket_points
            if worth > most and rules.ferries[route] <= wilds:
                payable = min(held[colours[route]], rules.spaces[route]) + wilds + _plus_fours(game, route)
                if payable >= length and game.can_claim(seat, route):
                    best, most = route, worth
    if best == NO_CLAIM:
        return None
    colour = colours[best] if colours[best] != ANY_COLOUR else hand.index(held[-1])
    short = max(0, rules.spaces[best] - hand[colour])
    plus = min(short, _plus_fours(game, best))
    return most, Claim(best, colour, short - plus + rules.ferries[best], plus)
