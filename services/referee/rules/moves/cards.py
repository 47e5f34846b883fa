"""Drawing train cards (CARD-1 to CARD-4)."""

from __future__ import annotations

from collections.abc import Sequence

from schemas.commands import DrawBlind, DrawMarket
from schemas.events import CardDrawn, MarketCardTaken
from schemas.field_types import LOCOMOTIVE, Seat
from schemas.refusals import Refused, require
from services.referee.rules.moves.market import cards_left, fill_market, ready_deck
from services.referee.rules.moves.turns import end_turn
from services.referee.rules.ruleset import Facts, Move
from services.referee.rules.table import ACTION, Table


def blind_offers(table: Table, seat: Seat) -> Sequence[DrawBlind]:
    return (_BLIND,) if cards_left(table) else ()


def draw_blind(table: Table, seat: Seat, command: DrawBlind) -> Facts:
    first = table.awaits[seat] == ACTION
    require(cards_left(table), "CARD-4", "deck and discard pile are empty")
    yield from ready_deck(table, 1)
    yield CardDrawn(seat, table.deck[-1])
    yield from after_card(table, seat, first)


def market_offers(table: Table, seat: Seat) -> Sequence[DrawMarket]:
    if table.awaits[seat] == ACTION:
        if None not in table.market:
            return _SLOTS[: len(table.market)]
        return [_SLOTS[slot] for slot, card in enumerate(table.market) if card is not None]
    return [_SLOTS[slot] for slot, card in enumerate(table.market) if card is not None and card != LOCOMOTIVE]


def draw_market(table: Table, seat: Seat, command: DrawMarket) -> Facts:
    first = table.awaits[seat] == ACTION
    slot = command.slot
    if slot is None:
        if command.color not in table.market:
            raise Refused("CARD-1", f"no {command.color} lies face up")
        slot = table.market.index(command.color)
    card = table.market[slot] if slot < len(table.market) else None
    if card is None:
        raise Refused("CARD-1", f"no card lies at place {slot} of the market")
    require(first or card != LOCOMOTIVE, "CARD-2", "a face-up locomotive can't be the second card")
    yield MarketCardTaken(seat, slot, card)
    yield from fill_market(table)
    yield from after_card(table, seat, first and card != LOCOMOTIVE)


def after_card(table: Table, seat: Seat, more: bool) -> Facts:
    """A second card, if one is due and there is one; else the turn is over."""
    second = more and (cards_left(table) or any(card not in _NO_SECOND for card in table.market))
    if not second:
        yield from end_turn(table, seat)


_BLIND = DrawBlind()
_SLOTS = tuple(DrawMarket(slot) for slot in range(10))
_NO_SECOND = (None, LOCOMOTIVE)

DRAW_BLIND = Move(DrawBlind, blind_offers, draw_blind)
DRAW_MARKET = Move(DrawMarket, market_offers, draw_market)
