"""A whole game as lists of numbers, for rollouts: about a hundred times as fast as the rules. No command is checked.

The referee stays the judge: tests/bots/test_compact_game.py plays random games on both and compares every state, and the
points at its end (SCORE-*).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from services.bots.trains.planning.board_graph import TicketEnds
from services.bots.trains.searching.compact_rules import TOLL, WILD, CompactRules
from services.referee.games.trains.search.longest_trail import Networks
from services.referee.games.trains.search.station_loans import Loan, best_loans

MARKET: Final = 10  # slots at most
NO_CARD: Final = -1  # a gap in the market
NOWHERE: Final = -1  # in place of a city
FREE: Final = -1  # the owner of a route that can be claimed
CLOSED: Final = -2  # of one whose parallel is taken (DOUBLE-2)
NOT_YET: Final = -1  # of last turns
WORD: Final = (1 << 64) - 1

Payment = Sequence[tuple[int, int]]  # kinds of cards, each with how many


class CompactGame:
    """One game in play, that the caller owns: turns are played by its methods. Cards are counted by kind.

    The deck has no order. Its next card follows from `seed`, from the drawer (a slot of the market, a seat, or a seat for
    its tunnel), and from how many cards that one had before. So games of one seed stay as alike as they can, though they
    are played differently (common random numbers)."""

    __slots__ = (
        "cars", "deck", "discards", "drawn", "hands", "is_over", "last_turns", "market", "owners", "passenger_owners",
        "passengers_left", "passes", "points", "revealed", "routes", "rules", "seed", "stations", "ticket_decks", "tickets",
        "tokens", "turn",
    )  # fmt: skip

    def __init__(self, rules: CompactRules, seats: int) -> None:
        self.rules, self.seed = rules, 0
        self.owners = [FREE] * len(rules.colours)
        self.hands = [[0] * rules.kind_count for _ in range(seats)]
        self.cars, self.points = [0] * seats, [0] * seats  # of routes and merchandise
        self.tickets: list[list[TicketEnds]] = [[] for _ in range(seats)]
        self.routes: list[list[int]] = [[] for _ in range(seats)]
        self.market: list[int] = []
        self.deck, self.drawn = [0] * rules.kind_count, [0] * (MARKET + 2 * seats)  # `drawn` is by drawer
        self.discards = [0] * rules.kind_count
        self.revealed: list[int] = []  # cards that a tunnel turned up in this turn
        self.ticket_decks: list[list[TicketEnds]] = []  # the top is the last
        # by seat: each one's city, and the neighbour named for it
        self.stations: list[list[tuple[int, int]]] = [[] for _ in range(seats)]
        self.passengers_left = [0] * seats
        self.passenger_owners: dict[int, int] = {}  # by city
        self.tokens: dict[int, tuple[int, ...]] = {}  # by city, the top first
        self.turn = 0
        self.last_turns = NOT_YET  # how many are still to be begun
        self.passes = 0  # turns in a row that changed nothing
        self.is_over = False

    def copy(self) -> CompactGame:
        """A copy of the game, with its seed."""
        copy = CompactGame.__new__(CompactGame)
        copy.rules, copy.seed = self.rules, self.seed
        copy.owners, copy.cars, copy.points = self.owners[:], self.cars[:], self.points[:]
        copy.hands = [hand[:] for hand in self.hands]
        copy.tickets = [tickets[:] for tickets in self.tickets]
        copy.routes = [routes[:] for routes in self.routes]
        copy.market, copy.deck, copy.drawn = self.market[:], self.deck[:], self.drawn[:]
        copy.discards, copy.revealed = self.discards[:], self.revealed[:]
        copy.ticket_decks = [deck[:] for deck in self.ticket_decks]
        copy.stations = [stations[:] for stations in self.stations]
        copy.passengers_left, copy.passenger_owners = self.passengers_left[:], self.passenger_owners.copy()
        copy.tokens = self.tokens.copy()
        copy.turn, copy.last_turns, copy.passes = self.turn, self.last_turns, self.passes
        copy.is_over = self.is_over
        return copy

    # -- cards -------------------------------------------------------------------------

    def has_cards(self) -> bool:
        """Whether a card can be drawn from the deck."""
        return any(self.deck) or any(self.discards)

    def take_card(self, drawer: int) -> int:
        """A card off the deck, which isn't empty."""
        deck, index = self.deck, self.drawn[drawer]
        self.drawn[drawer] = index + 1
        rest, kind = int(_random_number(self.seed, drawer, index) * sum(deck)), 0
        while rest >= deck[kind]:
            rest -= deck[kind]
            kind += 1
        deck[kind] -= 1
        return kind

    def draw_blind(self) -> None:
        """A card from the deck, which must not be empty for good."""
        if not any(self.deck):
            self.rebuild_deck()
        self.hands[self.turn][self.take_card(MARKET + self.turn)] += 1
        self.passes = 0

    def draw_market(self, slot: int) -> int:
        """The card that lies open there; returns its kind."""
        card = self.market[slot]
        self.hands[self.turn][card] += 1
        self.market[slot] = NO_CARD
        self.passes = 0
        self._fill_market()
        return card

    def has_second_card(self) -> bool:
        """Whether a second card can be had (CARD-1)."""
        return self.has_cards() or any(card not in (NO_CARD, WILD) for card in self.market)

    def request_cards(self) -> None:
        """Take the next cards; if too few are left, the turn changes nothing (CARD-6)."""
        count = self.rules.cards_asked
        if sum(self.deck) < count:
            self.passes += 1
            return
        for _ in range(count):
            self.hands[self.turn][self.take_card(MARKET + self.turn)] += 1
        self.passes = 0

    def rebuild_deck(self) -> None:
        """Put the discards into the deck, beside the few cards that may be left of it."""
        self.deck = [one + more for one, more in zip(self.deck, self.discards, strict=True)]
        self.discards = [0] * self.rules.kind_count

    def _fill_market(self) -> None:
        _, is_turned_up = self._fill_gaps()
        rebuilt = 0  # for flushes: what the first gap needed doesn't count
        while is_turned_up and self._is_flush_due() and rebuilt < self.rules.flush_most:
            market = self.market
            for slot, card in enumerate(market):
                if card != NO_CARD:
                    self.discards[card] += 1
                    market[slot] = NO_CARD
            again, is_turned_up = self._fill_gaps()
            rebuilt += again

    def _is_flush_due(self) -> bool:
        return any(self.market.count(kind) >= count for kind, count in self.rules.flush)

    def _fill_gaps(self) -> tuple[int, bool]:
        """Returns how often the deck was rebuilt, and whether a card was turned up."""
        gaps, rebuilt = [slot for slot, card in enumerate(self.market) if card == NO_CARD], 0
        size = sum(self.deck)
        if size < len(gaps) and any(self.discards):
            self.rebuild_deck()
            size, rebuilt = sum(self.deck), 1
        filled = gaps[:size]
        for slot in filled:
            self.market[slot] = self.take_card(slot)
        return rebuilt, bool(filled)

    # -- routes --------------------------------------------------------------------------

    def can_claim(self, seat: int, route: int) -> bool:
        """Whether the route is free for the seat, which may own no two parallel ones (DOUBLE-1)."""
        owners = self.owners
        return owners[route] == FREE and all(owners[other] != seat for other in self.rules.parallels[route])

    def claim(self, route: int, payment: Payment, passenger: int = NOWHERE) -> None:
        """The route for these cards, and a passenger in that city."""
        rules, seat = self.rules, self.turn
        self._pay(payment)
        self.cars[seat] -= rules.graph.lengths[route]
        self.points[seat] += rules.graph.points[route]
        self.owners[route] = seat
        self.routes[seat].append(route)
        if rules.closes_parallels:
            for other in rules.parallels[route]:
                if self.owners[other] == FREE:
                    self.owners[other] = CLOSED
        if passenger != NOWHERE:
            self.passenger_owners[passenger] = seat
            self.passengers_left[seat] -= 1
        self.passes = 0

    def reveal_tunnel(self, payment: Payment) -> int:
        """Turn cards up for a tunnel; returns how many more it asks for (TUNNEL-1, TUNNEL-2)."""
        count = self.rules.tunnel_cards
        if sum(self.deck) < count and any(self.discards):
            self.rebuild_deck()
        drawer = MARKET + len(self.cars) + self.turn
        self.revealed = [self.take_card(drawer) for _ in range(min(count, sum(self.deck)))]
        self.passes = 0
        asked = {WILD, *[kind for kind, _ in payment]}
        return sum([kind in asked for kind in self.revealed])

    def _pay(self, payment: Payment) -> None:
        hand, discards = self.hands[self.turn], self.discards
        for kind, count in payment:
            hand[kind] -= count
            discards[kind] += count

    # -- tickets, stations, passengers ---------------------------------------------------

    def draw_tickets(self, counts: Sequence[int]) -> list[TicketEnds]:
        """The tickets that are offered, so many of each deck or what is left of it, its top one first."""
        offer: list[TicketEnds] = []
        for deck, count in zip(self.ticket_decks, counts, strict=True):
            if count:
                offer += deck[: -count - 1 : -1]
                del deck[-count:]
        self.passes = 0
        return offer

    def keep_tickets(self, offer: Sequence[TicketEnds], kept: Sequence[int]) -> None:
        """Keep these places of the offer; the others go under their decks."""
        self.tickets[self.turn] += [offer[index] for index in kept]
        for index, ticket in enumerate(offer):
            if index not in kept:
                self.ticket_decks[ticket.deck].insert(0, ticket)

    def build_station(self, city: int, payment: Payment, neighbour: int = NOWHERE) -> None:
        """A station in the city for these cards."""
        self._pay(payment)
        self.stations[self.turn].append((city, neighbour))
        self.passes = 0

    def station_cities(self) -> set[int]:
        """The cities that have a station: no other can be built there (STATION-1)."""
        return {city for stations in self.stations for city, _ in stations}

    def move_passenger(self, city: int, path: Iterable[int]) -> None:
        """The passenger's journey along these routes (PASSENGER-2, PASSENGER-3)."""
        seat, start, ends = self.turn, city, self.rules.graph.ends
        tolls, entered = 0, dict[int, None]()
        for route in path:
            a, b = ends[route]
            city = b if city == a else a
            entered[city] = None
            tolls += self.owners[route] != seat
        if tolls:
            self._pay([(TOLL, tolls)])
        del self.passenger_owners[start]
        for city in entered:
            if city != start and (stack := self.tokens.get(city)):
                self.points[seat] += stack[0]
                self.tokens[city] = stack[1:]
        self.passes = 0

    # -- turns and the end ---------------------------------------------------------------

    def pass_turn(self) -> None:
        """The seat can do nothing (TURN-4)."""
        self.passes += 1

    def end_turn(self) -> None:
        """The next seat's turn, or the end (END-1, END-2, END-3)."""
        rules, order = self.rules, self.rules.order
        if self.passes >= len(order):
            self.is_over = True
            return
        for card in self.revealed:
            self.discards[card] += 1
        self.revealed = []
        if NO_CARD in self.market:
            self._fill_market()
        if self.last_turns == NOT_YET and self.cars[self.turn] <= rules.last_cars:
            self.last_turns = rules.last_turns
        if self.last_turns == 0:
            self.is_over = True
            return
        if self.last_turns > 0:
            self.last_turns -= 1
        self.turn = order[(order.index(self.turn) + 1) % len(order)]


