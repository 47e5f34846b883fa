"""Which committed slot every card of a hidden pile has, as cards come and go.

A pile is a list of runs of slots, the top first: `(epoch, first, end)`. The referee tracks the piles to
know which card a salt belongs to, a viewer to know which leaf a card must have; both from the same
events, since it is public how many cards move. docs/reference/proof.md numbers the epochs. An event declares what it
draws off the deck; a game adds the appliers of its other events that move cards.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, TypeAlias

from schemas.events import DeckShuffled, Event
from schemas.registry import MadeOnce, OfItsKey
from services.referee.games.views import owner_of

CARD_PILE: Final = ""  # the deck; another pile has the name of its own deck
FIRST_LAID_EPOCH: Final = 1 << 32  # the first epoch of piles that a position lays
FIRST_RETURNED_EPOCH: Final = 1 << 33  # the first epoch of what seats give back

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
        applier = _APPLIERS[event.__class__]
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
        """The epoch of what a seat gives back next."""
        self.returned_count += 1
        return FIRST_RETURNED_EPOCH + self.returned_count - 1


def names_of(event: Event) -> CardNames:
    """The names of what an event moves between a pile and one seat, as that seat sees them. Raises
    LookupError for any other event."""
    return _drawn_names(event) if event.draws else NAMES_OF_MOVED[event.__class__](event)


def _drawn_names(event: Event) -> CardNames:
    cards: CardNames | str | None = getattr(event, event.draws)
    return (cards,) if cards is None or isinstance(cards, str) else cards


def _deck_shuffled(pile_tracker: PileTracker, event: DeckShuffled) -> PileChange:
    added = pile_tracker.add(CARD_PILE, pile_tracker.next_shuffle_epoch(), len(event.order))
    return PileChange(added, (), event.order, None, is_hidden=True)


def _cards_drawn(pile_tracker: PileTracker, event: Event) -> PileChange:
    names = _drawn_names(event)
    return PileChange((), pile_tracker.take(CARD_PILE, len(names)), names, owner_of(event))


def _applier_of(cls: type[Event]) -> PileApplier | None:
    return _cards_drawn if cls.draws else PILE_APPLIERS.get(cls)


PileApplier: TypeAlias = Callable[[PileTracker, OfItsKey], PileChange | None]
PILE_APPLIERS: Final[dict[type[Event], PileApplier]] = {DeckShuffled: _deck_shuffled}
NAMES_OF_MOVED: Final[dict[type[Event], Callable[[OfItsKey], CardNames]]] = {}
_APPLIERS: Final[MadeOnce[Event, PileApplier | None]] = MadeOnce(_applier_of)
