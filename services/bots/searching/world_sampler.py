"""Worlds that look the same to a seat: everything that it can't see, dealt afresh.

Read are the seat's own hand, tickets and offer, what all see, and how many cards and tickets others have.
Cards that another seat took face up and still holds are known where the state is a view, in which
all else of its hand is HIDDEN. Nothing hidden is read even where the state holds it (the referee's own state).
"""

from __future__ import annotations

from collections import Counter
from random import Random

from schemas.field_types import Seat
from services.bots.searching.compact_game import KINDS, CompactGame, CompactRules, TicketEnds, public_part
from services.referee.rules import GameState

START_TICKETS = 2  # of another seat that hasn't chosen yet


def sample_world(state: GameState, seat: Seat, rules: CompactRules, chance: Random) -> CompactGame:
    """A game as this seat's view allows it; `chance` alone decides which, and shuffles in it later."""
    game = public_part(state, rules, chance.shuffle)
    _deal_cards(game, state, seat, chance)
    _deal_tickets(game, state, seat, chance)
    return game


def _deal_cards(game: CompactGame, state: GameState, seat: Seat, chance: Random) -> None:
    hands = {other: known_hand(state, seat, other) for other in range(len(state.seats))}
    unseen: Counter[str | None] = Counter(state.rule_options.cards)
    unseen.subtract(state.discards)
    unseen.subtract(card for card in state.market if card is not None)
    for hand in hands.values():
        unseen.subtract(dict[str | None, int](hand))
    cards = [KINDS.index(kind) for kind in KINDS for _ in range(unseen[kind])]
    missing = {other: state.seats[other].cards - hand.total() for other, hand in hands.items()}
    hidden = len(state.deck) + sum(missing.values())
    while len(cards) < hidden:  # a position may have more cards than the rules; nobody knows of which kinds
        cards += range(len(KINDS))
    chance.shuffle(cards)
    for other, hand in hands.items():
        for kind, count in hand.items():
            game.hands[other][KINDS.index(kind)] += count
        for _ in range(missing[other]):
            game.hands[other][cards.pop()] += 1
    game.deck = cards[: len(state.deck)]


def known_hand(state: GameState, viewer: Seat, seat: Seat) -> Counter[str]:
    """The cards of a seat's hand that the viewer knows: all of its own, of another what it took face up and
    hasn't paid with (of equal cards those are paid first)."""
    hand = state.seats[seat].hand
    if seat == viewer:
        return Counter({str(card): count for card, count in hand.items() if count > 0})
    if not is_view(state):
        return Counter()
    known = Counter({str(card): count for card, count in hand.items() if card is not None and count > 0})
    return known if known.total() <= state.seats[seat].cards else Counter()


def is_view(state: GameState) -> bool:
    """Whether this is the fold of a seat's view: only the referee's state has the key of the shuffles."""
    return not state.shuffle_key


def _deal_tickets(game: CompactGame, state: GameState, seat: Seat, chance: Random) -> None:
    city, viewer = game.rules.graph.city_index, state.seats[seat]
    seen = {*viewer.tickets, *viewer.offer}
    deck = next(iter(state.rule_options.draw_tickets))
    names = [name for name, ticket in state.board.tickets.items() if ticket.deck == deck and name not in seen]
    chance.shuffle(names)
    ends = {
        name: TicketEnds(city[ticket.a], city[ticket.b], ticket.points)
        for name, ticket in state.board.tickets.items()
    }
    for other, seat_state in enumerate(state.seats):
        if other == seat:
            game.tickets[other] = [ends[str(name)] for name in seat_state.tickets]
        else:
            count = len(seat_state.tickets) if seat_state.start_tickets_chosen else START_TICKETS
            game.tickets[other], names = [ends[name] for name in names[:count]], names[count:]
    game.ticket_deck = [ends[name] for name in names[: len(state.ticket_decks[deck])]]
