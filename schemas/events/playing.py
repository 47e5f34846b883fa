"""Events of play that any game may have: turns."""

from __future__ import annotations

from schemas.contract import PUBLIC, EventContract, event
from schemas.field_types import Seat


@event(type="turn_started", code=12, visibility=PUBLIC)
class TurnStarted(EventContract):
    seat: Seat


@event(type="passed", code=16, visibility=PUBLIC)
class Passed(EventContract):
    seat: Seat
