"""Position queries: a position and commands in, decisions out. The form is a stable contract.

docs/ask.md documents it, schemas/json/inquiry.schema.json is its JSON Schema.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final

from pydantic import Field, PlainValidator, WithJsonSchema

from schemas.commands import Command, read_command
from schemas.contract import Schema, contract
from schemas.errors import InvalidInputError
from schemas.field_types import MAX_SEATS, Bool, Int, JsonObject, Seat, Slug, Text, require_json_object
from schemas.trains.field_types import CityId, RouteId
from schemas.trains.positions import Position

MAX_COMMANDS: Final = 1000
MAX_BOARD_TEXT_LENGTH: Final = 262_144  # characters of a board written in place as XML

_SEAT_SCHEMA: Final[Schema[Seat]] = Schema(Seat, "seat")
_EMPTY_FIELD_RULES: Final = {
    "claim_route.cards": "ROUTE-2",
    "build_station.cards": "STATION-2",
    "pay_tunnel.cards": "TUNNEL-3",
    "move_passenger.path": "PASSENGER-2",
}  # the rule that refuses an empty field


@contract()
class InvalidCommand:
    """A command that isn't valid: it is refused with this rule and reason, and nothing changes."""

    rule: Text
    why: Text


@contract()
class SeatCommand:
    """A command and its sender. In the query they are one object: `{"seat": 0, "type": "pass"}`."""

    seat: Seat
    command: Command | InvalidCommand


def _read_seat_command(value: object) -> SeatCommand:
    fields = dict(value) if isinstance(value, dict) else {}
    try:
        if "seat" not in fields:
            raise InvalidInputError("", "must be an object with a seat and a type")
        seat = _SEAT_SCHEMA.read(fields.pop("seat"))
    except InvalidInputError as error:
        raise ValueError(str(error)) from None
    if isinstance(cards := fields.get("cards"), dict):
        fields["cards"] = {card: count for card, count in cards.items() if count != 0 or count is False}
    try:
        return SeatCommand(seat, read_command(fields, players_only=True))
    except InvalidInputError as error:
        rule = _EMPTY_FIELD_RULES.get(f"{fields.get('type')}.{error.field}")
        empty = fields.get(error.field) in ({}, [])
        return SeatCommand(seat, InvalidCommand(rule if rule and empty else error.rule, str(error)))


def _validate_board(board: object) -> str | Mapping[str, object]:
    if isinstance(board, str) and 0 < len(board) <= MAX_BOARD_TEXT_LENGTH:
        return board
    if isinstance(board, dict):
        return require_json_object(board)
    raise ValueError("must be the name of a board, a file, or a board written in place")


SeatCommandField = Annotated[
    SeatCommand, PlainValidator(_read_seat_command), WithJsonSchema({"type": "object"})
]
BoardField = Annotated[
    str | Mapping[str, object],
    PlainValidator(_validate_board),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "minLength": 1, "maxLength": MAX_BOARD_TEXT_LENGTH},
                {"type": "object"},
            ]
        }
    ),
]  # its name, a file, or the board itself in any form that a file may have; pydantic checks no more


@contract()
class PositionQuery:
    """A question: a position, commands to decide one after the other, and what else to answer."""

    seats: Annotated[Int, Field(ge=1, le=MAX_SEATS)]
    ruleset: Slug | None = None  # else the one that the board is usually played with
    board: BoardField | None = None  # else the ruleset's own
    options: Annotated[JsonObject, Field(max_length=64)] | None = None
    position: Position | None = None
    commands: Annotated[tuple[SeatCommandField, ...], Field(max_length=MAX_COMMANDS)] = ()
    legal: Bool = False  # what the seats that are to act may do after the commands
    score: Bool = False  # what every seat would have if the game ended after the commands
    table: Bool = False  # the position after the commands
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
    """One seat's score, in points but for `longest` (spaces) and `place`."""

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


POSITION_QUERY_SCHEMA: Final[Schema[PositionQuery]] = Schema(PositionQuery, "question")
SEAT_COUNTED_SCHEMA: Final[Schema[SeatCounted]] = Schema(SeatCounted, "score")
