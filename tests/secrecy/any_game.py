"""Twins of any game, from what a viewer's own fold hides, so that a game needs nothing of its own to pass the gate.

A twin exchanges hidden values between the places where the viewer sees none. It stays as it is where the stretch
of the game ahead shows a value, and it is dealt again until it decides that stretch alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from random import Random
from typing import Any, Final, NamedTuple

from schemas.commands import CommandEnvelope
from schemas.events import CommandRefused, DeckShuffled, Event, SeedRevealed
from schemas.field_types import HIDDEN, Seat
from schemas.registry import MadeOnce
from schemas.stored.rows import event_to_row
from schemas.trains.events import DeckRecreated
from services.referee.games import (
    GameState,
    UnloggedRejectionError,
    decide_envelope,
    evolve,
    legal,
    redact_for,
    views,
)
from services.referee.games.state import STATE_FIELDS
from tests.rules.given import SEED, full_state, own_names, owns_of, values_in, vars_of

DECLARED: Final = MadeOnce(views._make_redactor)  # which a planted leak doesn't change
TRIES: Final = 12  # deals, before a twin is the state itself


class Knowledge:
    """What one viewer was shown, as its own fold."""

    def __init__(self, viewer: Seat | None, view: GameState | None = None) -> None:
        self.viewer, self.view = viewer, view or GameState()

    def apply(self, event: Event) -> None:
        if (shown := redact_for(self.viewer, event)) is not None:
            evolve(self.view, shown)

    def copy(self) -> Knowledge:
        return Knowledge(self.viewer, self.view.copy())


class Decided(NamedTuple):
    """A command, when it came, and whether it was accepted; None: it left no entry."""

    envelope: CommandEnvelope
    now: int
    is_accepted: bool | None


class Future:
    """What a viewer will have seen of a state after the commands that follow."""

    def __init__(self, viewer: Seat | None, decided: Sequence[Decided], events: Sequence[Event]) -> None:
        self.viewer, self.decided = viewer, tuple(decided)
        self.pinned = frozenset(values_in(rows_shown(viewer, events)))
        self.seed = any(isinstance(event, SeedRevealed) for event in events)
        self.shuffles = self.seed or any(isinstance(e, DeckShuffled | DeckRecreated) for e in events)

    @property
    def key(self) -> object:
        """Two futures of one state with the same key have the same twins."""
        return self if self.decided else (self.pinned, self.seed, self.shuffles)

    def comes_to(self, state: GameState) -> bool:
        """Whether the state accepts and refuses the commands of others as the first one did."""
        branch = state.copy()
        return all(
            decided.envelope.seat == self.viewer or verdict == decided.is_accepted
            for decided in self.decided
            for verdict in [verdict_on(branch, decided)]
        )


def verdict_on(state: GameState, decided: Decided) -> bool | None:
    try:
        return is_accepted(decide_envelope(state, decided.envelope, decided.now, SEED))
    except UnloggedRejectionError:
        return None


def is_accepted(events: Sequence[Event]) -> bool | None:
    return not isinstance(events[0], CommandRefused) if events else None


def twin(state: GameState, known: Knowledge, ahead: Future, rng: Random) -> GameState:
    """A state with that future which differs from this one in all that the viewer won't have seen."""
    other = state.copy()
    if ahead.seed:
        return other
    for _ in range(TRIES):
        dealt = redealt(state, known.view, ahead.pinned, rng)
        if ahead.comes_to(dealt):
            other = dealt
            break
    for seat, seat_state in enumerate(other.seats):
        if seat != known.viewer and seat_state.seat_secret:
            seat_state.seat_secret = rng.randbytes(32).hex()
    if not ahead.shuffles:
        other.seed, other.shuffle_key = rng.randbytes(32).hex(), rng.randbytes(32).hex()
    return other


class Place(NamedTuple):
    """Where a hidden value lies: values of one field and one type may lie in each other's places."""

    kind: tuple[str, type]
    value: Any
    put: Callable[[Any], None]


def redealt(state: GameState, view: GameState, pinned: frozenset[object], rng: Random) -> GameState:
    """A copy whose hidden values, but for those that are pinned, lie in each other's places."""
    other, places, rows = state.copy(), list[Place](), list[list[Any]]()
    for own, shown in zip(owns_of(other), owns_of(view), strict=True):
        for name in own_names(own):
            real, seen = getattr(own, name), getattr(shown, name)
            if isinstance(real, list) and HIDDEN in seen:
                rows += [real] * (real == sorted(real, key=str))
                places += hidden_in(name, real, seen)
            elif seen is HIDDEN and isinstance(real, int | str):
                places.append(Place((name, type(real)), real, partial(setattr, own, name)))
    free = [place for place in places if place.value not in pinned]
    for kind in dict.fromkeys(place.kind for place in free):
        alike = [place for place in free if place.kind == kind]
        for place, value in zip(alike, rng.sample([each.value for each in alike], len(alike)), strict=True):
            place.put(value)
    for row in rows:
        row.sort(key=str)
    return other


def hidden_in(name: str, real: list[Any], seen: list[Any]) -> Iterator[Place]:
    """The places of a row whose values the viewer doesn't know, wherever it has those that it knows."""
    known = [value for value in seen if value is not HIDDEN]
    for index, value in enumerate(real):
        if value in known:
            known.remove(value)
        else:
            yield Place((name, type(value)), value, partial(real.__setitem__, index))


def lookalike(
    state: GameState, envelope: CommandEnvelope, events: Sequence[Event], ahead: Future, rng: Random
) -> CommandEnvelope:
    """Another legal command of the same seat with events that look the same to the viewer, where nothing follows."""
    if envelope.seat is None or len(ahead.decided) > 1:
        return envelope
    commands = legal(state, envelope.seat)
    for command in rng.sample(commands, min(len(commands), 3)):
        other, now = replace(envelope, command=command), ahead.decided[0].now
        try:
            decided = decide_envelope(state.copy(), other, now, SEED)
        except UnloggedRejectionError:
            continue
        if rows_shown(ahead.viewer, decided) == rows_shown(ahead.viewer, events):
            return other
    return envelope


def rows_shown(viewer: Seat | None, events: Sequence[Event]) -> list[object]:
    """What the viewer may be shown of the events by what they declare, whatever the server shows."""
    shown: list[object] = []
    for event in events:
        redactor, row = DECLARED[type(event)], event_to_row(event)
        is_whole = redactor is None or (viewer is not None and redactor.owner_of(event) == viewer)
        shown.append(row if is_whole or redactor is None else redactor.redact_row(row))
    return shown


def visible_state(state: GameState, viewer: Seat | None) -> dict[str, Any]:
    """The whole state, with the rows of words and the secrets of others replaced by their numbers."""
    visible = full_state(state) | {"seed": None, "shuffle_key": None}
    for name in visible.keys() - {*STATE_FIELDS}:
        visible[name] = counted(visible[name])
    for seat, fields in enumerate(visible["seats"]):
        if seat != viewer:
            fields.update({name: counted(fields[name]) for name in own_names(state.seats[seat].own)})
            fields["seat_secret"] = None
    return visible


def counted(value: object) -> object:
    """The number of a row's words; any other value itself."""
    is_row = isinstance(value, list) and all(isinstance(each, str) for each in value)
    return len(value) if is_row and isinstance(value, list) else value


def hidden_state(state: GameState) -> object:
    """All that the game has of its own."""
    return [vars_of(own) for own in owns_of(state)]