def _random_number(seed: int, drawer: int, index: int) -> float:
    """From 0 to below 1, the same for the same arguments (a 64-bit mix as in SplitMix)."""
    number = (seed + (drawer << 32 | index) * 0x9E3779B97F4A7C15) & WORD
    number = (number ^ (number >> 30)) * 0xBF58476D1CE4E5B9 & WORD
    number = (number ^ (number >> 27)) * 0x94D049BB133111EB & WORD
    return ((number ^ (number >> 31)) >> 11) / (1 << 53)


def final_points(game: CompactGame) -> list[int]:
    """Every seat's points as if the game ended now; 0 of a seat that was removed."""
    rules, totals = game.rules, list(game.points)
    tickets_made, longest = [0] * len(totals), [0] * len(totals)
    for seat in rules.scoring:
        tickets = game.tickets[seat]
        made = tickets_at_end(game, seat)
        tickets_made[seat] = sum(made)
        for ticket, is_made in zip(tickets, made, strict=True):
            totals[seat] += ticket.points if is_made else -ticket.points
        totals[seat] += rules.station_points * (len(rules.station_costs) - len(game.stations[seat]))
        if rules.longest_bonus:
            longest[seat] = rules.measure_longest(
                [rules.measured_routes[route] for route in game.routes[seat]]
            )
    _add_bonus(totals, rules.most_tickets_bonus, tickets_made)
    _add_bonus(totals, rules.longest_bonus, longest)
    return totals


