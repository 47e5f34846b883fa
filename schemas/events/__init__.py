"""Events, in the past tense: what happened can't be refused, changed or undone.

Each declares who may know what it holds (schemas/contract.py): a field may be private to a seat, or
secret until the game is over. `redact_for` (services/referee/games/views.py) hides it from all others.

A new event is declared here or in the folder of its game, with an applier and a sentence; a game that
lacks one of them can't be imported, and the error names the event.
"""

from __future__ import annotations

from typing import Final, TypeAlias

from schemas.contract import EVENT_REGISTRY, EventContract
from schemas.events.ending import (
    CommandRefused,
    EndReason,
    GameEnded,
    MoveUndone,
    PlayOffCalled,
    PlayOffEnded,
    Score,
    SeatCleared,
    SeatGone,
    SeatScore,
    SeedRevealed,
    UndoAnswered,
    UndoAsked,
)
from schemas.events.opening import (
    AccessSet,
    Contributor,
    DeckShuffled,
    GameCreated,
    GameForked,
    GameStarted,
    HandDealt,
    Passed,
    PlayResumed,
    SeatFreed,
    SeatTaken,
    SeedSealed,
    TurnStarted,
)

__all__ = [
    "AccessSet",
    "BY_CODE",
    "CommandRefused",
    "Contributor",
    "DeckShuffled",
    "EndReason",
    "Event",
    "FIELDS",
    "GameCreated",
    "GameEnded",
    "GameForked",
    "GameStarted",
    "MoveUndone",
    "UndoAnswered",
    "UndoAsked",
    "HandDealt",
    "Passed",
    "PlayOffCalled",
    "PlayOffEnded",
    "PlayResumed",
    "SCHEMAS",
    "Score",
    "SeatCleared",
    "SeatFreed",
    "SeatGone",
    "SeatScore",
    "SeatTaken",
    "SeedRevealed",
    "SeedSealed",
    "TurnStarted",
    "write_event",
]

Event: TypeAlias = EventContract  # of any game
SCHEMAS: Final = EVENT_REGISTRY.schemas  # by type; games that are found later add theirs
FIELDS: Final = EVENT_REGISTRY.fields
BY_CODE: Final = EVENT_REGISTRY.by_code


def write_event(event: Event) -> dict[str, object]:
    """An event as a JSON object with its type first: the form of the web edge and of replays."""
    written: dict[str, object] = SCHEMAS[event.type].write(event)
    return {"type": event.type, **written}
