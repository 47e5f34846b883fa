"""In which order a game tells its facts: what is told once, what before the first card, what at the end.

The rules see to that by themselves. Who only watches, or holds a log, sees with this that nobody told a
fact that settles chance a second time, once the contributions were known.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from schemas.events import (
    CommandRefused,
    Event,
    GameCreated,
    GameEnded,
    GameForked,
    GameStarted,
    SeatTaken,
    SeedRevealed,
    SeedSealed,
)
from schemas.field_types import Seat
from services.referee.rules.rulesets import EDITIONS
from services.referee.rules.setup.fork import LAYING
from services.referee.rules.shuffle import commitment_of


class Course:
    """How far one game has come. Raises nothing: whatever is wrong is said."""

    __slots__ = ("commitment", "free", "over", "revealed", "sealed", "started")

    def __init__(self) -> None:
        self.sealed = False  # its rules are of an edition whose entries prove something
        self.commitment: str | None = None  # to the seed
        self.free: set[Seat] = set()
        self.started = self.over = self.revealed = False

    def follow(self, number: int, events: Sequence[Event]) -> str:
        """Take on an entry; what it tells that has no place there, or nothing."""
        if self.over:
            return "It comes after the game's end."
        if number == 1 and [type(event) for event in events[:2]] != [GameCreated, SeedSealed]:
            return "It doesn't begin with the game's creation and its seed."
        for place, event in enumerate(events):
            if why := self._wrong(number, place, event):
                return why
        if self.sealed and self.over != self.revealed:
            return "The game ends without telling its seed, or tells it before it ends."
        return ""

    def _wrong(self, number: int, place: int, event: Event) -> str:
        if isinstance(event, GameCreated | SeedSealed):
            return self._laid(event) if number == 1 and place < 2 else f"It tells of {_name(event)} again."
        if isinstance(event, (GameForked, *LAYING)):
            return "" if number == 1 else f"It tells of {_name(event)}, which only a game's first entry does."
        if isinstance(event, SeatTaken):
            return self._taken(event)
        if isinstance(event, GameStarted):
            return self._start()
        if isinstance(event, SeedRevealed):
            return self._reveal(event)
        self.over = self.over or isinstance(event, GameEnded)
        if self.started or isinstance(event, CommandRefused):
            return ""
        return f"It tells of {_name(event)} before the game has started."

    def _laid(self, event: GameCreated | SeedSealed) -> str:
        if isinstance(event, SeedSealed):
            self.commitment = event.commitment
            return ""
        edition = EDITIONS.get((event.ruleset, event.rules))
        self.sealed = edition is None or edition.dealing.sealed
        self.free = set(range(len(event.seats)))
        return ""

    def _taken(self, event: SeatTaken) -> str:
        if self.started or event.seat not in self.free:
            return f"It tells of seat {event.seat}'s taking, which isn't free any more."
        self.free.remove(event.seat)
        return ""

    def _start(self) -> str:
        if self.started or self.free:
            return "The game starts again, or before every seat is taken."
        self.started = True
        return ""

    def _reveal(self, event: SeedRevealed) -> str:
        self.revealed = True
        with suppress(ValueError, TypeError):
            if commitment_of(event.seed) == self.commitment:
                return ""
        return "The seed that is told isn't the one that was committed to."


def _name(event: Event) -> str:
    return event.type.replace("_", " ")
