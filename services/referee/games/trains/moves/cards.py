"""Drawing train cards (CARD-1 to CARD-4), and asking for them where there is no market (CARD-6, END-2)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Final

from schemas.field_types import Seat
from schemas.refusals import CommandRefusedError
from schemas.trains.commands import DrawBlind, DrawMarket, RequestCards
from schemas.trains.events import CardDrawn, CardsGiven, MarketCardTaken, RequestUnmet
from schemas.trains.field_types import LOCOMOTIVE
from services.referee.games.play_off import end_game
from services.referee.games.state import ACTION, EventStream, Move
from services.referee.games.trains.moves.turns import end_turn, ensure_deck, fill_market, has_cards_left
from services.referee.games.trains.train_state import TrainGame


def blind_offers(state: TrainGame, seat: Seat) -> Sequence[DrawBlind]:
    """The blind draw, if a card can be drawn."""
    return _BLIND_DRAWS if state.own.deck or has_cards_left(state) else ()


def draw_blind(state: TrainGame, seat: Seat, command: DrawBlind) -> EventStream:
    """A card from the deck. Refuses with CARD-4 if there is none."""
    is_first_card = state.pending_choices[seat] == ACTION
    if not state.own.deck:
        if not has_cards_left(state):
            raise CommandRefusedError("CARD-4", "deck and discard pile are empty")
        yield from ensure_deck(state, 1)
    yield _card_drawn(seat, state.own.deck[-1])
    yield from continue_after_card(state, seat, is_first_card)


def market_offers(state: TrainGame, seat: Seat) -> Sequence[DrawMarket]:
    """A draw from every slot that has a card; a locomotive is no second card (CARD-2)."""
    market, is_first = state.own.market, state.pending_choices[seat] == ACTION
    if None not in market and (is_first or LOCOMOTIVE not in market):
        return _SLOT_DRAWS[: len(market)]
    kept_out = (None,) if is_first else _NOT_AS_SECOND_CARD
    return [_SLOT_DRAWS[slot] for slot, card in enumerate(market) if card not in kept_out]


def draw_market(state: TrainGame, seat: Seat, command: DrawMarket) -> EventStream:
    """A face-up card by slot or kind; the gap is filled at once. Refuses with CARD-1 or CARD-2."""
    is_first_card = state.pending_choices[seat] == ACTION
    slot = command.slot
    table = state.own
    if slot is None:
        if command.color not in table.market:
            raise CommandRefusedError("CARD-1", f"no {command.color} lies face up")
        slot = table.market.index(command.color)
    card = table.market[slot] if slot < len(table.market) else None
    if card is None:
        raise CommandRefusedError("CARD-1", f"no card lies at place {slot} of the market")
    if card == LOCOMOTIVE and not is_first_card:
        raise CommandRefusedError("CARD-2", "a face-up locomotive can't be the second card")
    yield _market_card_taken(seat, slot, card)
    yield from fill_market(state)
    yield from continue_after_card(state, seat, is_first_card and card != LOCOMOTIVE)


def continue_after_card(state: TrainGame, seat: Seat, may_draw_second: bool) -> EventStream:
    """Waits for a second card if one is due and can be had; else the turn is over (CARD-1, CARD-4)."""
    has_second = may_draw_second and (
        state.own.deck
        or has_cards_left(state)
        or any(card not in _NOT_AS_SECOND_CARD for card in state.own.market)
    )
    return () if has_second else end_turn(state, seat)


_BLIND_DRAWS: Final = (DrawBlind(),)
_SLOT_DRAWS: Final = tuple(DrawMarket(slot) for slot in range(10))
_NOT_AS_SECOND_CARD: Final = (None, LOCOMOTIVE)
# Contracts never change, and there are only so many of these: each is made once.
_card_drawn: Final = cache(CardDrawn)
_market_card_taken: Final = cache(MarketCardTaken)

DRAW_BLIND = Move(DrawBlind, blind_offers, draw_blind)
DRAW_MARKET = Move(DrawMarket, market_offers, draw_market)


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
