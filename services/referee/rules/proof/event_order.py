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
from services.referee.rules.rulesets import RULESET_VERSIONS
from services.referee.rules.setup.fork import SETUP_EVENTS
from services.referee.rules.shuffle import commit_to_seed


class EventOrder:
    """How far one game has come. Raises nothing: whatever is wrong is said."""

    __slots__ = ("free_seats", "game_ended", "sealed", "seed_commitment", "seed_revealed", "started")

    def __init__(self) -> None:
        self.sealed = False  # its rules are of an edition whose entries prove something
        self.seed_commitment: str | None = None  # to the seed
        self.free_seats: set[Seat] = set()
        self.started = self.game_ended = self.seed_revealed = False

    def check(self, sequence: int, events: Sequence[Event]) -> str:
        """Take on an entry; what it tells that has no place there, or nothing."""
        if self.game_ended:
            return "It comes after the game's end."
        if sequence == 1 and [type(event) for event in events[:2]] != [GameCreated, SeedSealed]:
            return "It doesn't begin with the game's creation and its seed."
        for index, event in enumerate(events):
            if violation := self._find_violation(sequence, index, event):
                return violation
        if self.sealed and self.game_ended != self.seed_revealed:
            return "The game ends without telling its seed, or tells it before it ends."
        return ""

    def _find_violation(self, sequence: int, index: int, event: Event) -> str:
        if isinstance(event, GameCreated | SeedSealed):
            return (
                self._check_creation(event)
                if sequence == 1 and index < 2
                else f"It tells of {_event_name(event)} again."
            )
        if isinstance(event, (GameForked, *SETUP_EVENTS)):
            return (
                ""
                if sequence == 1
                else f"It tells of {_event_name(event)}, which only a game's first entry does."
            )
        if isinstance(event, SeatTaken):
            return self._check_seat_taken(event)
        if isinstance(event, GameStarted):
            return self._check_start()
        if isinstance(event, SeedRevealed):
            return self._check_seed_revealed(event)
        self.game_ended = self.game_ended or isinstance(event, GameEnded)
        if self.started or isinstance(event, CommandRefused):
            return ""
        return f"It tells of {_event_name(event)} before the game has started."

    def _check_creation(self, event: GameCreated | SeedSealed) -> str:
        if isinstance(event, SeedSealed):
            self.seed_commitment = event.commitment
            return ""
        ruleset = RULESET_VERSIONS.get((event.ruleset, event.rules))
        self.sealed = ruleset is None or ruleset.randomness.sealed
        self.free_seats = set(range(len(event.seats)))
        return ""

    def _check_seat_taken(self, event: SeatTaken) -> str:
        if self.started or event.seat not in self.free_seats:
            return f"It tells of seat {event.seat}'s taking, which isn't free any more."
        self.free_seats.remove(event.seat)
        return ""

    def _check_start(self) -> str:
        if self.started or self.free_seats:
            return "The game starts again, or before every seat is taken."
        self.started = True
        return ""

    def _check_seed_revealed(self, event: SeedRevealed) -> str:
        self.seed_revealed = True
        with suppress(ValueError, TypeError):
            if commit_to_seed(event.seed) == self.seed_commitment:
                return ""
        return "The seed that is told isn't the one that was committed to."


def _event_name(event: Event) -> str:
    return event.type.replace("_", " ")
