"""Asking the referee: a position and commands in, verdicts out. The form is a stable contract.

docs/ask.md tells it to those who write such questions, schemas/json/ to their programs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final

from pydantic import Field, PlainValidator, WithJsonSchema

from schemas.commands import PlayerCommand, read_command
from schemas.contract import Malformed, Shape, contract
from schemas.field_types import SEATS_MAX, Bool, CityId, Int, Plain, RouteId, Seat, Text, Word, plain
from schemas.positions import Position

COMMANDS_MOST: Final = 1000
BOARD_TEXT_MOST: Final = 262_144  # letters of a board written in place as XML

_SEAT: Final[Shape[Seat]] = Shape(Seat, "seat")
_NOTHING: Final = {
    "claim_route.cards": "ROUTE-2",
    "build_station.cards": "STATION-2",
    "pay_tunnel.cards": "TUNNEL-3",
    "move_passenger.path": "PASSENGER-2",
}  # the rule that says no to none of what the field lists


@contract()
class Misshapen:
    """What is no command: the seat is told why, as at a table, and nothing changes."""

    rule: Text
    why: Text


@contract()
class SeatCommand:
    """A command and who speaks. In the file they are one object: `{"seat": 0, "type": "pass"}`."""

    seat: Seat
    command: PlayerCommand | Misshapen


def _spoken(value: object) -> SeatCommand:
    fields = dict(value) if isinstance(value, dict) else {}
    try:
        if "seat" not in fields:
            raise Malformed("", "must be an object with a seat and a type")
        seat = _SEAT.read(fields.pop("seat"))
    except Malformed as error:
        raise ValueError(str(error)) from None
    if isinstance(cards := fields.get("cards"), dict):
        fields["cards"] = {card: count for card, count in cards.items() if count != 0 or count is False}
    try:
        return SeatCommand(seat, read_command(fields, players_only=True))  # type: ignore[arg-type]
    except Malformed as error:
        rule = _NOTHING.get(f"{fields.get('type')}.{error.field}")
        empty = fields.get(error.field) in ({}, [])
        return SeatCommand(seat, Misshapen(rule if rule and empty else error.rule, str(error)))


def _named_or_written(board: object) -> str | Mapping[str, Any]:
    if isinstance(board, str) and 0 < len(board) <= BOARD_TEXT_MOST:
        return board
    if isinstance(board, dict):
        return plain(board)
    raise ValueError("must be the name of a board, a file, or a board written in place")


Spoken = Annotated[SeatCommand, PlainValidator(_spoken), WithJsonSchema({"type": "object"})]
BoardAsked = Annotated[
    Any,
    PlainValidator(_named_or_written),
    WithJsonSchema(
        {"anyOf": [{"type": "string", "minLength": 1, "maxLength": BOARD_TEXT_MOST}, {"type": "object"}]}
    ),
]  # its name, a file, or the board itself in any form that a file may have


@contract()
class Inquiry:
    """A question: this table, these commands one after the other, and what to tell besides."""

    seats: Annotated[Int, Field(ge=1, le=SEATS_MAX)]
    ruleset: Word | None = None  # else the one that the board is usually played with
    board: BoardAsked | None = None  # else the ruleset's own
    options: Annotated[Plain, Field(max_length=64)] | None = None
    position: Position | None = None
    commands: Annotated[tuple[Spoken, ...], Field(max_length=COMMANDS_MOST)] = ()
    legal: Bool = False  # what the seats that are to act may do after the commands
    score: Bool = False  # what every seat would have if the game ended after the commands
    seed: Annotated[Text, Field(min_length=1, max_length=64)] | None = (
        None  # of what the position leaves open
    )


@contract()
class TicketCounted:
    between: tuple[CityId, CityId]
    points: Int
    made: Bool  # or missed


@contract()
class StationCounted:
    city: CityId
    neighbour: CityId | None  # as it was named
    borrows: RouteId | None  # for its owner's tickets; null if that is of no use


@contract()
class SeatCounted:
    """One seat's reckoning, in points but for `longest` (spaces) and `place`."""

    seat: Seat
    routes: Int
    tickets: tuple[TicketCounted, ...]
    ticket_points: Int  # of those made less those missed
    longest: Int
    longest_bonus: Int
    stations: tuple[StationCounted, ...]
    station_points: Int  # of those not built
    merchandise: Int
    most_tickets_bonus: Int
    total: Int
    place: Int


INQUIRY: Final[Shape[Inquiry]] = Shape(Inquiry, "question")
SEAT_COUNTED: Final[Shape[SeatCounted]] = Shape(SeatCounted, "score")
