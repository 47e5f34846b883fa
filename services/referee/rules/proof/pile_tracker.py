"""Which committed slot every card of a hidden pile has, as cards come and go.

A pile is a list of runs of slots, the top first: `(epoch, first, end)`. The referee tracks the piles to
know which card a salt belongs to, a viewer to know which leaf a card must have; both from the same
events, since it is public how many cards move. docs/proof.md numbers the epochs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import Final, NamedTuple, TypeAlias

from schemas.events import (
    CardDrawn,
    CardsGiven,
    DeckLaid,
    DeckRecreated,
    DeckShuffled,
    Event,
    HandDealt,
    HandReturned,
    MarketFilled,
    TicketsLaid,
    TicketsOffered,
    TicketsReturned,
    TicketsShuffled,
    TunnelRevealed,
)  # fmt: skip
from schemas.registry import OfItsKey

CARD_PILE: Final = ""  # the pile of cards; a pile of tickets has its deck's name
FIRST_LAID_EPOCH: Final = 1 << 32  # the first epoch of piles that a position lays
FIRST_RETURNED_EPOCH: Final = 1 << 33  # the first epoch of tickets and hands that are given back

CardSlot: TypeAlias = tuple[int, int]  # epoch, position
SlotRun: TypeAlias = tuple[int, int, int]  # epoch, first position, end
CardNames: TypeAlias = Sequence[str | None]
PileState: TypeAlias = tuple[int, int, int, dict[str, list[SlotRun]]]


class PileChange(NamedTuple):
    """Cards that one event put into a pile or took from it, and who gets their salts."""

    added: Sequence[CardSlot]
    removed: Sequence[CardSlot]
    names: CardNames  # of the added or removed cards; None for a hidden card
    salt_recipient: int | None  # a seat; None for everybody
    is_hidden: bool = False  # nobody gets them


class PileTracker:
    """Every hidden pile of one game. It packs into plain values."""

    __slots__ = ("laid_count", "returned_count", "runs", "shuffle_count")

    def __init__(self) -> None:
        self.shuffle_count = self.laid_count = self.returned_count = 0
        self.runs: dict[str, list[SlotRun]] = {}

    @classmethod
    def from_state(cls, state: PileState) -> PileTracker:
        """The tracker that `state` was taken from, by `to_state`."""
        pile_tracker = cls()
        (
            pile_tracker.shuffle_count,
            pile_tracker.laid_count,
            pile_tracker.returned_count,
            pile_tracker.runs,
        ) = state
        return pile_tracker

    def to_state(self) -> PileState:
        """All of it in plain values, which `from_state` restores."""
        return self.shuffle_count, self.laid_count, self.returned_count, self.runs

    def apply(self, event: Event) -> PileChange | None:
        """Apply an event; returns what it moved into a pile or from one, None if nothing."""
        applier = PILE_APPLIERS.get(event.__class__)
        return applier(self, event) if applier else None

    # -- in and out ------------------------------------------------------------------------

    def add(self, pile: str, epoch: int, count: int, *, on_top: bool = False) -> list[CardSlot]:
        """Put so many cards under a pile, or on top of it; returns their slots, the top first."""
        runs = self.runs.setdefault(pile, [])
        if count:
            runs.insert(0 if on_top else len(runs), (epoch, 0, count))
        return [(epoch, position) for position in range(count)]

    def take(self, pile: str, count: int) -> list[CardSlot]:
        """Take so many from the top; returns their slots. Raises LookupError if the pile has fewer."""
        runs = self.runs[pile]
        slots: list[CardSlot] = []
        while len(slots) < count:
            epoch, first, end = runs.pop(0)
            cut = min(end, first + count - len(slots))
            slots += [(epoch, position) for position in range(first, cut)]
            if cut < end:
                runs.insert(0, (epoch, cut, end))
        return slots

    def next_shuffle_epoch(self) -> int:
        """The epoch of the next shuffle of the play."""
        self.shuffle_count += 1
        return self.shuffle_count - 1

    def next_laid_epoch(self) -> int:
        """The epoch of the next pile that a position or a fork lays."""
        self.laid_count += 1
        return FIRST_LAID_EPOCH + self.laid_count - 1

    def next_returned_epoch(self) -> int:
        """The epoch of the next tickets or cards that a seat gives back."""
        self.returned_count += 1
        return FIRST_RETURNED_EPOCH + self.returned_count - 1


def names_of(event: Event) -> CardNames:
    """The cards or tickets that an event moves between a pile and one seat, as that seat sees them. Raises
    LookupError for any other event."""
    return NAMES_OF_MOVED[event.__class__](event)


def _deck_shuffled(pile_tracker: PileTracker, event: DeckShuffled) -> PileChange:
    added = pile_tracker.add(CARD_PILE, pile_tracker.next_shuffle_epoch(), len(event.order))
    return PileChange(added, (), event.order, None, is_hidden=True)


def _deck_recreated(pile_tracker: PileTracker, event: DeckRecreated) -> PileChange:
    pile_tracker.runs[CARD_PILE] = []
    added = pile_tracker.add(CARD_PILE, pile_tracker.next_shuffle_epoch(), len(event.order))
    return PileChange(added, (), event.order, None, is_hidden=True)


def _tickets_shuffled(pile_tracker: PileTracker, event: TicketsShuffled) -> PileChange:
    pile_tracker.runs[event.deck] = []
    added = pile_tracker.add(event.deck, pile_tracker.next_shuffle_epoch(), len(event.order))
    return PileChange(added, (), event.order, None, is_hidden=True)


def _deck_laid(pile_tracker: PileTracker, event: DeckLaid) -> PileChange:
    pile_tracker.runs[CARD_PILE] = []
    return PileChange(
        pile_tracker.add(CARD_PILE, pile_tracker.next_laid_epoch(), len(event.order)),
        (),
        event.order,
        None,
        is_hidden=True,
    )


def _tickets_laid(pile_tracker: PileTracker, event: TicketsLaid) -> PileChange:
    pile_tracker.runs[event.deck] = []
    added = pile_tracker.add(event.deck, pile_tracker.next_laid_epoch(), len(event.order))
    return PileChange(added, (), event.order, None, is_hidden=True)


def _cards_dealt(pile_tracker: PileTracker, event: HandDealt | CardsGiven) -> PileChange:
    return PileChange((), pile_tracker.take(CARD_PILE, len(event.cards)), event.cards, event.seat)


def _card_drawn(pile_tracker: PileTracker, event: CardDrawn) -> PileChange:
    return PileChange((), pile_tracker.take(CARD_PILE, 1), (event.card,), event.seat)


def _market_filled(pile_tracker: PileTracker, event: MarketFilled) -> PileChange:
    return PileChange((), pile_tracker.take(CARD_PILE, len(event.cards)), event.cards, None)


def _tunnel_revealed(pile_tracker: PileTracker, event: TunnelRevealed) -> PileChange:
    return PileChange((), pile_tracker.take(CARD_PILE, len(event.revealed)), event.revealed, None)


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


PILE_APPLIERS: Final[Mapping[type[Event], Callable[[PileTracker, OfItsKey], PileChange | None]]] = {
    DeckShuffled: _deck_shuffled,
    DeckRecreated: _deck_recreated,
    TicketsShuffled: _tickets_shuffled,
    DeckLaid: _deck_laid,
    TicketsLaid: _tickets_laid,
    HandDealt: _cards_dealt,
    CardsGiven: _cards_dealt,
    CardDrawn: _card_drawn,
    MarketFilled: _market_filled,
    TunnelRevealed: _tunnel_revealed,
    TicketsOffered: _tickets_offered,
    TicketsReturned: _tickets_returned,
    HandReturned: _hand_returned,
}
NAMES_OF_MOVED: Final[Mapping[type[Event], Callable[[OfItsKey], CardNames]]] = {
    HandDealt: attrgetter("cards"),
    CardsGiven: attrgetter("cards"),
    CardDrawn: lambda event: (event.card,),
    TicketsOffered: attrgetter("tickets"),
    TicketsReturned: attrgetter("tickets"),
    HandReturned: attrgetter("cards"),
}
