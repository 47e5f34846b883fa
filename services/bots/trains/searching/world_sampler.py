"""Worlds that look the same to a seat: everything that it can't see, dealt afresh.

Only the seat's own hand, tickets and offer, the public part, and the numbers of others' cards and tickets are read. In a
view, cards that another seat took face up and still holds are known too; of the referee's own state nothing hidden is read.
Tickets of others are as likely as their routes make them (`ticket_odds`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import islice
from math import exp, log
from random import Random
from typing import Final

from schemas.field_types import Seat
from services.bots.trains.planning.board_graph import UNREACHABLE, TicketEnds, least_costs
from services.bots.trains.searching.compact_game import CLOSED, FREE, NO_CARD, NOT_YET, NOWHERE, CompactGame
from services.bots.trains.searching.compact_rules import KINDS, CompactRules
from services.referee.games.trains.train_state import TrainGame

START_TICKETS: Final = 2  # at least, of another seat that hasn't chosen yet
NO_LIMIT: Final = 1_000


class WorldSampler:
    """Deals worlds that this seat's view allows."""

    def __init__(self, state: TrainGame, seat: Seat, rules: CompactRules) -> None:
        self._game = public_part(state, rules)
        self._unseen, self._missing = _unseen_cards(self._game, state, seat)
        self._deck_size = len(state.own.deck)
        viewer, ends = state.seats[seat].own, ticket_ends(state, rules)
        seen = {*viewer.tickets, *viewer.offer}
        self._game.tickets[seat] = [ends[str(name)] for name in viewer.tickets]
        self._tickets = [each for name, each in ends.items() if name not in seen]
        self._others = {
            other: _ticket_count(state, other) for other in range(len(state.seats)) if other != seat
        }
        self._decks = _TicketDecks(state, rules, self._tickets, seat)
        self._odds = {other: self._find_odds(other) for other in self._others}

    def _find_odds(self, other: int) -> list[float]:
        odds = ticket_odds(self._game, other, self._tickets)
        return [
            each * self._decks.shares[ticket.deck] for each, ticket in zip(odds, self._tickets, strict=True)
        ]

    def sample(self, chance: Random) -> CompactGame:
        """A world; `chance` alone decides which, and draws in it later."""
        game = self._game.copy()
        game.seed = chance.getrandbits(64)
        self._deal_cards(game, chance)
        self._deal_tickets(game, chance)
        return game

    def _deal_cards(self, game: CompactGame, chance: Random) -> None:
        cards, deck = self._unseen[:], [0] * game.rules.kind_count
        chance.shuffle(cards)
        for other, count in enumerate(self._missing):
            for _ in range(count):
                game.hands[other][cards.pop()] += 1
        for card in cards[: self._deck_size]:
            deck[card] += 1
        game.deck = deck

    def _deal_tickets(self, game: CompactGame, chance: Random) -> None:
        left, room = list(range(len(self._tickets))), self._decks.room[:]
        for other, count in self._others.items():
            left = _draw_by_odds(left, self._odds[other], chance.random)
            held = self._decks.first(self._tickets, left, count, room)
            game.tickets[other] = [self._tickets[index] for index in held]
            left = [index for index in left if index not in held]
        drawn = game.rules.tickets_drawn  # of other decks nothing is drawn any more: they stay empty
        left = [index for index in left if drawn[self._tickets[index].deck]]
        chance.shuffle(left)
        for index in left:
            deck = self._tickets[index].deck
            if len(game.ticket_decks[deck]) < self._decks.sizes[deck]:
                game.ticket_decks[deck].append(self._tickets[index])


