"""A whole game as lists of numbers, for rollouts: the rules of `usa`, about a hundred times as fast.

The referee stays the judge: tests/bots/test_compact_game.py plays random games on both and compares every
state. No command is checked.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from services.bots.searching.compact_rules import KINDS, WILD, CompactRules, TicketEnds
from services.referee.rules import GameState
from services.referee.rules.search.longest_trail import longest_trail

MARKET: Final = 10  # slots at most
NO_CARD: Final = -1  # a gap in the market
FREE: Final = -1  # the owner of a route that can be claimed
CLOSED: Final = -2  # of one whose parallel is taken (DOUBLE-2)
NOT_YET: Final = -1  # of last turns
WORD: Final = (1 << 64) - 1


class CompactGame:
    """One game in play, that the caller owns: turns are played by its methods. Cards are counted by kind.

    Nobody knows the order of the deck, so each of its cards may be the next one; which one it is follows from
    `seed`, from who draws (a slot of the market, or a seat), and from how many cards that one had before. So games
    with the same seed stay as alike as they can, though they are played differently (common random numbers)."""

    __slots__ = (
        "cars",
        "deck",
        "discards",
        "drawn",
        "hands",
        "is_over",
        "last_turns",
        "market",
        "owners",
        "passes",
        "points",
        "routes",
        "rules",
        "seed",
        "ticket_deck",
        "tickets",
        "turn",
    )  # fmt: skip

    def __init__(self, rules: CompactRules, seed: int) -> None:
        seats = len(rules.order)
        self.rules, self.seed = rules, seed
        self.owners = [FREE] * len(rules.colours)
        self.hands = [[0] * len(KINDS) for _ in range(seats)]
        self.cars, self.points = [0] * seats, [0] * seats
        self.tickets: list[list[TicketEnds]] = [[] for _ in range(seats)]
        self.routes: list[list[int]] = [[] for _ in range(seats)]
        self.market: list[int] = []
        self.deck, self.drawn = [0] * len(KINDS), [0] * (MARKET + seats)  # `drawn` is by drawer
        self.discards = [0] * len(KINDS)
        self.ticket_deck: list[TicketEnds] = []  # the top is the last
        self.turn = 0
        self.last_turns = NOT_YET  # how many are still to be begun
        self.passes = 0  # in a row
        self.is_over = False

    def copy(self) -> CompactGame:
        """The same game, with the same seed."""
        copy = CompactGame(self.rules, self.seed)
        copy.owners, copy.cars, copy.points = self.owners[:], self.cars[:], self.points[:]
        copy.hands = [hand[:] for hand in self.hands]
        copy.tickets = [tickets[:] for tickets in self.tickets]
        copy.routes = [routes[:] for routes in self.routes]
        copy.market, copy.deck, copy.drawn = self.market[:], self.deck[:], self.drawn[:]
        copy.discards, copy.ticket_deck = self.discards[:], self.ticket_deck[:]
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

    def rebuild_deck(self) -> None:
        """The discards go into the deck. What was left of it should be drawn first, but is at most a few cards."""
        self.deck = [one + more for one, more in zip(self.deck, self.discards, strict=True)]
        self.discards = [0] * len(KINDS)

    def _fill_market(self) -> None:
        market, limit = self.market, self.rules.flush_count
        _, is_turned_up = self._fill_gaps()
        rebuilt = 0  # for flushes: what the first gap needed doesn't count
        while is_turned_up and limit and market.count(WILD) >= limit and rebuilt < self.rules.flush_most:
            for slot, card in enumerate(market):
                if card != NO_CARD:
                    self.discards[card] += 1
                    market[slot] = NO_CARD
            again, is_turned_up = self._fill_gaps()
            rebuilt += again

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

    # -- routes and tickets --------------------------------------------------------------

    def can_claim(self, seat: int, route: int) -> bool:
        """Whether the route is free for the seat, which may own no two parallel ones (DOUBLE-1)."""
        owners = self.owners
        return owners[route] == FREE and all(owners[other] != seat for other in self.rules.parallels[route])

    def claim(self, route: int, colour: int, wilds: int) -> None:
        """The route, for so many locomotives and the rest of the colour."""
        rules, seat = self.rules, self.turn
        length, hand = rules.graph.lengths[route], self.hands[seat]
        hand[colour] -= length - wilds
        hand[WILD] -= wilds
        self.discards[colour] += length - wilds
        self.discards[WILD] += wilds
        self.cars[seat] -= length
        self.points[seat] += rules.graph.points[route]
        self.owners[route] = seat
        self.routes[seat].append(route)
        if rules.closes_parallels:
            for other in rules.parallels[route]:
                if self.owners[other] == FREE:
                    self.owners[other] = CLOSED
        self.passes = 0

    def draw_tickets(self) -> list[TicketEnds]:
        """The tickets that are offered, the top one first."""
        drawn = self.rules.tickets_drawn
        offer, self.ticket_deck = self.ticket_deck[-drawn:][::-1], self.ticket_deck[:-drawn]
        self.passes = 0
        return offer

    def keep_tickets(self, offer: Sequence[TicketEnds], kept: Sequence[int]) -> None:
        """These of the offer are kept, the others go under the deck."""
        self.tickets[self.turn] += [offer[index] for index in kept]
        returned = [ticket for index, ticket in enumerate(offer) if index not in kept]
        self.ticket_deck[:0] = returned[::-1]

    # -- turns and the end ---------------------------------------------------------------

    def pass_turn(self) -> None:
        """The seat can do nothing (TURN-4, END-3)."""
        self.passes += 1
        if self.passes >= len(self.rules.order):
            self.is_over = True
        else:
            self.end_turn()

    def end_turn(self) -> None:
        """The next seat's turn, or the end (END-1)."""
        rules = self.rules
        if NO_CARD in self.market:
            self._fill_market()
        if self.last_turns == NOT_YET and self.cars[self.turn] <= rules.last_cars:
            self.last_turns = len(rules.order)
        if self.last_turns == 0:
            self.is_over = True
            return
        if self.last_turns > 0:
            self.last_turns -= 1
        order = rules.order
        self.turn = order[(order.index(self.turn) + 1) % len(order)]

    def final_points(self) -> list[int]:
        """Every seat's points as if the game ended now."""
        rules, totals, tickets_made = self.rules, list(self.points), list[int]()
        for seat, tickets in enumerate(self.tickets):
            networks = self.networks(seat)
            made = [networks[ticket.a] == networks[ticket.b] for ticket in tickets]
            tickets_made.append(sum(made))
            for ticket, is_made in zip(tickets, made, strict=True):
                totals[seat] += ticket.points if is_made else -ticket.points
        _add_bonus(totals, rules.most_tickets_bonus, tickets_made)
        if rules.longest_bonus:
            _add_bonus(totals, rules.longest_bonus, [self.longest_trail(seat) for seat in range(len(totals))])
        return totals

    def networks(self, seat: int) -> list[int]:
        """By city the number of the network of the seat's routes that it belongs to."""
        ends, network = self.rules.graph.ends, list(range(len(self.rules.graph.city_index)))
        for route in self.routes[seat]:
            one, other = network[ends[route][0]], network[ends[route][1]]
            if one != other:
                network = [one if each == other else each for each in network]
        return network

    def longest_trail(self, seat: int) -> int:
        """Spaces of the seat's longest trail (SCORE-3)."""
        graph = self.rules.graph
        return longest_trail(
            (str(graph.ends[route][0]), str(graph.ends[route][1]), graph.lengths[route])
            for route in self.routes[seat]
        )


