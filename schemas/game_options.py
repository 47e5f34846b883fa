"""The options that every game has: seats, the order of turns, clocks, play-offs and conduct.

A game that has more declares a class of its own that begins with these. A log's first event records all
of them, so a replay never depends on today's defaults.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from schemas.contract import contract
from schemas.field_types import Bool, Int

ExitReason = Literal["left", "out of time", "removed"]


@contract()
class GameOptions:
    """Options of one game. Times are milliseconds; None is 'no such limit'."""

    seats_least: Annotated[Int, Field(ge=1, le=8)] = 2
    seats_most: Annotated[Int, Field(ge=1, le=8)] = 8
    order: Literal["seated", "age", "youngest"] = (
        "seated"  # of the turns: by seat, or the oldest or youngest first
    )
    play_off: Annotated[Int, Field(ge=0, le=9)] = (
        0  # best of so many new games for a shared first place; 0: none
    )
    clock_ms: Annotated[Int, Field(ge=1, le=604_800_000)] | None = None  # per seat, whole game
    # three days, so that every started game ends even if players stay away (P10)
    move_ms: Annotated[Int, Field(ge=1, le=2_592_000_000)] | None = (
        259_200_000  # from when a seat is waited for
    )
    strict: Bool = False  # an illegal command removes its seat (CONDUCT-2)
    refusals_kept: Annotated[Int, Field(ge=1, le=1000)] = (
        20  # per seat and turn; past it, answered but not kept
    )
