"""How events of a train game move cards and tickets to and from hidden piles, besides those that draw off the deck."""

from __future__ import annotations

from operator import attrgetter

from schemas.trains.events import (
    DeckLaid,
    DeckRecreated,
    HandReturned,
    TicketsLaid,
    TicketsOffered,
    TicketsReturned,
    TicketsShuffled,
)
from services.referee.games.proof.pile_tracker import (
    CARD_PILE,
    NAMES_OF_MOVED,
    PILE_APPLIERS,
    CardNames,
    PileChange,
    PileTracker,
)


def _replaced(pile_tracker: PileTracker, pile: str, epoch: int, order: CardNames) -> PileChange:
    """The pile is these cards and no others, from the top, and nobody knows them."""
    pile_tracker.runs[pile] = []
    return PileChange(pile_tracker.add(pile, epoch, len(order)), (), order, None, is_hidden=True)


def _deck_recreated(pile_tracker: PileTracker, event: DeckRecreated) -> PileChange:
    return _replaced(pile_tracker, CARD_PILE, pile_tracker.next_shuffle_epoch(), event.order)


def _tickets_shuffled(pile_tracker: PileTracker, event: TicketsShuffled) -> PileChange:
    return _replaced(pile_tracker, event.deck, pile_tracker.next_shuffle_epoch(), event.order)


def _deck_laid(pile_tracker: PileTracker, event: DeckLaid) -> PileChange:
    return _replaced(pile_tracker, CARD_PILE, pile_tracker.next_laid_epoch(), event.order)


def _tickets_laid(pile_tracker: PileTracker, event: TicketsLaid) -> PileChange:
    return _replaced(pile_tracker, event.deck, pile_tracker.next_laid_epoch(), event.order)


def _tickets_offered(pile_tracker: PileTracker, event: TicketsOffered) -> PileChange:
    removed = [slot for deck in event.decks for slot in pile_tracker.take(deck, 1)]
    return PileChange((), removed, event.tickets, event.seat)


def _tickets_returned(pile_tracker: PileTracker, event: TicketsReturned) -> PileChange | None:
    """Tickets that are shuffled in get their slots from the shuffle that follows."""
    if event.to not in ("bottom", "top"):
        return None
    epoch, on_top = pile_tracker.next_returned_epoch(), event.to == "top"
    added = pile_tracker.add(event.deck, epoch, len(event.tickets), on_top=on_top)
    return PileChange(added, (), event.tickets, event.seat)


def _hand_returned(pile_tracker: PileTracker, event: HandReturned) -> PileChange:
    added = pile_tracker.add(CARD_PILE, pile_tracker.next_returned_epoch(), len(event.cards), on_top=True)
    return PileChange(added, (), event.cards, event.seat)


PILE_APPLIERS.update(
    {
        DeckRecreated: _deck_recreated,
        TicketsShuffled: _tickets_shuffled,
        DeckLaid: _deck_laid,
        TicketsLaid: _tickets_laid,
        TicketsOffered: _tickets_offered,
        TicketsReturned: _tickets_returned,
        HandReturned: _hand_returned,
    }
)
NAMES_OF_MOVED.update(
    {
        TicketsOffered: attrgetter("tickets"),
        TicketsReturned: attrgetter("tickets"),
        HandReturned: attrgetter("cards"),
    }
)
