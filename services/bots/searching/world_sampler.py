"""Worlds that look the same to a seat: everything that it can't see, dealt afresh.

Read are the seat's own hand, tickets and offer, what all see, and how many cards and tickets others have.
Cards that another seat took face up and still holds are known where the state is a view, in which
all else of its hand is HIDDEN. Nothing hidden is read even where the state holds it (the referee's own state).
Tickets of others are as likely as their routes make them (`ticket_odds`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from math import log
from random import Random
from typing import Final

from schemas.field_types import Seat
from services.bots.searching.compact_game import CompactGame, public_part
from services.bots.searching.compact_rules import KINDS, CompactRules, TicketEnds
from services.bots.searching.ticket_odds import ticket_odds
from services.referee.rules import GameState

START_TICKETS: Final = 2  # of another seat that hasn't chosen yet


class WorldSampler:
    """Deals worlds as this seat's view allows them. What is the same in all of them is worked out once."""

    def __init__(self, state: GameState, seat: Seat, rules: CompactRules) -> None:
        self._game = public_part(state, rules)
        self._unseen, self._missing = _unseen_cards(self._game, state, seat)
        self._seat, deck = seat, next(iter(state.rule_options.draw_tickets))
        self._deck_size = len(state.deck)
        self._ticket_deck_size = len(state.ticket_decks[deck])
        viewer, ends = state.seats[seat], _ends_by_name(state, rules)
        seen = {*viewer.tickets, *viewer.offer}
        self._tickets = [
            ends[name]
            for name, ticket in state.board.tickets.items()
            if ticket.deck == deck and name not in seen
        ]
        self._game.tickets[seat] = [ends[str(name)] for name in viewer.tickets]
        self._others = {
            other: len(each.tickets) if each.start_tickets_chosen else START_TICKETS
            for other, each in enumerate(state.seats)
            if other != seat
        }
        self._odds = {other: ticket_odds(self._game, other, self._tickets) for other in self._others}

    def sample(self, chance: Random) -> CompactGame:
        """A world; `chance` alone decides which, and draws in it later."""
        game = self._game.copy()
        game.seed = chance.getrandbits(64)
        self._deal_cards(game, chance)
        self._deal_tickets(game, chance)
        return game

    def _deal_cards(self, game: CompactGame, chance: Random) -> None:
        cards, deck = self._unseen[:], [0] * len(KINDS)
        chance.shuffle(cards)
        for other, count in enumerate(self._missing):
            for _ in range(count):
                game.hands[other][cards.pop()] += 1
        for card in cards[: self._deck_size]:
            deck[card] += 1
        game.deck = deck

    def _deal_tickets(self, game: CompactGame, chance: Random) -> None:
        left = list(range(len(self._tickets)))
        for other, count in self._others.items():
            left = _draw_by_odds(left, self._odds[other], chance.random)
            game.tickets[other] = [self._tickets[index] for index in left[:count]]
            del left[:count]
        chance.shuffle(left)
        game.ticket_deck = [self._tickets[index] for index in left[: self._ticket_deck_size]]


def _draw_by_odds(indices: list[int], odds: Sequence[float], random: Callable[[], float]) -> list[int]:
    """These in the order in which they are drawn, the likelier the sooner: by exponential waiting times."""
    waits = {index: -log(1.0 - random()) / odds[index] for index in indices}
    return sorted(indices, key=waits.__getitem__)


def _ends_by_name(state: GameState, rules: CompactRules) -> dict[str, TicketEnds]:
    city, tickets = rules.graph.city_index, state.board.tickets
    return {
        name: TicketEnds(city[ticket.a], city[ticket.b], ticket.points) for name, ticket in tickets.items()
    }


def _unseen_cards(game: CompactGame, state: GameState, seat: Seat) -> tuple[list[int], list[int]]:
    """Put the hands that the seat knows into the game. Returns the cards that it hasn't seen, and by seat how
    many of them are in its hand; the others are the deck."""
    hands = [known_hand(state, seat, other) for other in range(len(state.seats))]
    unseen: Counter[str | None] = Counter(state.rule_options.cards)
    unseen.subtract(state.discards)
    unseen.subtract(card for card in state.market if card is not None)
    for other, hand in enumerate(hands):
        unseen.subtract(dict[str | None, int](hand))
        game.hands[other] = [hand[kind] for kind in KINDS]
    cards = [KINDS.index(kind) for kind in KINDS for _ in range(unseen[kind])]
    missing = [each.cards - hand.total() for each, hand in zip(state.seats, hands, strict=True)]
    hidden = len(state.deck) + sum(missing)
    while len(cards) < hidden:  # a position may have more cards than the rules; nobody knows of which kinds
        cards += range(len(KINDS))
    return cards, missing


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