class _TicketDecks:
    """The public part of the decks of tickets, by number."""

    def __init__(
        self, state: TrainGame, rules: CompactRules, unseen: Sequence[TicketEnds], seat: Seat
    ) -> None:
        table = state.own
        options, decks = state.rule_options, list(table.ticket_decks)
        self.sizes = [len(row) for row in table.ticket_decks.values()]
        counts = Counter(ticket.deck for ticket in unseen)
        # so many of a deck aren't in it: others have them, or they are out of the game
        unasked = sum(
            not (each.own.start_tickets_chosen or each.own.offer or each.exit_reason)
            for other, each in enumerate(state.seats)
            if other != seat
        )
        self.room = [counts[deck] - size + START_TICKETS * unasked for deck, size in enumerate(self.sizes)]
        # of a deck from which nothing is drawn later a seat has at most what it was offered at the start
        self._limits = [
            NO_LIMIT if options.draw_tickets.get(deck) else options.start_tickets.get(deck, 0)
            for deck in decks
        ]
        # where all are offered as many of each deck, a ticket of a small deck is offered more often
        totals = Counter(ticket.deck for ticket in table.board.tickets.values())
        self.shares = [
            1.0 if options.start_named else options.start_tickets.get(deck, 0) / max(1, totals[deck]) or 1.0
            for deck in decks
        ]

    def first(
        self, tickets: Sequence[TicketEnds], indices: Sequence[int], count: int, room: list[int]
    ) -> list[int]:
        """The first `count` of these tickets that one seat can hold. `room` is what all can, less those taken."""
        limits, held = self._limits[:], list[int]()
        for index in indices:
            if len(held) == count:
                break
            deck = tickets[index].deck
            if room[deck] > 0 and limits[deck] > 0:
                room[deck] -= 1
                limits[deck] -= 1
                held.append(index)
        rest = (index for index in indices if index not in held)
        return held + list(islice(rest, count - len(held)))


def ticket_ends(state: TrainGame, rules: CompactRules) -> dict[str, TicketEnds]:
    """The tickets of the game's decks by their ids."""
    table = state.own
    city, decks = rules.graph.city_index, list(table.ticket_decks)
    return {
        name: TicketEnds(city[ticket.a], city[ticket.b], ticket.points, decks.index(ticket.deck))
        for name, ticket in table.board.tickets.items()
        if ticket.deck in decks
    }


def _ticket_count(state: TrainGame, seat: Seat) -> int:
    """How many tickets the seat has, or will have once it has chosen."""
    each = state.seats[seat]
    if each.own.start_tickets_chosen or each.exit_reason:
        return len(each.own.tickets)
    return max(START_TICKETS, state.rule_options.start_keep)


def _draw_by_odds(indices: list[int], odds: Sequence[float], random: Callable[[], float]) -> list[int]:
    """The indices in the order of a weighted draw, by exponential waiting times."""
    waits = {index: -log(1.0 - random()) / odds[index] for index in indices}
    return sorted(indices, key=waits.__getitem__)


def _unseen_cards(game: CompactGame, state: TrainGame, seat: Seat) -> tuple[list[int], list[int]]:
    """Put the hands that the seat knows into the game. Returns the unseen cards, and how many of them are in each hand."""
    hands = [known_hand(state, seat, other) for other in range(len(state.seats))]
    kinds, shares = KINDS[: game.rules.kind_count], game.rules.card_shares
    unseen: Counter[str | None] = Counter(state.rule_options.cards)
    table = state.own
    unseen.subtract(table.discards)
    unseen.subtract(card for card in table.market if card is not None)
    unseen.subtract(table.tunnel.revealed if table.tunnel else ())
    for other, hand in enumerate(hands):
        unseen.subtract(dict[str | None, int](hand))
        game.hands[other] = [hand[kind] for kind in kinds]
    cards = [kinds.index(kind) for kind in kinds for _ in range(unseen[kind])]
    missing = [each.own.cards - hand.total() for each, hand in zip(state.seats, hands, strict=True)]
    hidden = len(table.deck) + sum(missing)
    while len(cards) < hidden:  # a position may have more cards than the rules; nobody knows of which kinds
        cards += [kind for kind, share in enumerate(shares) if share]
    return cards, missing


def known_hand(state: TrainGame, viewer: Seat, seat: Seat) -> Counter[str]:
    """The cards of a seat's hand that the viewer knows; of another's those taken face up and not paid since."""
    hand = state.seats[seat].own.hand
    if seat == viewer:
        return Counter({str(card): count for card, count in hand.items() if count > 0})
    if not is_view(state):
        return Counter()
    known = Counter({str(card): count for card, count in hand.items() if card is not None and count > 0})
    return known if known.total() <= state.seats[seat].own.cards else Counter()


def is_view(state: TrainGame) -> bool:
    """Whether this is the fold of a seat's view: only the referee's state has the key of the shuffles."""
    return not state.shuffle_key


# -- what all see ----------------------------------------------------------------------------