def _random_number(seed: int, drawer: int, index: int) -> float:
    """From 0 to below 1, the same for the same arguments (a 64-bit mix as in SplitMix)."""
    number = (seed + (drawer << 32 | index) * 0x9E3779B97F4A7C15) & WORD
    number = (number ^ (number >> 30)) * 0xBF58476D1CE4E5B9 & WORD
    number = (number ^ (number >> 27)) * 0x94D049BB133111EB & WORD
    return ((number ^ (number >> 31)) >> 11) / (1 << 53)


def _add_bonus(totals: list[int], bonus: int, counts: Sequence[int]) -> None:
    """Every seat with the highest count gets the bonus; nobody for none (SCORE-3, SCORE-4)."""
    for seat, count in enumerate(counts):
        totals[seat] += bonus if count == max(counts) > 0 else 0


def public_part(state: GameState, rules: CompactRules, seed: int = 0) -> CompactGame:
    """The game with everything that all see: no hands, no tickets, no decks. `state` is a seat's view or more."""
    game, index = CompactGame(rules, seed), rules.graph.route_index
    for name, seat in state.route_owners.items():
        game.owners[index[name]] = seat
    open_routes = {index[name] for names in state.open_routes.values() for name in names}
    for route, owner in enumerate(game.owners):
        if owner == FREE and route not in open_routes:
            game.owners[route] = CLOSED
    for seat, seat_state in enumerate(state.seats):
        game.cars[seat], game.points[seat] = seat_state.cars, seat_state.running_score
        game.routes[seat] = [index[name] for name in seat_state.routes]
    game.market = [NO_CARD if card is None else KINDS.index(card) for card in state.market]
    game.discards = [state.discards.get(kind, 0) for kind in KINDS]
    game.turn = rules.order[0] if state.turn is None else state.turn
    game.last_turns = len(state.seats_with_last_turn) if state.in_last_turns else NOT_YET
    game.passes = len(state.seats_passed)
    return game
