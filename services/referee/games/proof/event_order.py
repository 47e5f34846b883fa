"""The legal order of a game's events: which come once, which before the first card, which at the end.

The rules themselves keep this order. A viewer, or an audit of a log, checks with it that no event that
determines the randomness was repeated after the contributions were known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Final

from schemas.events import (
    AccessSet,
    CommandRefused,
    Event,
    GameCreated,
    GameEnded,
    GameForked,
    GameStarted,
    SeatFreed,
    SeatTaken,
    SeedRevealed,
    SeedSealed,
)
from schemas.field_types import Seat
from schemas.registry import OfItsKey
from services.referee.games.shuffle import commit_to_seed


class EventOrder:
    """The progress of one game through its legal order. Violations are returned as sentences, never raised."""

    __slots__ = ("free_seats", "game_ended", "seed_commitment", "seed_revealed", "started")

    def __init__(self) -> None:
        self.seed_commitment: str | None = None  # to the seed
        self.free_seats: set[Seat] = set()
        self.started = self.game_ended = self.seed_revealed = False

    def check(self, sequence: int, events: Sequence[Event]) -> str:
        """Apply the events of an entry, numbered from 1. Returns what is out of order there; "" if nothing is."""
        if self.game_ended:
            return "It comes after the game's end."
        if sequence == 1 and [type(event) for event in events[:2]] != [GameCreated, SeedSealed]:
            return "It doesn't begin with the game's creation and its seed."
        for index, event in enumerate(events):
            if violation := self._find_violation(sequence, index, event):
                return violation
        if self.game_ended != self.seed_revealed:
            return "The game ends without revealing its seed, or reveals it before it ends."
        return ""

    def _find_violation(self, sequence: int, index: int, event: Event) -> str:
        if (check := _CHECKS.get(event.__class__)) is not None:
            return check(self, sequence, index, event)
        if event.lays:
            return self._check_first_entry(sequence, index, event)
        return "" if self.started else f"It has the event {_event_name(event)} before the game has started."

    def _check_opening(self, sequence: int, index: int, event: GameCreated | SeedSealed) -> str:
        if sequence != 1 or index > 1:
            return f"It has the event {_event_name(event)} again."
        return self._check_creation(event)

    def _check_first_entry(self, sequence: int, _: int, event: Event) -> str:
        return (
            ""
            if sequence == 1
            else f"It has the event {_event_name(event)}, which only a game's first entry has."
        )

    def _check_refusal(self, *_: object) -> str:
        return ""

    def _check_end(self, sequence: int, index: int, event: GameEnded) -> str:
        self.game_ended = True
        return "" if self.started else f"It has the event {_event_name(event)} before the game has started."

    def _check_creation(self, event: GameCreated | SeedSealed) -> str:
        if isinstance(event, SeedSealed):
            self.seed_commitment = event.commitment
            return ""
        self.free_seats = set(range(len(event.seats)))
        return ""

    def _check_seat_taken(self, _: int, __: int, event: SeatTaken) -> str:
        if self.started or event.seat not in self.free_seats:
            return f"It takes seat {event.seat}, which isn't free any more."
        self.free_seats.remove(event.seat)
        return ""

    def _check_seat_freed(self, _: int, __: int, event: SeatFreed) -> str:
        if self.started or event.seat in self.free_seats:
            return f"It frees seat {event.seat}, which is free already, or whose cards are dealt."
        self.free_seats.add(event.seat)
        return ""

    def _check_start(self, *_: object) -> str:
        if self.started or self.free_seats:
            return "The game starts again, or before every seat is taken."
        self.started = True
        return ""

    def _check_seed_revealed(self, _: int, __: int, event: SeedRevealed) -> str:
        self.seed_revealed = True
        with suppress(ValueError, TypeError):
            if commit_to_seed(event.seed) == self.seed_commitment:
                return ""
        return "The seed that is revealed isn't the one that was committed to."


def _event_name(event: Event) -> str:
    return event.type.replace("_", " ")


# All other events come after the start.
_CHECKS: Final[Mapping[type[Event], Callable[[EventOrder, int, int, OfItsKey], str]]] = {
    GameCreated: EventOrder._check_opening,
    SeedSealed: EventOrder._check_opening,
    **dict.fromkeys((AccessSet, GameForked), EventOrder._check_first_entry),
    SeatTaken: EventOrder._check_seat_taken,
    SeatFreed: EventOrder._check_seat_freed,
    GameStarted: EventOrder._check_start,
    SeedRevealed: EventOrder._check_seed_revealed,
    GameEnded: EventOrder._check_end,
    CommandRefused: EventOrder._check_refusal,
}
