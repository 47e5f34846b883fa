"""Events of play that any game may have: turns."""

from __future__ import annotations

from schemas.contract import PUBLIC, EventContract, event
from schemas.field_types import Seat


@event(type="turn_started", code=12, visibility=PUBLIC, in_move="follows")
class TurnStarted(EventContract):
    seat: Seat


@event(type="passed", code=16, visibility=PUBLIC, in_move="begins")
class Passed(EventContract):
    seat: Seat
