"""A whole game as lists of numbers, for rollouts: the rules of `usa`, about a hundred times as fast.

The referee stays the judge: tests/bots/test_compact_game.py plays random games on both and compares every
state. A ruleset with any other part isn't known here (`knows_rules`). No command is checked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from schemas.field_types import COLORS, LOCOMOTIVE
from services.bots.planning.board_graph import BoardGraph, graph_of
from services.referee.rules import GameState
from services.referee.rules.board import GRAY
from services.referee.rules.rulesets.usa import USA
from services.referee.rules.search.longest_trail import longest_trail

KINDS: Final = (*COLORS, LOCOMOTIVE)  # of cards, by number
WILD: Final = len(COLORS)  # the number of the locomotive
ANY_COLOUR: Final = len(COLORS)  # of a gray route
NO_CARD: Final = -1  # a gap in the market
FREE: Final = -1  # the owner of a route that can be claimed
CLOSED: Final = -2  # of one whose parallel is taken (DOUBLE-2)
NOT_YET: Final = -1  # of last turns


class TicketEnds(NamedTuple):
    """A ticket by the numbers of its cities."""

    a: int
    b: int
    points: int


class CompactRules(NamedTuple):
    """What stays the same in a game; routes and cities by number."""

    graph: BoardGraph
    colours: tuple[int, ...]  # by route
    parallels: tuple[tuple[int, ...], ...]  # by route
    order: tuple[int, ...]  # of the turns
    closes_parallels: bool
    flush_count: int  # of locomotives; 0 for never
    flush_most: int
    last_cars: int
    longest_bonus: int
    most_tickets_bonus: int
    tickets_drawn: int
    least_kept: int


class CompactGame:
    """One game in play, that the caller owns: turns are played by its methods. Tickets are by number.

    `shuffle` puts a list of cards into another order."""

    __slots__ = (
        "cars", "deck", "discards", "hands", "is_over", "last_turns", "market", "owners", "passes", "points",
        "routes", "rules", "shuffle", "ticket_deck", "tickets", "turn",
    )  # fmt: skip

    def __init__(self, rules: CompactRules, shuffle: Callable[[list[int]], None]) -> None:
        seats = len(rules.order)
        self.rules, self.shuffle = rules, shuffle
        self.owners = [FREE] * len(rules.colours)
        self.hands = [[0] * len(KINDS) for _ in range(seats)]
        self.cars, self.points = [0] * seats, [0] * seats
        self.tickets: list[list[TicketEnds]] = [[] for _ in range(seats)]
        self.routes: list[list[int]] = [[] for _ in range(seats)]
        self.market: list[int] = []
        self.deck: list[int] = []  # the top is the last
        self.discards = [0] * len(KINDS)
        self.ticket_deck: list[TicketEnds] = []  # the top is the last
        self.turn = 0
        self.last_turns = NOT_YET  # how many are still to be begun
        self.passes = 0  # in a row
        self.is_over = False

    # -- cards -------------------------------------------------------------------------

    def has_cards(self) -> bool:
        """Whether a card can be drawn from the deck."""
        return bool(self.deck) or any(self.discards)

    def draw_blind(self) -> None:
        """A card from the deck, which must not be empty for good."""
        if not self.deck:
            self._rebuild_deck()
        self.hands[self.turn][self.deck.pop()] += 1
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

    def _rebuild_deck(self) -> None:
        cards = [kind for kind, count in enumerate(self.discards) for _ in range(count)]
        self.shuffle(cards)
        self.deck[:0] = cards
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
        if len(self.deck) < len(gaps) and any(self.discards):
            self._rebuild_deck()
            rebuilt = 1
        filled = gaps[: len(self.deck)]
        for slot in filled:
            self.market[slot] = self.deck.pop()
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


def _add_bonus(totals: list[int], bonus: int, counts: Sequence[int]) -> None:
    """Every seat with the highest count gets the bonus; nobody for none (SCORE-3, SCORE-4)."""
    for seat, count in enumerate(counts):
        totals[seat] += bonus if count == max(counts) > 0 else 0


def knows_rules(state: GameState) -> bool:
    """Whether this game's rules are those of rollouts: the parts of `usa`, with options that change no rule."""
    ruleset, options = state.ruleset, state.rule_options
    is_known = (
        {move for moves in ruleset.moves.values() for move in moves}
        <= {move for moves in USA.moves.values() for move in moves}
        and ruleset.rebuild_deck is USA.rebuild_deck
        and ruleset.may_flush is USA.may_flush
        and ruleset.measure_longest is USA.measure_longest
        and ruleset.find_payable_routes is USA.find_payable_routes
    )
    return (
        is_known
        and options.points_at_once
        and options.last_turns == "all"
        and not options.parallel_owned
        and len(options.draw_tickets) == 1
        and not options.pair_tickets
        and set(options.flush) <= {LOCOMOTIVE}
        and set(options.cards) <= set(KINDS)
        and not state.board.countries
        and not any(fare.locomotives for fare in state.board.fares)
        and all(seat_state.exit_reason is None for seat_state in state.seats)
    )


def compact_rules(state: GameState) -> CompactRules:
    """The rules of this game, which `knows_rules` accepts."""
    graph, options = graph_of(state.board, state.rule_options), state.rule_options
    return CompactRules(
        graph,
        tuple(ANY_COLOUR if route.color == GRAY else COLORS.index(route.color) for route in graph.routes),
        tuple(tuple(graph.route_index[name] for name in route.parallels) for route in graph.routes),
        state.turn_order,
        state.closes_parallels,
        options.flush.get(LOCOMOTIVE, 0),
        options.flush_most,
        options.last_cars,
        options.longest_bonus,
        options.most_tickets_bonus,
        next(iter(options.draw_tickets.values())),
        options.draw_keep,
    )


def public_part(state: GameState, rules: CompactRules, shuffle: Callable[[list[int]], None]) -> CompactGame:
    """The game with everything that all see: no hands, no tickets, no decks. `state` is a seat's view or more."""
    game, index = CompactGame(rules, shuffle), rules.graph.route_index
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
