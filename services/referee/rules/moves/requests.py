"""Asking for cards, where there is no market (CARD-6, END-2)."""

from __future__ import annotations

from collections.abc import Sequence

from schemas.commands import RequestCards
from schemas.events import CardsGiven, RequestUnmet
from schemas.field_types import Seat
from services.referee.rules.moves.turns import end_game, end_turn
from services.referee.rules.ruleset import Facts, Move
from services.referee.rules.table import Table

GIVEN = 2


def request_offers(table: Table, seat: Seat) -> Sequence[RequestCards]:
    return (_REQUEST,)


def request_cards(table: Table, seat: Seat, command: RequestCards) -> Facts:
    """The next two cards, or none: a round in which nobody got any and nothing else happened
    ends the game."""
    if len(table.deck) >= GIVEN:
        yield CardsGiven(seat, tuple(table.deck[: -GIVEN - 1 : -1]))
    else:
        yield RequestUnmet(seat)
    if table.passed.issuperset(table.playing):
        yield from end_game(table, "no change")
    else:
        yield from end_turn(table, seat)


_REQUEST = RequestCards()

REQUEST_CARDS = Move(RequestCards, request_offers, request_cards)
