"""Asking for cards, where there is no market (CARD-6, END-2)."""

from __future__ import annotations

from collections.abc import Sequence

from schemas.field_types import Seat
from schemas.trains.commands import RequestCards
from schemas.trains.events import CardsGiven, RequestUnmet
from services.referee.games.play_off import end_game
from services.referee.games.state import EventStream, Move
from services.referee.games.trains.moves.turns import end_turn
from services.referee.games.trains.train_state import TrainGame

CARDS_PER_REQUEST = 2


def request_offers(state: TrainGame, seat: Seat) -> Sequence[RequestCards]:
    """The request, always: asking for cards is never refused (CARD-6)."""
    return (_REQUEST,)


def request_cards(state: TrainGame, seat: Seat, command: RequestCards) -> EventStream:
    """The next two cards, or none (CARD-6). A round in which nobody got any and nothing else happened
    ends the game (END-2)."""
    table = state.own
    if len(table.deck) >= CARDS_PER_REQUEST:
        yield CardsGiven(seat, tuple(table.deck[: -CARDS_PER_REQUEST - 1 : -1]))
    else:
        yield RequestUnmet(seat)
    if table.seats_passed.issuperset(state.active_seats):
        yield from end_game(state, "no change")
    else:
        yield from end_turn(state, seat)


_REQUEST = RequestCards()

REQUEST_CARDS = Move(RequestCards, request_offers, request_cards)