def _add_bonus(totals: list[int], bonus: int, counts: Sequence[int]) -> None:
    """Every seat with the highest count gets the bonus; nobody for none (SCORE-3, SCORE-4)."""
    most = max(counts)
    for seat, count in enumerate(counts):
        totals[seat] += bonus if count == most > 0 else 0


def tickets_at_end(game: CompactGame, seat: int) -> list[bool]:
    """Whether each ticket of the seat is made, with the best loans of its stations (STATION-3)."""
    if not game.stations[seat]:
        return tickets_made(game, seat)
    rules, cities, tickets = game.rules, game.rules.cities, game.tickets[seat]
    own = _own_ends(game, seat)
    loans = best_loans(
        own,
        [_lendable(game, seat, city, neighbour) for city, neighbour in game.stations[seat]],
        [(cities[ticket.a], cities[ticket.b], ticket.points) for ticket in tickets],
        rules.countries,
    )
    networks = Networks([*own, *((loan.a, loan.b) for loan in loans if loan)], rules.countries)
    return [networks.connects(cities[ticket.a], cities[ticket.b]) for ticket in tickets]


def tickets_made(game: CompactGame, seat: int) -> list[bool]:
    """Whether the seat's own routes make each of its tickets."""
    tickets, cities = game.tickets[seat], game.rules.cities
    if game.rules.countries:
        networks = Networks(_own_ends(game, seat), game.rules.countries)
        return [networks.connects(cities[ticket.a], cities[ticket.b]) for ticket in tickets]
    ends, network = game.rules.graph.ends, list(range(len(cities)))
    for route in game.routes[seat]:
        one, other = network[ends[route][0]], network[ends[route][1]]
        if one != other:
            network = [one if each == other else each for each in network]
    return [network[ticket.a] == network[ticket.b] for ticket in tickets]


def _own_ends(game: CompactGame, seat: int) -> list[tuple[str, str]]:
    ends, cities = game.rules.graph.ends, game.rules.cities
    return [(cities[ends[route][0]], cities[ends[route][1]]) for route in game.routes[seat]]


def _lendable(game: CompactGame, seat: int, city: int, neighbour: int) -> list[Loan]:
    """Routes of other seats into the city: from the neighbour that was named, or from any."""
    graph, cities = game.rules.graph, game.rules.cities
    loans = list[Loan]()
    for other, routes in enumerate(game.routes):
        for route in routes if other != seat else ():
            a, b = graph.ends[route]
            if city in (a, b) and neighbour in (NOWHERE, a, b):
                loans.append(Loan(graph.routes[route].id, cities[a], cities[b]))
    return loans
