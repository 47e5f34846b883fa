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


# The options of every game, each with its meaning for people who make a table.
LeastSeats = Annotated[Int, Field(ge=1, le=8, description="The fewest seats that a table may have.")]
MostSeats = Annotated[Int, Field(ge=1, le=8, description="The most seats that a table may have.")]
TurnOrder = Annotated[
    Literal["seated", "age", "youngest"],
    Field(description="Who begins: the turns go by seat, or by age from the oldest or the youngest."),
]
PlayOffGames = Annotated[
    Int,
    Field(
        ge=0,
        le=9,
        description="A shared first place is played off in the best of so many games; 0: it stays shared.",
    ),
]
ClockMs = Annotated[
    Annotated[Int, Field(ge=1, le=604_800_000)] | None,
    Field(description="Milliseconds of each seat for the whole game; null: no such limit."),
]
MoveMs = Annotated[
    Annotated[Int, Field(ge=1, le=2_592_000_000)] | None,
    Field(
        description="Milliseconds for one move; null: no such limit, and a game that nobody plays on never ends."
    ),
]
Strict = Annotated[Bool, Field(description="An illegal command removes its seat.")]
RefusalsKept = Annotated[
    Int,
    Field(ge=1, le=1000, description="Refused commands of a seat that are kept in the log, each turn."),
]


@contract()
class GameOptions:
    """Options of one game. Times are milliseconds; None is 'no such limit'."""

    seats_least: LeastSeats = 2
    seats_most: MostSeats = 8
    order: TurnOrder = "seated"
    play_off: PlayOffGames = 0
    clock_ms: ClockMs = None
    move_ms: MoveMs = (
        259_200_000  # three days, so that every started game ends even if players stay away (P10)
    )
    strict: Strict = False  # CONDUCT-2
    refusals_kept: RefusalsKept = 20
