"""Events, in the past tense: what happened can't be refused, changed or undone.

Each declares who may know what it holds (schemas/contract.py): a field may be private to a seat, or
secret until the game is over. `redact_for` (services/referee/rules/views.py) hides it from all others.

A new event is declared in one of the modules here and in the union `Event` below, with an applier
(services/referee/rules/appliers) and a sentence (services/text/events.py); importing these without one of
them fails, naming the event.
"""

from __future__ import annotations

from typing import Final, TypeAlias

from schemas.contract import EVENT_REGISTRY, Schema, field_names
from schemas.events.ending import (
    CommandRefused,
    EndReason,
    GameEnded,
    LastTurnsBegan,
    PlayOffCalled,
    PlayOffEnded,
    SeatCleared,
    SeatGone,
    SeatScore,
    SeedRevealed,
    TicketsShown,
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
from schemas.registry import union_members

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
    "TunnelDeclined",
    "TunnelRevealed",
    "TurnStarted",
    "write_event",
]

Event: TypeAlias = (
    GameCreated | SeedSealed | SeatTaken | GameStarted | DeckShuffled | TicketsShuffled | HandDealt | MarketFilled
    | MarketFlushed | TicketsOffered | TicketsKept | TicketsReturned | TurnStarted | CardDrawn
    | MarketCardTaken | RouteClaimed | Passed | LastTurnsBegan | SeatGone | SeatCleared | TicketsShown | GameEnded
    | CommandRefused | TicketsNamed | TunnelRevealed | TunnelDeclined | RevealedDiscarded | StationBuilt
    | PassengerPlaced | PassengerMoved | CardsGiven | RequestUnmet | PositionLaid | DeckLaid | TicketsLaid
    | HandLaid | PlayOffCalled | PlayOffEnded | MixAsked | SeedRevealed
    | GameForked | MomentLaid | ChoiceLaid | DeckKnown | PlayResumed | DeckRecreated | HandReturned
    | AccessSet | SeatFreed
)  # fmt: skip

EVENTS: Final[tuple[type[Event], ...]] = union_members(Event, EVENT_REGISTRY.classes)

SCHEMAS: Final[dict[str, Schema[Event]]] = {cls.type: Schema(cls, cls.type) for cls in EVENTS}
FIELDS: Final[dict[type[Event], tuple[str, ...]]] = {cls: field_names(cls) for cls in EVENTS}
BY_CODE: Final[dict[int, type[Event]]] = {cls.code: cls for cls in EVENTS}


def write_event(event: Event) -> dict[str, object]:
    """An event as a JSON object with its type first: the form of the web edge and of replays."""
    written: dict[str, object] = SCHEMAS[event.type].write(event)
    return {"type": event.type, **written}
