"""The deck and the market: reshuffles, gaps and flushes (CARD-4, MARKET-2)."""

from __future__ import annotations

from collections.abc import Generator

from schemas.events import DeckShuffled, Event, MarketFilled, MarketFlushed
from services.referee.rules.ruleset import Facts
from services.referee.rules.shuffle import in_order
from services.referee.rules.table import Table


def cards_left(table: Table) -> bool:
    """Whether a card can still come from the deck, reshuffled if need be."""
    return bool(table.deck) or any(table.discards.values())


def shuffle_deck(table: Table) -> Facts:
    """The discards, shuffled, go under what is left of the deck."""
    order = table.rules.dealing.order(table, in_order(table.discards.items()))
    yield DeckShuffled(order, table.rules.dealing.root(table, order))


def ready_deck(table: Table, cards: int) -> Facts:
    """Shuffle the discards in if the deck has fewer cards than are wanted."""
    if len(table.deck) < cards and any(table.discards.values()):
        yield from shuffle_deck(table)


def fill_market(table: Table) -> Facts:
    """Fill every gap; flush while too many of a kind lie open, five times in a row at most.

    A market where no card is turned up stays as it is, so that one which five flushes have
    left alone is not flushed again until it changes."""
    flushes = 0
    while (yield from fill_gaps(table)) and flushes < table.figures.flush_most and flush_due(table):
        yield MarketFlushed()
        flushes += 1


def fill_gaps(table: Table) -> Generator[Event, None, bool]:
    """Turn up cards into the gaps; whether any could be."""
    gaps = [slot for slot, card in enumerate(table.market) if card is None]
    if len(table.deck) < len(gaps):
        yield from ready_deck(table, len(gaps))
    fillable = gaps[: len(table.deck)]
    if fillable:
        top = table.deck[: -len(fillable) - 1 : -1]
        yield MarketFilled(tuple(fillable), tuple(top))  # type: ignore[arg-type]  # known to the referee
    return bool(fillable)


def flush_due(table: Table) -> bool:
    return any(table.market.count(kind) >= count for kind, count in table.figures.flush.items())
