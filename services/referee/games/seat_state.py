"""The state of one seat: who has it, its clock, how it left; and the game's own part of it."""

from __future__ import annotations

from copy import deepcopy
from typing import Final, Generic
from typing import TypeVar as PlainTypeVar

from typing_extensions import TypeVar

from schemas.game_options import ExitReason
from schemas.registry import OfItsGame

OwnSeatT = TypeVar("OwnSeatT", default=OfItsGame)  # the game's own part of a seat

Own = PlainTypeVar("Own")


def copied(own: Own) -> Own:
    """A copy of a game's own part that shares nothing mutable with it: by its method `copy`, where it has one."""
    copy = getattr(own, "copy", None)
    duplicate: Own = deepcopy(own) if copy is None else copy()
    return duplicate


SEAT_FIELDS: Final = (
    "age",
    "clock_ms",
    "contribution",
    "deadline_ms",
    "exit_reason",
    "freed_at_ms",
    "is_seated",
    "kind",
    "name",
    "name_commitment",
    "own",
    "policy",
    "seat_secret",
    "times_freed",
)


class SeatState(Generic[OwnSeatT]):
    """One seat of a game. Changed only by the appliers."""

    __slots__ = SEAT_FIELDS

    own: OwnSeatT  # the hand and all else, as the game itself describes it

    def __init__(self, kind: str = "", name: str = "", policy: str | None = None) -> None:
        self.kind, self.name, self.policy = kind, name, policy
        self.name_commitment: str | None = None  # to the name, which is empty where it isn't known
        self.is_seated = False
        self.times_freed = 0  # before the start, by the host
        self.freed_at_ms = 0  # like `at_ms`: when it was freed last
        self.age: int | None = None
        self.seat_secret: str | None = None
        self.contribution: str | None = None  # to the game's shuffle key
        self.clock_ms = 0
        self.deadline_ms: int | None = None  # like `at_ms`: when the time for its last pending choice ends
        self.exit_reason: ExitReason | None = None

    def copy(self) -> SeatState[OwnSeatT]:
        """A copy that shares no mutable part with this one."""
        duplicate: SeatState[OwnSeatT] = SeatState(self.kind, self.name, self.policy)
        duplicate.own = copied(self.own)
        duplicate.age = self.age
        duplicate.clock_ms = self.clock_ms
        duplicate.contribution = self.contribution
        duplicate.deadline_ms = self.deadline_ms
        duplicate.exit_reason = self.exit_reason
        duplicate.freed_at_ms, duplicate.times_freed = self.freed_at_ms, self.times_freed
        duplicate.is_seated = self.is_seated
        duplicate.name_commitment = self.name_commitment
        duplicate.seat_secret = self.seat_secret
        return duplicate
