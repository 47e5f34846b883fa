"""Who may see what. Every event answers for every viewer; nothing else filters anything.

Each event declares its visibility (schemas/contract.py), and its redactor follows from that. An event
that is neither declared public nor has a redactor is shown to nobody: it raises.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Final, NamedTuple, get_origin, get_type_hints

from schemas.contract import PUBLIC, WHOLE_EVENT, Private, Secret
from schemas.events import FIELDS, Event, Row
from schemas.field_types import HIDDEN, Seat
from schemas.registry import MadeOnce
from schemas.stored.rows import VisibilitySplit, event_to_row


def redact_for(viewer: Seat | None, event: Event) -> Event | None:
    """The event as this viewer may see it (None is a spectator): the event itself where it
    hides nothing from the viewer, else the same event with what is hidden turned face
    down, or None for an event that the viewer may not know of at all.

    Raises TypeError for an event that doesn't declare who may see it."""
    redactor = REDACTORS[event.__class__]
    if redactor is None or (viewer is not None and redactor.owner_of(event) == viewer):
        return event
    row = event_to_row(event)
    redacted_row = redactor.redact_row(row)
    if redacted_row is row:
        return event
    return None if redacted_row is None else event.__class__(*redacted_row[1:])


def owner_of(event: Event) -> Seat | None:
    """The seat that knows what the event hides; None where nobody does, or where it hides nothing."""
    redactor = REDACTORS[event.__class__]
    return None if redactor is None else redactor.owner_of(event)


def split_by_visibility(events: Sequence[Event]) -> VisibilitySplit:
    """An entry's events split into what all, one seat, and nobody may know. Raises as `redact_for`."""
    public: list[Row | None] = []
    private: dict[int, dict[int, Row]] = {}
    secret: dict[int, Row] = {}
    for index, event in enumerate(events):
        redactor, row = REDACTORS[event.__class__], event_to_row(event)
        redacted_row = row if redactor is None else redactor.redact_row(row)
        public.append(redacted_row)
        if redactor is None or redacted_row is row:
            continue
        owner = redactor.owner_of(event)
        if owner is None:
            secret[index] = row
        else:
            private.setdefault(owner, {})[index] = row
    return VisibilitySplit(tuple(public), private, secret)


class Redactor(NamedTuple):
    """The functions that follow from an event's declared visibility; a public one has none."""

    owner_of: Callable[[Event], Seat | None]
    redact_row: Callable[[Row], Row | None]  # the row itself where nothing is hidden


def _make_redactor(cls: type[Event]) -> Redactor | None:
    visibility = getattr(cls, "visibility", None)
    if visibility == PUBLIC:
        return None
    if not isinstance(visibility, Private | Secret):
        raise TypeError(f"{cls.__name__} doesn't declare who may see it")
    names, hints = FIELDS[cls], get_type_hints(cls)
    null = None if isinstance(visibility, Secret) else visibility.public_if_null
    null_place = 0 if null is None else names.index(null) + 1  # after the code, which is never null
    is_whole = visibility.hides == WHOLE_EVENT
    hidden = [
        (names.index(name) + 1, get_origin(hints[name]) is tuple) for name in visibility.hides if not is_whole
    ]

    def redact_row(row: Row) -> Row | None:
        if row[null_place] is None:
            return row
        if is_whole:
            return None
        redacted_row = [*row]
        for index, is_row in hidden:
            redacted_row[index] = (HIDDEN,) * len(row[index]) if is_row else HIDDEN
        return tuple(redacted_row)

    owner_of = _no_owner if isinstance(visibility, Secret) else attrgetter(visibility.owner)
    return Redactor(owner_of, redact_row)


def _no_owner(event: Event) -> None:
    """Nobody knows what a secret event hides."""


REDACTORS: Final = MadeOnce(_make_redactor)
