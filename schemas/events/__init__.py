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
    LastTurnsBegan,
    PlayOffCalled,
    PlayOffEnded,
    Score,
    SeatCleared,
    SeatGone,
    SeatScore,
    SeedRevealed,
    TicketsShown,
    TrainScore,
)
from schemas.events.opening import (
    AccessSet,
    ChoiceLaid,
    Contributor,
    DeckKnown,
    DeckLaid,
    DeckRecreated,
    DeckShuffled,
    GameCreated,
    GameForked,
    GameStarted,
    HandDealt,
    HandLaid,
    HandReturned,
    MomentLaid,
    PlayResumed,
    PositionLaid,
    SeatFreed,
    SeatTaken,
    SeedSealed,
    TicketsLaid,
    TicketsShuffled,
)
from schemas.events.playing import (
    CardDrawn,
    CardsGiven,
    MarketCardTaken,
    MarketFilled,
    MarketFlushed,
    MixAsked,
    Passed,
    PassengerMoved,
    PassengerPlaced,
    RequestUnmet,
    RevealedDiscarded,
    RouteClaimed,
    StationBuilt,
    TicketsKept,
    TicketsNamed,
    TicketsOffered,
    TicketsReturned,
    TunnelDeclined,
    TunnelRevealed,
    TurnStarted,
)

__all__ = [
    "AccessSet",
    "BY_CODE",
    "CardDrawn",
    "CardsGiven",
    "ChoiceLaid",
    "CommandRefused",
    "Contributor",
    "DeckKnown",
    "DeckLaid",
    "DeckRecreated",
    "DeckShuffled",
    "EVENTS",
    "EndReason",
    "Event",
    "FIELDS",
    "GameCreated",
    "GameEnded",
    "GameForked",
    "GameStarted",
    "HandDealt",
    "HandLaid",
    "HandReturned",
    "LastTurnsBegan",
    "MarketCardTaken",
    "MarketFilled",
    "MarketFlushed",
    "MixAsked",
    "MomentLaid",
    "Passed",
    "PassengerMoved",
    "PassengerPlaced",
    "PlayOffCalled",
    "PlayOffEnded",
    "PlayResumed",
    "PositionLaid",
    "RequestUnmet",
    "RevealedDiscarded",
    "RouteClaimed",
    "SCHEMAS",
    "Score",
    "SeatCleared",
    "SeatFreed",
    "SeatGone",
    "SeatScore",
    "SeatTaken",
    "SeedRevealed",
    "SeedSealed",
    "StationBuilt",
    "TicketsKept",
    "TicketsLaid",
    "TicketsNamed",
    "TicketsOffered",
    "TicketsReturned",
    "TicketsShown",
    "TicketsShuffled",
    "TrainScore",
    "TunnelDeclined",
    "TunnelRevealed",
    "TurnStarted",
    "write_event",
]

Event: TypeAlias = EventContract  # of any game
EVENTS: Final = EVENT_REGISTRY.classes  # those declared here, as the published contracts have them
SCHEMAS: Final = EVENT_REGISTRY.schemas  # by type; games that are found later add theirs
FIELDS: Final = EVENT_REGISTRY.fields
BY_CODE: Final = EVENT_REGISTRY.by_code


def write_event(event: Event) -> dict[str, object]:
    """An event as a JSON object with its type first: the form of the web edge and of replays."""
    written: dict[str, object] = SCHEMAS[event.type].write(event)
    return {"type": event.type, **written}
