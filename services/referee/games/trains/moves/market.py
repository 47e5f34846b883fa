"""The deck and the market: reshuffles, gaps and flushes (CARD-4, MARKET-2)."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from typing import Final

from schemas.events import DeckShuffled
from schemas.trains.events import DeckRecreated, MarketFilled, MarketFlushed
from services.referee.games.shuffle import in_canonical_order
from services.referee.games.state import EventStream
from services.referee.games.trains.train_state import TrainGame


def has_cards_left(state: TrainGame) -> bool:
    """Whether a card can still be drawn blind, after a reshuffle if need be."""
    return bool(state.own.deck) or any(state.own.discards.values())


def ensure_deck(state: TrainGame, count: int) -> EventStream:
    """Rebuild the deck if it has fewer than `count` cards. It may still have fewer then."""
    if len(state.own.deck) < count and any(state.own.discards.values()):
        yield from state.ruleset.parts.rebuild_deck(state)


def fill_market(state: TrainGame) -> EventStream:
    """Fill every gap; flush while too many cards of a kind lie open, until flushes had the deck rebuilt `flush_most`
    times.

    Nothing is flushed unless a card was turned up. So a market that stayed as it was at the limit, or that
    a position began with, is not flushed before the next gap is filled (MARKET-2)."""
    epoch = None  # after the first gaps were filled: a reshuffle for these isn't one for a flush
    table = state.own
    while empty_slots := [slot for slot, card in enumerate(table.market) if card is None]:
        if len(table.deck) < len(empty_slots):
            yield from ensure_deck(state, len(empty_slots))
            empty_slots = empty_slots[: len(table.deck)]  # it may still have fewer
            if not empty_slots:
                return
        top_cards = table.deck[: -len(empty_slots) - 1 : -1]
        yield _market_filled(tuple(empty_slots), tuple(top_cards))
        if epoch is None:
            epoch = state.epoch
        if not is_flush_due(state) or state.epoch - epoch >= state.rule_options.flush_most:
            return
        yield MarketFlushed()


def is_flush_due(state: TrainGame) -> bool:
    """Whether enough cards of one kind lie open for a flush (MARKET-2)."""
    for kind, count in state.rule_options.flush.items():  # noqa: SIM110 - a generator would cost more than all of it
        if state.own.market.count(kind) >= count:
            return True
    return False


# -- parts of rulesets: how the deck is rebuilt ------------------------------------------------


def shuffle_discards_under(state: TrainGame) -> EventStream:
    """The discards are shuffled and go under what is left of the deck."""
    order = state.ruleset.randomness.shuffle(state, in_canonical_order(state.own.discards.items()))
    yield DeckShuffled(order, state.ruleset.randomness.order_root(state, order))


def shuffle_all_together(state: TrainGame) -> EventStream:
    """The rest of the deck and the discards are shuffled together."""
    cards = Counter(state.own.discards)
    cards.update(state.own.deck)
    order = state.ruleset.randomness.shuffle(state, in_canonical_order(cards.items()))
    yield DeckRecreated(order, state.ruleset.randomness.order_root(state, order))


# Contracts never change, and most of these fill one slot: the same few are made once.
_market_filled: Final = lru_cache(maxsize=1_000)(MarketFilled)
