"""Claims, stations and journeys in rollouts, chosen as `planner` does (`action_choice`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from heapq import heappop, heappush
from typing import Final, NamedTuple

from services.bots.trains.planning.action_choice import (
    LOCOMOTIVE_PRICE,
    PER_TOKEN,
    PLACED,
    PLUS_FOUR_SHARE,
    SPARE_CREDIT,
    TICKET_POINTS,
    TURNS_TO_SPARE,
)
from services.bots.trains.planning.board_graph import UNREACHABLE
from services.bots.trains.planning.plan_weights import WEIGHTS
from services.bots.trains.searching.compact_game import FREE, NOWHERE, CompactGame, Payment
from services.bots.trains.searching.compact_rules import ANY_COLOUR, TOLL, WILD, WILD_IF_LONG
from services.bots.trains.searching.final_points import tickets_made
from services.bots.trains.searching.rollout_needs import RolloutNeeds
from services.bots.trains.searching.rollout_plan import RolloutPlan

NO_CLAIM: Final = -1


class Claim(NamedTuple):
    """A route and its payment: a colour, and wild cards of both kinds beside it."""

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
    """Whether the seat hurries to the end of a duel: its plan is done, few cars are left, and it is ahead."""
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
    """The claim with its cheapest payment, after the worth of those cards for other routes."""
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
    """Whether a tunnel may ask for more than the seat should risk: one card, or all that can be turned up again each turn."""
    hand, most = game.hands[game.turn], game.rules.tunnel_cards
    coloured = game.rules.graph.lengths[claim.route] - claim.wilds
    spare = hand[claim.colour] - coloured + hand[WILD] - claim.wilds
    return spare < (most if sum(game.deck) + sum(game.discards) <= most else 1)


def last_claim(
    game: CompactGame, plan: RolloutPlan, bonuses: Mapping[int, float]
) -> tuple[float, Claim] | None:
    """The points and the claim with most at once, tickets and bonuses among them; None if none can be paid for."""
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


# -- stations --------------------------------------------------------------------------------


def is_station_due(plan: RolloutPlan, turns: int) -> bool:
    """Whether to build a station if no claim is worth it: nothing else is left to do, or the end is near."""
    return not plan.routes or turns <= len(plan.loans) + TURNS_TO_SPARE


def build_station(game: CompactGame, plan: RolloutPlan, needs: RolloutNeeds) -> bool:
    """Build a station for the plan, if one can be paid for; returns whether."""
    costs, built = game.rules.station_costs, len(game.stations[game.turn])
    places = free_places(game, plan)
    payment = _cheapest(game, needs, costs[built]) if places and built < len(costs) else None
    if payment is None:
        return False
    game.build_station(places[0], payment)
    return True


def free_places(game: CompactGame, plan: RolloutPlan) -> list[int]:
    """The cities in which a station would lend what the plan borrows (STATION-1)."""
    taken = game.station_cities()
    return [city for route in plan.loans for city in game.rules.graph.ends[route] if city not in taken]


def _cheapest(game: CompactGame, needs: RolloutNeeds, cost: int) -> Payment | None:
    """A payment of one colour, with locomotives as wild cards, that routes miss least (STATION-2)."""
    hand, best, least = game.hands[game.turn], None, 0.0
    for colour in range(WILD):
        wilds = max(0, cost - hand[colour])
        if wilds <= hand[WILD]:
            price = LOCOMOTIVE_PRICE * wilds + (cost - wilds) * (1 - SPARE_CREDIT * needs.spare[colour])
            if best is None or price < least:
                payment = ((colour, cost - wilds), (WILD, wilds))
                best, least = [(kind, count) for kind, count in payment if count], price
    return best


# -- passengers ------------------------------------------------------------------------------

MOST_WALKS: Final = 60  # that are extended for one passenger: most seats have few routes to walk on


class RolloutJourney(NamedTuple):
    """A journey of the seat whose turn it is, and the points that it collects."""

    points: int
    city: int
    path: tuple[int, ...]


# the points below 0, a number, the city, the cards paid, the cities entered, the routes
_Walk = tuple[int, int, int, int, frozenset[int], tuple[int, ...]]


def place_for_passenger(game: CompactGame, route: int) -> int:
    """The city of the route where a passenger of the seat is placed; NOWHERE if it can't be (PASSENGER-1)."""
    is_country = game.rules.graph.is_country
    if not game.passengers_left[game.turn]:
        return NOWHERE
    free = [
        city
        for city in game.rules.graph.ends[route]
        if city not in game.passenger_owners and not is_country[city]
    ]
    return max(free, key=lambda city: game.tokens.get(city, (0,))[:1], default=NOWHERE)


def place_worth(game: CompactGame, city: int) -> float:
    """The worth of a passenger in that city, for the claim that places it."""
    return 0.0 if city == NOWHERE else PLACED + PER_TOKEN * sum(game.tokens.get(city, ())[:1])


def best_journey(game: CompactGame, least: float) -> RolloutJourney | None:
    """The journey that collects most, of at least so many points; about the best, if many are possible."""
    seat = game.turn
    starts = [city for city, owner in game.passenger_owners.items() if owner == seat]
    cards = game.hands[seat][TOLL] if starts else 0
    routes = game.routes if cards else game.routes[seat : seat + 1]
    best: RolloutJourney | None = None
    for start in starts:
        if _most_points(game, routes) >= least:
            found = _search(game, start, _ways(game, routes), cards)
            if found.points >= least and (best is None or found.points > best.points):
                best = found
    return best


def _most_points(game: CompactGame, routes: Sequence[Sequence[int]]) -> int:
    """More than any journey collects: the tokens of all cities on these routes."""
    cities = {city for row in routes for route in row for city in game.rules.graph.ends[route]}
    return sum([stack[0] for city in cities if (stack := game.tokens.get(city))])


def _ways(game: CompactGame, routes: Sequence[Sequence[int]]) -> dict[int, list[tuple[int, int, int]]]:
    """By city the ways out: the route, its other end, and the card that it costs. None leads into a country."""
    graph, seat, ways = game.rules.graph, game.turn, dict[int, list[tuple[int, int, int]]]()
    for row in routes:
        for route in row:
            a, b = graph.ends[route]
            if not (graph.is_country[a] or graph.is_country[b]):
                toll = int(game.owners[route] != seat)
                ways.setdefault(a, []).append((route, b, toll))
                ways.setdefault(b, []).append((route, a, toll))
    return ways


def _search(
    game: CompactGame, start: int, ways: dict[int, list[tuple[int, int, int]]], cards: int
) -> RolloutJourney:
    """The best journey from a city. Walks with most points are extended first (PASSENGER-2, PASSENGER-3)."""
    worth = {city: stack[0] for city, stack in game.tokens.items() if stack}
    best, number = RolloutJourney(0, start, ()), 0
    walks: list[_Walk] = [(0, 0, start, 0, frozenset((start,)), ())]
    while walks and number < MOST_WALKS:
        negated, _, city, tolls, seen, path = heappop(walks)
        if -negated > best.points:
            best = RolloutJourney(-negated, start, path)
        for route, other, toll in ways.get(city, ()):
            if tolls + toll <= cards and route not in path:
                number += 1
                more = 0 if other in seen else worth.get(other, 0)
                walk = (negated - more, number, other, tolls + toll, seen | {other}, (*path, route))
                heappush(walks, walk)
    for negated, _, _, _, _, path in walks:
        if -negated > best.points:
            best = RolloutJourney(-negated, start, path)
    return best
