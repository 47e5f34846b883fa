"""The policy of all seats of a rollout: `planner` on a compact game.

A seat's network is planned once, and anew only when a route on it is taken, its turns grow short or it gets tickets.
Routes outside of it are looked for once it is complete: `planner` collects for them from the start, which costs rollouts
a third of their time and makes no choice better.
A seat draws no tickets unless it can do nothing else: chosen without looking ahead, they cost more than they bring.

Claims, stations and journeys in rollouts, chosen as `planner` does (`command_choice`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from heapq import heappop, heappush
from operator import mul
from typing import Final, NamedTuple

from services.bots.trains.planning.board_graph import UNREACHABLE, TicketEnds, shortest_path
from services.bots.trains.planning.command_choice import (
    LOCOMOTIVE_PRICE,
    PER_TOKEN,
    PLACED,
    PLUS_FOUR_SHARE,
    SPARE_CREDIT,
    TICKET_POINTS,
    TURNS_TO_SPARE,
)
from services.bots.trains.planning.plan_weights import WEIGHTS
from services.bots.trains.searching.compact_game import (
    FREE,
    NO_CARD,
    NOT_YET,
    NOWHERE,
    CompactGame,
    Payment,
    final_points,
    tickets_made,
)
from services.bots.trains.searching.compact_rules import ANY_COLOUR, TOLL, WILD, WILD_IF_LONG
from services.bots.trains.searching.rollout_needs import (
    FILLER_UNITS,
    NO_BONUSES,
    Fillers,
    RolloutNeeds,
    find_fillers,
    find_spans,
    longest_span,
    path_bonuses,
    rival_of,
)
from services.bots.trains.searching.rollout_plan import (
    RolloutPlan,
    in_units,
    make_plan,
    route_costs,
    turns_for,
    turns_left,
)

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
    filler_price = 0.0 if planned else _filler_price(game, turns)
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
            worth = graph.points[route] - length * filler_price - WEIGHTS.filler_margin
            worth += needs.bonuses.get(route, 0) / FILLER_UNITS
        if worth - price > most and not (rules.is_tunnel[route] and _is_risky(game, claim)):
            best, most = claim, worth - price
    return best


def _filler_price(game: CompactGame, turns: int) -> float:
    """The price of a car of a route outside of the network, which is complete."""
    share = min(1.0, turns * WEIGHTS.filler_pace / max(1, game.cars[game.turn]))
    if _would_end(game):
        share *= WEIGHTS.end_share
    return WEIGHTS.filler_price * game.rules.graph.car_value * share


def _would_end(game: CompactGame) -> bool:
    """Whether the seat, whose network is complete, hurries to the end of a duel: few cars are left, and it is ahead."""
    seat = game.turn
    if len(game.cars) != 2 or game.cars[seat] > WEIGHTS.cars_to_end:
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
    game: CompactGame, plan: RolloutPlan, bonuses: Mapping[int, int]
) -> tuple[float, Claim] | None:
    """The points and the claim with most at once, tickets and bonuses among them; None if none can be paid for."""
    rules, seat, missing = game.rules, game.turn, plan.routes
    graph, owners, colours = rules.graph, game.owners, rules.colours
    hand, cars, points = game.hands[seat], game.cars[seat], graph.points
    ticket_points = 2 * sum([ticket.points for ticket in game.tickets[seat]]) if len(missing) == 1 else 0
    held, wilds, best, most = [*hand[:WILD], max(hand[:WILD])], hand[WILD], NO_CLAIM, -1.0
    for route, length in enumerate(graph.lengths):
        if length <= cars and owners[route] == FREE:
            worth = points[route] + bonuses.get(route, 0) / FILLER_UNITS
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
    if walks and -(longest := min(walks))[0] > best.points:
        best = RolloutJourney(-longest[0], start, longest[-1])
    return best


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
        # by seat, with its network, the rival's longest path and whether it was among the last turns
        self.bonuses = list[tuple[object, Mapping[int, int]] | None]([None] * len(game.cars))

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
            offer = game.draw_tickets(counts)
            game.keep_tickets(offer, range(min(game.rules.least_kept, len(offer))))
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
        """The needs of the seat whose turn it is: of its network, and once that is complete of what it fills its cars with."""
        game = self.game
        plan = self.plan(game.turn)
        needs = RolloutNeeds(game, plan)
        if not plan.routes or turns_left(game, game.turn) <= 1:
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
            fillers = find_fillers(game, plan, free, self._find_bonuses(plan, is_last=is_last))
            cached = self.fillers[seat] = plan, self.claimed, is_last, fillers
        return cached[3]

    def _find_bonuses(self, plan: RolloutPlan, *, is_last: bool) -> Mapping[int, int]:
        """By route what it brings for the longest route, found anew once a network or the rival's longest path is another."""
        game, seat, rival = self.game, self.game.turn, rival_of(self.game)
        if rival is None:
            return NO_BONUSES
        network = frozenset((*game.routes[seat], *plan.routes))
        found_for = network, longest_span(find_spans(game, game.routes[rival])), is_last
        cached = self.bonuses[seat]
        if cached is None or cached[0] != found_for:
            cached = self.bonuses[seat] = found_for, path_bonuses(game, plan.routes)
        return cached[1]

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
            costs[route] = 0
        gains = [
            in_units(0.9 * t.points) - shortest_path(game.rules.graph, costs, t.a, t.b)[0] for t in offer
        ]
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
            self._draw_card(values, is_first=False)

    def draw_second_card(self) -> None:
        """The second card of a turn, if one can be had."""
        if self.game.has_second_card():
            self._draw_card(self.find_needs().card_values(self.game), is_first=False)

    def _draw_card(self, values: list[float], *, is_first: bool) -> bool:
        """Draw the card that is worth most; returns whether a second one may follow."""
        game = self.game
        blind = _total(map(mul, values, game.rules.card_shares)) if game.has_cards() else -1.0
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


def _total(values: Iterable[float]) -> float:
    """Their sum, added one after the other as rollout_engine.c does it: `sum` rounds otherwise from Python 3.12 on."""
    added = 0.0
    for value in values:
        added += value
    return added
