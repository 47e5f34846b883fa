"""Which committed slot every card of a hidden pile has, as cards come and go.

A pile is a list of runs of slots, the top first: `(epoch, first, end)`. The referee tracks the piles to
know which card a salt belongs to, a viewer to know which leaf a card must have; both from the same
events, since it is public how many cards move. docs/reference/proof.md numbers the epochs. An event declares what it
draws off the deck, and what else it moves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple, TypeAlias

from schemas.contract import PileMove
from schemas.events import Event
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
        if event.draws:
            names = names_of(event)
            return PileChange((), self.take(CARD_PILE, len(names)), names, owner_of(event))
        move = event.piles
        return None if move is None else self._move(event, move)

    def _move(self, event: Event, move: PileMove) -> PileChange | None:
        names: CardNames = getattr(event, move.cards)
        pile = getattr(event, move.pile) if move.pile else CARD_PILE
        if move.how == "taken":
            taken = [slot for each in pile for slot in self.take(each, 1)]
            return PileChange((), taken, names, owner_of(event))
        if move.how == "returned":
            place = getattr(event, "to", "top")
            if place not in (
                "top",
                "bottom",
            ):  # what is shuffled in gets its slots from the shuffle that follows
                return None
            self.returned_count += 1
            epoch = FIRST_RETURNED_EPOCH + self.returned_count - 1
            added = self.add(pile, epoch, len(names), on_top=place == "top")
            return PileChange(added, (), names, owner_of(event))
        if move.how == "laid":
            self.laid_count += 1
            epoch = FIRST_LAID_EPOCH + self.laid_count - 1
        else:
            self.shuffle_count += 1
            epoch = self.shuffle_count - 1
        if move.how != "under":
            self.runs[pile] = []
        return PileChange(self.add(pile, epoch, len(names)), (), names, None, is_hidden=True)

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


def names_of(event: Event) -> CardNames:
    """The names of what an event moves between a pile and one seat, as that seat sees them. Raises
    LookupError for any other event."""
    field = event.draws or (event.piles and event.piles.cards)
    if not field:
        raise LookupError(f"{event.type} moves no cards")
    cards: CardNames | str | None = getattr(event, field)
    return (cards,) if cards is None or isinstance(cards, str) else cards