def public_part(state: TrainGame, rules: CompactRules) -> CompactGame:
    """The game without hands, tickets and decks. `state` is a seat's view or more."""
    game, city = CompactGame(rules, len(state.seats)), rules.graph.city_index
    _read_routes(game, state)
    for seat, seat_state in enumerate(state.seats):
        game.cars[seat] = seat_state.own.cars
        game.points[seat] = seat_state.own.merchandise + sum(
            rules.graph.points[route] for route in game.routes[seat]
        )
        game.passengers_left[seat] = seat_state.own.passengers_left
        game.stations[seat] = [
            (city[place], NOWHERE if neighbour is None else city[neighbour])
            for place, neighbour in seat_state.own.stations.items()
        ]
    table = state.own
    game.passenger_owners = {city[place]: owner for place, owner in table.passenger_owners.items()}
    game.tokens = {city[place]: stack for place, stack in table.tokens.items()}
    game.market = [NO_CARD if card is None else KINDS.index(card) for card in table.market]
    game.discards = [table.discards.get(kind, 0) for kind in KINDS[: rules.kind_count]]
    game.revealed = [KINDS.index(card) for card in table.tunnel.revealed] if table.tunnel else []
    game.ticket_decks = [[] for _ in table.ticket_decks]
    _read_turns(game, state)
    return game


def _read_routes(game: CompactGame, state: TrainGame) -> None:
    """Read the owners of routes, in the order of their claims, and the closed routes (DOUBLE-2)."""
    index = game.rules.graph.route_index
    for seat, seat_state in enumerate(state.seats):
        game.routes[seat] = [index[name] for name in seat_state.own.routes]
    table = state.own
    for name, seat in table.route_owners.items():
        game.owners[index[name]] = seat
    open_routes = {index[name] for names in table.open_routes.values() for name in names}
    for route, owner in enumerate(game.owners):
        if owner == FREE and route not in open_routes:
            game.owners[route] = CLOSED


def _read_turns(game: CompactGame, state: TrainGame) -> None:
    order = game.rules.order
    game.turn = order[0] if state.turn is None else state.turn
    table = state.own
    game.last_turns = len(table.seats_with_last_turn) if table.in_last_turns else NOT_YET
    game.passes = len(table.seats_passed.intersection(order))


# -- which tickets others hold ---------------------------------------------------------------

# Fitted (a multinomial logit) to games of planners on the board `usa`, each at several moments.
PER_END: Final = 1.95  # for each city of the ticket to which one of its routes leads
PER_WAY: Final = 1.2  # for the share of the way that is done
PER_POINT: Final = 0.06  # long tickets are kept rather
# These two in proportion to the cars that the seat has used: with few routes there is little to see.
WHEN_MADE: Final = 1.9  # for a ticket that is made
PER_MISSING_CAR: Final = -0.15
MOST_MISSING: Final = 20.0  # cars


def ticket_odds(game: CompactGame, seat: int, tickets: Sequence[TicketEnds]) -> list[float]:
    """By ticket how likely the seat holds it, by the routes that all see it own. The sum is any number."""
    graph, owners = game.rules.graph, game.owners
    lengths = [float(length) for length in graph.lengths]
    costs = [
        0.0 if owner == seat else length if owner == FREE else UNREACHABLE
        for owner, length in zip(owners, lengths, strict=True)
    ]
    cities = {city for route in game.routes[seat] for city in graph.ends[route]}
    laid = sum([lengths[route] for route in game.routes[seat]], 0.0)
    used = laid / max(1.0, laid + game.cars[seat])
    starts = {ticket.a for ticket in tickets}
    all_before = {start: least_costs(graph, lengths, start) for start in starts}
    all_missing = {start: least_costs(graph, costs, start) for start in starts}
    odds = list[float]()
    for ticket in tickets:
        before, missing = all_before[ticket.a][ticket.b], all_missing[ticket.a][ticket.b]
        ends = (ticket.a in cities) + (ticket.b in cities)
        way = max(0.0, 1 - missing / before) if before else 0.0
        late = WHEN_MADE if missing == 0 else PER_MISSING_CAR * min(missing, MOST_MISSING)
        odds.append(exp(PER_END * ends + PER_WAY * way + PER_POINT * ticket.points + used * late))
    return odds
