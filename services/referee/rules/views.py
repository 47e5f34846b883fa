"""Who may see what. Every event answers for every viewer; nothing else filters anything."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from schemas.codec import Faces, Row, event_row
from schemas.events import (
    CardDrawn,
    CardsGiven,
    ChoiceLaid,
    CommandRefused,
    DeckKnown,
    DeckLaid,
    DeckShuffled,
    Event,
    HandDealt,
    HandLaid,
    SeatTaken,
    SeedSealed,
    TicketsKept,
    TicketsLaid,
    TicketsNamed,
    TicketsOffered,
    TicketsReturned,
    TicketsShuffled,
)  # fmt: skip
from schemas.field_types import HIDDEN, Seat


def seen_by(viewer: Seat | None, event: Event) -> Event | None:
    """The event as this viewer may see it (None is a spectator): the event itself where it
    hides nothing from the viewer, else the same event with what is hidden turned face
    down, or None for an event that the viewer may not know of at all."""
    turn_down = HIDING.get(event.__class__)
    if turn_down is None:
        return event
    owner = getattr(event, "seat", _NOBODY)
    return event if owner == viewer and viewer is not None else turn_down(event)


def faces(events: Sequence[Event]) -> Faces:
    """An entry's events split into what all, one seat, and nobody may know."""
    public: list[Row | None] = []
    private: dict[int, dict[int, Row]] = {}
    secret: dict[int, Row] = {}
    for place, event in enumerate(events):
        shown = seen_by(None, event)
        public.append(event_row(shown) if shown is not None else None)
        if shown is event:
            continue
        owner: Seat | None = getattr(event, "seat", None)
        if owner is None:
            secret[place] = event_row(event)
        else:
            private.setdefault(owner, {})[place] = event_row(event)
    return Faces(tuple(public), private, secret)


def _down(row: Sequence[object]) -> tuple[None, ...]:
    return (HIDDEN,) * len(row)


def _refused(event: CommandRefused) -> CommandRefused | None:
    return event if event.seat is None else None


_NOBODY: Final = -1

HIDING: Final[Mapping[type[Event], Callable[[Any], Event | None]]] = {
    SeedSealed: lambda e: SeedSealed(e.commitment, e.given, HIDDEN),
    SeatTaken: lambda e: replace(e, luck=HIDDEN) if e.luck else e,
    DeckShuffled: lambda e: DeckShuffled(_down(e.order), e.root),
    TicketsShuffled: lambda e: TicketsShuffled(e.deck, _down(e.order), e.root),
    HandDealt: lambda e: HandDealt(e.seat, _down(e.cards)),
    CardDrawn: lambda e: CardDrawn(e.seat, HIDDEN),
    TicketsOffered: lambda e: TicketsOffered(e.seat, e.decks, _down(e.tickets), e.least),
    TicketsKept: lambda e: TicketsKept(e.seat, _down(e.kept)),
    TicketsReturned: lambda e: TicketsReturned(e.seat, e.deck, e.to, _down(e.tickets)),
    TicketsNamed: lambda e: TicketsNamed(e.seat, HIDDEN),
    CardsGiven: lambda e: CardsGiven(e.seat, _down(e.cards)),
    DeckLaid: lambda e: DeckLaid(_down(e.order)),
    TicketsLaid: lambda e: TicketsLaid(e.deck, _down(e.order)),
    HandLaid: lambda e: HandLaid(e.seat, _down(e.cards), _down(e.tickets)),
    ChoiceLaid: lambda e: ChoiceLaid(e.seat, _down(e.offer), e.least, e.named, HIDDEN),
    DeckKnown: lambda e: DeckKnown(e.seat, e.deck, _down(e.order)),
    CommandRefused: _refused,
}
