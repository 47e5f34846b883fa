"""Who may see what. Every event answers for every viewer; nothing else filters anything."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from schemas.codec import Row, VisibilitySplit, event_to_row
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


def redact_for(viewer: Seat | None, event: Event) -> Event | None:
    """The event as this viewer may see it (None is a spectator): the event itself where it
    hides nothing from the viewer, else the same event with what is hidden turned face
    down, or None for an event that the viewer may not know of at all."""
    redact = REDACTORS.get(event.__class__)
    if redact is None:
        return event
    owner = getattr(event, "seat", _NO_OWNER)
    return event if owner == viewer and viewer is not None else redact(event)


def split_by_visibility(events: Sequence[Event]) -> VisibilitySplit:
    """An entry's events split into what all, one seat, and nobody may know."""
    public: list[Row | None] = []
    private: dict[int, dict[int, Row]] = {}
    secret: dict[int, Row] = {}
    for index, event in enumerate(events):
        redacted = redact_for(None, event)
        public.append(event_to_row(redacted) if redacted is not None else None)
        if redacted is event:
            continue
        owner: Seat | None = getattr(event, "seat", None)
        if owner is None:
            secret[index] = event_to_row(event)
        else:
            private.setdefault(owner, {})[index] = event_to_row(event)
    return VisibilitySplit(tuple(public), private, secret)


def _hide_all(items: Sequence[object]) -> tuple[None, ...]:
    return (HIDDEN,) * len(items)


def _redact_refusal(event: CommandRefused) -> CommandRefused | None:
    return event if event.seat is None else None


_NO_OWNER: Final = -1

REDACTORS: Final[Mapping[type[Event], Callable[[Any], Event | None]]] = {
    SeedSealed: lambda e: SeedSealed(e.commitment, e.given, HIDDEN),
    SeatTaken: lambda e: replace(e, luck=HIDDEN) if e.luck else e,
    DeckShuffled: lambda e: DeckShuffled(_hide_all(e.order), e.root),
    TicketsShuffled: lambda e: TicketsShuffled(e.deck, _hide_all(e.order), e.root),
    HandDealt: lambda e: HandDealt(e.seat, _hide_all(e.cards)),
    CardDrawn: lambda e: CardDrawn(e.seat, HIDDEN),
    TicketsOffered: lambda e: TicketsOffered(e.seat, e.decks, _hide_all(e.tickets), e.least),
    TicketsKept: lambda e: TicketsKept(e.seat, _hide_all(e.kept)),
    TicketsReturned: lambda e: TicketsReturned(e.seat, e.deck, e.to, _hide_all(e.tickets)),
    TicketsNamed: lambda e: TicketsNamed(e.seat, HIDDEN),
    CardsGiven: lambda e: CardsGiven(e.seat, _hide_all(e.cards)),
    DeckLaid: lambda e: DeckLaid(_hide_all(e.order)),
    TicketsLaid: lambda e: TicketsLaid(e.deck, _hide_all(e.order)),
    HandLaid: lambda e: HandLaid(e.seat, _hide_all(e.cards), _hide_all(e.tickets)),
    ChoiceLaid: lambda e: ChoiceLaid(e.seat, _hide_all(e.offer), e.least, e.named, HIDDEN),
    DeckKnown: lambda e: DeckKnown(e.seat, e.deck, _hide_all(e.order)),
    CommandRefused: _redact_refusal,
}
