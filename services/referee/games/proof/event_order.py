"""The legal order of a game's events: which come once, which before the first card, which at the end.

The rules themselves keep this order. A viewer, or an audit of a log, checks with it that no event that
determines the randomness was repeated after the contributions were known.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

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
        name = event.type.replace("_", " ")
        match event:
            case GameCreated() | SeedSealed() if sequence != 1 or index > 1:
                return f"It has the event {name} again."
            case GameCreated(seats=seats):
                self.free_seats = set(range(len(seats)))
            case SeedSealed(commitment=commitment):
                self.seed_commitment = commitment
            case SeatTaken(seat=seat):
                if self.started or seat not in self.free_seats:
                    return f"It takes seat {seat}, which isn't free any more."
                self.free_seats.remove(seat)
            case SeatFreed(seat=seat):
                if self.started or seat in self.free_seats:
                    return f"It frees seat {seat}, which is free already, or whose cards are dealt."
                self.free_seats.add(seat)
            case GameStarted():
                if self.started or self.free_seats:
                    return "The game starts again, or before every seat is taken."
                self.started = True
            case SeedRevealed(seed=seed):
                self.seed_revealed = True
                if not self._is_committed(seed):
                    return "The seed that is revealed isn't the one that was committed to."
            case _:
                return self._find_violation_in_play(sequence, name, event)
        return ""

    def _find_violation_in_play(self, sequence: int, name: str, event: Event) -> str:
        """All other events come after the start, but for those of the first entry, and refusals."""
        self.game_ended = self.game_ended or isinstance(event, GameEnded)
        if event.lays or isinstance(event, AccessSet | GameForked):
            return "" if sequence == 1 else f"It has the event {name}, which only a game's first entry has."
        if self.started or isinstance(event, CommandRefused):
            return ""
        return f"It has the event {name} before the game has started."

    def _is_committed(self, seed: str) -> bool:
        with suppress(ValueError, TypeError):
            return commit_to_seed(seed) == self.seed_commitment
        return False
