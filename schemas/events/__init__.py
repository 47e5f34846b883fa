"""Events: facts, in the past tense. What happened can't be refused, changed or undone.

Every event has a public face, and some know more than the public may: a field may be
private to the event's seat, or secret until the game is over. `seen_by` (in the rules)
turns such a field face down for everybody else: a card becomes null, a row of cards a
row of as many nulls, so that counts stay public and contents don't.
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
    ChoiceLaid,
    Contributor,
    DeckKnown,
    DeckLaid,
    DeckShuffled,
    GameCreated,
    GameForked,
    GameStarted,
    HandDealt,
    HandLaid,
    MomentLaid,
    PlayResumed,
    PositionLaid,
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
    "BY_CODE",
    "CardDrawn",
    "CardsGiven",
    "ChoiceLaid",
    "CommandRefused",
    "Contributor",
    "DeckKnown",
    "DeckLaid",
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
    | GameForked | MomentLaid | ChoiceLaid | DeckKnown | PlayResumed
)  # fmt: skip

EVENTS: Final[tuple[type[Event], ...]] = union_members(Event, EVENT_REGISTRY.classes)

SCHEMAS: Final[dict[str, Schema[Event]]] = {cls.type: Schema(cls, cls.type) for cls in EVENTS}
FIELDS: Final[dict[type[Event], tuple[str, ...]]] = {cls: field_names(cls) for cls in EVENTS}
BY_CODE: Final[dict[int, type[Event]]] = {cls.code: cls for cls in EVENTS}


def write_event(event: Event) -> dict[str, object]:
    """An event as a JSON object with its type first: the form of the web edge and of replays."""
    written: dict[str, object] = SCHEMAS[event.type].write(event)
    return {"type": event.type, **written}
