"""The fold: every event is applied to the state by one small function, the same for every ruleset.

No judgement here. An event that reached the log did happen, so nothing is checked but that the log
fits the board it names. Those of events that every game has stand in `appliers`; a game that is
added must have one for each of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from schemas.events import Event
from schemas.stored.codec import unpack_for_fold
from services.referee.games.appliers import APPLIER_TABLE
from services.referee.games.state import GameState
from services.referee.games.undo import apply_noting


def evolve(state: GameState, event: Event) -> None:
    """Apply an event to a state that the caller owns."""
    if state.access.undo == "never":
        APPLIERS[type(event)](state, event)
    else:
        apply_noting(state, event, APPLIERS[type(event)])


def advance_clocks(state: GameState, at_ms: int) -> None:
    """Let the recorded time pass, on the clocks of the seats with a pending choice (CLOCK-1).

    `at_ms` is the entry's time since the game was opened. A time before the last one (a clock was set
    back) counts as no time."""
    if state.started and state.rule_options.clock_ms is not None:
        elapsed_ms = max(0, at_ms - state.at_ms)
        for seat in state.pending_choices:
            state.seats[seat].clock_ms -= elapsed_ms
    state.at_ms = max(state.at_ms, at_ms)


def fold(entries: Iterable[bytes], state: GameState | None = None) -> GameState:
    """The state after these log entries (as stored), going on from `state`, if given.

    Raises CorruptDataError for an entry that can't be read; one that the rules never wrote may raise any of
    PROGRAMMING_ERRORS."""
    state = state or GameState()
    for data in entries:
        at_ms, _, _, _, events = unpack_for_fold(data)
        fold_events(state, at_ms, events)
    return state


def fold_events(state: GameState, at_ms: int, events: Iterable[Event]) -> None:
    """Apply one entry: its time, then its events."""
    advance_clocks(state, at_ms)
    if state.access.undo != "never":
        apply_each(state, events)
        return
    for event in events:
        APPLIERS[type(event)](state, event)


def apply_each(state: GameState, events: Iterable[Event]) -> list[Event]:
    """Apply events in turn, each before the next is asked for. Returns them."""
    applied = []
    if state.access.undo == "never":  # that is set before the first move
        for event in events:
            APPLIERS[type(event)](state, event)
            applied.append(event)
        return applied
    for event in events:
        apply_noting(state, event, APPLIERS[type(event)])
        applied.append(event)
    return applied


APPLIERS: Final = APPLIER_TABLE.functions  # games add theirs when they are added
