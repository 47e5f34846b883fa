"""The deck and the market: reshuffles, gaps and flushes (CARD-4, MARKET-2)."""

from __future__ import annotations

from collections.abc import Generator

from schemas.events import DeckShuffled, Event, MarketFilled, MarketFlushed
from services.referee.rules.ruleset import EventStream
from services.referee.rules.shuffle import in_canonical_order
from services.referee.rules.state import GameState


def has_cards_left(state: GameState) -> bool:
    """Whether a card can still come from the deck, reshuffled if need be."""
    return bool(state.deck) or any(state.discards.values())


def shuffle_deck(state: GameState) -> EventStream:
    """The discards, shuffled, go under what is left of the deck."""
    order = state.ruleset.randomness.shuffle(state, in_canonical_order(state.discards.items()))
    yield DeckShuffled(order, state.ruleset.randomness.order_root(state, order))


def ensure_deck(state: GameState, count: int) -> EventStream:
    """Shuffle the discards in if the deck has fewer cards than are wanted."""
    if len(state.deck) < count and any(state.discards.values()):
        yield from shuffle_deck(state)


def fill_market(state: GameState) -> EventStream:
    """Fill every gap; flush while too many of a kind lie open, five times in a row at most.

    A market where no card is turned up stays as it is, so that one which five flushes have
    left alone is not flushed again until it changes."""
    flushes = 0
    while (
        (yield from fill_empty_slots(state))
        and flushes < state.rule_options.flush_most
        and is_flush_due(state)
    ):
        yield MarketFlushed()
        flushes += 1


def fill_empty_slots(state: GameState) -> Generator[Event, None, bool]:
    """Turn up cards into the gaps; whether any could be."""
    empty_slots = [slot for slot, card in enumerate(state.market) if card is None]
    if len(state.deck) < len(empty_slots):
        yield from ensure_deck(state, len(empty_slots))
    fillable_slots = empty_slots[: len(state.deck)]
    if fillable_slots:
        top_cards = state.deck[: -len(fillable_slots) - 1 : -1]
        yield MarketFilled(tuple(fillable_slots), tuple(top_cards))  # type: ignore[arg-type]  # known to the referee
    return bool(fillable_slots)


def is_flush_due(state: GameState) -> bool:
    return any(state.market.count(kind) >= count for kind, count in state.rule_options.flush.items())
