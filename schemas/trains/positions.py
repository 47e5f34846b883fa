"""A position: a state in the middle of a game, as people write it down to ask about it.

A field that is left out has the value of a game that is just set up, before any card is dealt: empty hands, an empty
market, the whole deck and the tickets that nobody holds shuffled, all cars, no routes, full stacks of tokens. The top
of a deck comes first; lists by seat may be shorter than the seats. Where it is nobody's turn yet (`turn` is null),
the game begins with the deal, from the decks as they lie here and not shuffled. The last fields are of a game in
progress: turns that are left, and a turn that has begun.

A position query is a position and commands in, decisions out. docs/reference/ask.md documents it,
schemas/json/inquiry.schema.json is its JSON Schema. Its form is a stable contract.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final

from pydantic import Field, PlainValidator, WithJsonSchema

from schemas.commands import POSITION_FORMS, Command, read_command
from schemas.contract import Schema, contract
from schemas.errors import InvalidInputError
from schemas.field_types import MAX_SEATS, Bool, Int, JsonObject, Seat, Slug, Text, require_json_object
from schemas.game_options import ExitReason
from schemas.trains.field_types import Card, Cards, CityId, RouteId

SmallCount = Annotated[Int, Field(ge=0, le=1000)]
Points = Annotated[Int, Field(ge=-10_000, le=10_000)]
SeatSet = Annotated[tuple[Seat, ...], Field(max_length=8)]
CardCounts = Mapping[Card, Annotated[Int, Field(ge=0, le=250)]]


@contract()
class TicketGiven:
    """A ticket by its cities and points; it need not be one of the board's."""

    between: tuple[CityId, CityId]
    points: Annotated[Int, Field(ge=1, le=100)]


@contract()
class StationGiven:
    seat: Seat
    neighbour: CityId | None = None


@contract()
class TunnelGiven:
    """A tunnel that the seat to act has begun: it is to pay the extra, or to decline."""

    route: RouteId
    cards: Cards  # the base payment, which is still in the hand
    revealed: Annotated[tuple[Card, ...], Field(min_length=1, max_length=10)]


GivenTickets = Annotated[tuple[TicketGiven, ...], Field(max_length=2000)]


@contract()
class OfferGiven:
    """Tickets that the seat to act has drawn: it is to say which of them it keeps."""

    tickets: Annotated[tuple[TicketGiven, ...], Field(min_length=1, max_length=20)]
    least: Annotated[Int, Field(ge=0, le=10)] = 1  # to keep


@POSITION_FORMS.bring
@contract()
class Position:
    """The state to start from. None is the value of a new game: see the top of this module."""

    turn: Seat | None = 0  # null: hands and starting tickets are dealt first
    hands: Annotated[tuple[CardCounts, ...], Field(max_length=8)] = ()
    market: Annotated[tuple[Card | None, ...], Field(max_length=10)] | None = None  # null is a gap
    deck: Annotated[tuple[Card, ...], Field(max_length=2000)] | None = None
    discard: CardCounts | None = None
    routes: Annotated[Mapping[RouteId, Seat], Field(max_length=1000)] | None = None
    cars: Annotated[tuple[SmallCount, ...], Field(max_length=8)] = ()
    tickets: Annotated[tuple[GivenTickets, ...], Field(max_length=8)] = ()
    ticket_decks: Annotated[Mapping[Slug, GivenTickets], Field(max_length=4)] | None = None
    stations: Annotated[Mapping[CityId, StationGiven], Field(max_length=100)] | None = None
    passengers: Annotated[Mapping[CityId, Seat], Field(max_length=100)] | None = None
    tokens: (
        Annotated[
            Mapping[CityId, Annotated[tuple[Annotated[Int, Field(ge=1, le=50)], ...], Field(max_length=10)]],
            Field(max_length=500),
        ]
        | None
    ) = None
    merchandise: Annotated[tuple[SmallCount, ...], Field(max_length=8)] = ()
    points: Annotated[tuple[Points, ...], Field(max_length=8)] = ()
    order: Annotated[tuple[Seat, ...], Field(max_length=8)] | None = None  # of the turns
    last_turns: SeatSet | None = None  # who has a last turn after this one; null: they haven't begun
    passed: SeatSet = ()  # whose turns changed nothing since the last change
    gone: Annotated[tuple[ExitReason | None, ...], Field(max_length=8)] = ()  # by seat
    passengers_left: Annotated[tuple[SmallCount, ...], Field(max_length=8)] | None = (
        None  # still to be placed
    )
    second_card: Bool = False  # the seat to act has drawn one card, and is to draw another
    offer: OfferGiven | None = None
    tunnel: TunnelGiven | None = None

    def has_turn_state(self) -> bool:
        """Whether it says more of the turns than whose begins."""
        given = (self.order, self.last_turns, self.passengers_left, self.offer, self.tunnel)
        return any(part is not None for part in given) or bool(self.passed or self.gone or self.second_card)


POSITION_SCHEMA: Schema[Position] = Schema(Position, "position")


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
