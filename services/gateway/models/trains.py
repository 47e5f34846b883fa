"""Answers about train games: their tables, their boards, a table as an explanation has it; and the fields that are theirs
in requests and in answers about any game."""

from __future__ import annotations

from typing import Final, TypeAlias

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from schemas.trains.positions import Position
from services.gateway.models.response_models import ResponseModel
from services.gateway.models.table_models import AnyTable, PartsTable, PartState, SeatState, SeatTotal

POSITION_FIELD: Final = (Position | None, "to start from, in place of a deal")
COMMAND_EXAMPLES: Final[dict[str, dict[str, object]]] = {
    "draw_blind": {"type": "draw_blind"},
    "draw_market": {"type": "draw_market", "slot": 2},
    "claim_route": {
        "type": "claim_route",
        "route": "montreal-new-york-a",
        "cards": {"blue": 2, "locomotive": 1},
    },
    "keep_tickets": {"type": "keep_tickets", "keep": [0, 2]},
}
DISPUTE_EXAMPLES: Final = {
    "a_payment": {"number": 41, "reason": "Seat 1 paid with three blue cards for a red route."},
}
REFUSAL_EXAMPLE: Final = ("ROUTE-2", "2 red doesn't pay: it takes 3 of blue, locomotives wild")


class TicketState(ResponseModel):
    """A ticket that the viewer may know."""

    id: str
    a: str = Field(description="a city")
    b: str = Field(description="a city")
    points: int
    deck: str
    made: bool = Field(description="the seat's routes join its cities now")
    way: list[str] = Field(
        description="the routes still to claim on a way that needs the fewest cars; empty where it is made or cut off"
    )
    open: bool = Field(description="it is made, or a way is still open; none is once the game is over")


class SeatView(SeatState):
    """A seat of a train game as everybody sees it."""

    cars: int
    cards: int = Field(description="how many it holds")
    tickets: int = Field(description="how many it keeps")
    points: int = Field(description="so far, without tickets and bonuses")
    stations_left: int
    passengers_left: int


class SeatResult(SeatTotal):
    """A seat's final score in a train game."""

    routes: int
    tickets: int
    made: list[TicketState]
    missed: list[TicketState]
    longest: int = Field(description="spaces of its longest route")
    bonus: int = Field(description="for the longest route of all")
    trail: list[str] = Field(
        description="the routes of that longest one, where it brought a bonus; none on a board of one's own"
    )
    most: int = Field(description="for the most tickets made")
    stations: int
    merchandise: int


class TunnelState(ResponseModel):
    """A tunnel that was begun in this turn."""

    route: str
    cards: dict[str, int]
    revealed: list[str]
    extra: int = Field(description="how many cards it asks for")


class TableState(AnyTable):
    """The table of a train game."""

    board: str
    last_turns: bool
    seats: list[SeatView]
    market: list[str | None] = Field(description="the cards face up; null is a gap")
    deck: int
    discards: int
    ticket_decks: dict[str, int]
    routes: dict[str, int] = Field(description="claimed routes, and the seats that own them")
    closed: list[str] = Field(description="routes that nobody can claim any more, though nobody owns them")
    stations: dict[str, int] = Field(description="cities with a station, and whose it is")
    passengers: dict[str, int] = Field(description="cities with a passenger, and whose it is")
    tokens: dict[str, list[int]] = Field(description="the merchandise of each city, the top first")
    tunnel: TunnelState | None
    hand: dict[str, int] | None = Field(description="the viewer's cards; null for the public")
    tickets: list[TicketState]
    offer: list[TicketState] = Field(description="tickets that the viewer chooses from, in their order")
    keep_least: int
    result: list[SeatResult] | None = Field(description="once the game is over")


TableAnswer: TypeAlias = TableState | PartsTable  # of any game


class Label(ResponseModel):
    """Where a city's name stands: the middle of its baseline, and how wide it is written."""

    x: float
    y: float
    width: float


class DrawnCity(ResponseModel):
    """A city at its place."""

    id: str
    name: str
    x: float
    y: float
    country: bool = Field(description="a dead end: no path goes through")
    merchandise: str | None = Field(description="the colour of its stack")
    label: Label


class CarSpace(ResponseModel):
    """One space of a route: the middle of a rectangle, its length, and its direction in degrees."""

    x: float
    y: float
    angle: float
    length: float


class DrawnRoute(ResponseModel):
    """A route with its car spaces. Parallel routes lie side by side."""

    id: str
    a: str
    b: str
    length: int
    color: str
    kind: str
    locomotives: int
    title: str
    spaces: list[CarSpace]


class BoardDrawing(ResponseModel):
    """A board, ready to be drawn: all that stands on it has its place."""

    id: str
    title: str
    ruleset: str = Field(description="the one that it is usually played with")
    width: float
    height: float
    land: str = Field(description="the ground as an SVG path; empty where the board has none")
    cities: list[DrawnCity]
    routes: list[DrawnRoute]


class ListedBoard(ResponseModel):
    """A built-in board."""

    id: str
    title: str
    ruleset: str = Field(description="the one that it is usually played with")
    rulesets: list[str] = Field(description="all that it can be played with")
    cities: int
    routes: int
    tickets: int


class BoardList(ResponseModel):
    """The built-in boards."""

    boards: list[ListedBoard]


class ExplainedSeat(ResponseModel):
    """A seat, as far as a viewer knew it."""

    seat: int
    name: str
    points: int
    cars: int
    cards: int
    hand: dict[str, int]
    tickets: list[str | None]
    offer: list[str | None]
    stations: dict[str, str | None]
    gone: str | None


class ExplainedTable(ResponseModel):
    """A table before or after an entry, as far as a viewer knew it; null is a card or ticket face down. Before a game's
    first entry there is `state` alone."""

    state: str
    at: int | SkipJsonSchema[None] = Field(default=None, description="milliseconds of the game clock")
    turn: int | None = None
    awaits: dict[str, str] | SkipJsonSchema[None] = Field(
        default=None, description="what the game waits for, by seat"
    )
    market: list[str | None] | SkipJsonSchema[None] = None
    deck: int | SkipJsonSchema[None] = None
    next: list[str | None] | SkipJsonSchema[None] = Field(default=None, description="the top of the deck")
    discards: dict[str, int] | SkipJsonSchema[None] = None
    ticket_decks: dict[str, int] | SkipJsonSchema[None] = None
    routes: dict[str, int] | SkipJsonSchema[None] = None
    stations: dict[str, int] | SkipJsonSchema[None] = None
    passengers: dict[str, int] | SkipJsonSchema[None] = None
    seats: list[ExplainedSeat] | SkipJsonSchema[None] = None
    parts: list[PartState] | SkipJsonSchema[None] = Field(
        default=None, description="of a game that describes its table so, in place of all after `awaits`"
    )
