"""Answers about a table: its state as a viewer sees it, a seat's legal commands, games in a list."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from services.gateway.models.contract_schemas import refers_to
from services.gateway.models.response_models import ResponseModel

GameStatus = Literal["waiting", "playing", "over"]


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


class SeatState(ResponseModel):
    """A seat as everybody sees it, of any game."""

    seat: int
    name: str | None = Field(description="null while nobody sits there")
    kind: Literal["human", "bot"]
    policy: str | None = Field(description="of a bot")
    seated: bool
    choice: str | None = Field(description="what the game waits for, if it waits for this seat")
    clock_ms: int | None = Field(
        description="left for the whole game at this entry; null without such a clock"
    )
    deadline_ms: int | None = Field(
        description="when its time for this move ends, as `at` counts; null without"
    )
    gone: str | None = Field(description="why it takes no further part")


class SeatView(SeatState):
    """A seat of a train game as everybody sees it."""

    cars: int
    cards: int = Field(description="how many it holds")
    tickets: int = Field(description="how many it keeps")
    points: int = Field(description="so far, without tickets and bonuses")
    stations_left: int
    passengers_left: int


class SeatTotal(ResponseModel):
    """A seat's final score, of any game."""

    seat: int
    place: int
    total: int


class PartsResult(SeatTotal):
    """A seat's final score, and what it is made of."""

    parts: dict[str, int] = Field(description="the points by their names in this game")


class SeatResult(SeatTotal):
    """A seat's final score in a train game."""

    routes: int
    tickets: int
    made: list[TicketState]
    missed: list[TicketState]
    longest: int = Field(description="spaces of its longest route")
    bonus: int = Field(description="for the longest route of all")
    most: int = Field(description="for the most tickets made")
    stations: int
    merchandise: int


class TunnelState(ResponseModel):
    """A tunnel that was begun in this turn."""

    route: str
    cards: dict[str, int]
    revealed: list[str]
    extra: int = Field(description="how many cards it asks for")


class Move(ResponseModel):
    """An entry in words."""

    number: int
    at: int = Field(description="milliseconds of the game clock")
    seat: int | None = Field(description="whom it is about; null where it is nobody's")
    text: list[str] = Field(description="a sentence for each event that people read about")
    routes: list[str] = Field(description="routes that were claimed")
    points: int = Field(description="that its seat gained by it")
    turn: int = Field(description="the turn of the game that it belongs to, from 1; 0 before the first")


class LegalCommand(ResponseModel):
    """A command that the referee would accept now."""

    command: Annotated[dict[str, object], refers_to("PlayerCommand")]
    text: str = Field(description="what it does, as a sentence without a subject")
    title: str = Field(description="the group that it belongs to: a route, an action")
    detail: str = Field(description="which of the group; may be empty")


class LegalCommands(ResponseModel):
    """The commands that a seat is to choose from after an entry: none where it isn't asked to act. Leaving is never listed."""

    game: str
    seat: int
    number: int = Field(description="of the entry after which they are legal")
    commands: list[LegalCommand] = Field(description="the first 2,000")
    more: bool = Field(False, description="whether there are others")


class SuggestedCommand(ResponseModel):
    """A command that is worth thinking of, and what it is expected to bring. Numbers are null where no game was played out."""

    command: Annotated[dict[str, object], refers_to("PlayerCommand")]
    text: str = Field(description="what it does, as a sentence without a subject")
    why: str = Field(description="why it stands where it stands, for a player")
    points: float | None = Field(description="the seat's own at the end, in the mean of the games played out")
    points_error: float | None = Field(description="the standard error of that mean")
    lead: float | None = Field(
        description="the seat's points less those of the best other seat; the list goes by it"
    )
    lead_error: float | None
    games: int = Field(description="that were played out")


class Suggestions(ResponseModel):
    """What the bot `searcher` would do after an entry, the best first; none where the seat has nothing to choose."""

    game: str
    seat: int
    number: int = Field(description="of the entry after which the seat is to choose")
    commands: list[SuggestedCommand]


class UndoState(ResponseModel):
    """The last move, which its seat can take back."""

    seat: int = Field(description="whose move it was")
    waiting: list[int] | None = Field(description="whose answers are open; null: the seat hasn't asked")


class AnyTable(ResponseModel):
    """A table as its viewer sees it after an entry: what tables of all games have."""

    game: str
    viewer: int | Literal["public"]
    number: int = Field(description="of the last entry that counts")
    head: str | None = Field(description="of the chain after it")
    at: int = Field(description="milliseconds of the game clock, at that entry")
    created: int = Field(description="when the game was created, in milliseconds since 1970")
    age_ms: int = Field(description="how long ago that entry was, by the server's wall clock")
    status: GameStatus
    ruleset: str
    turn: int | None
    free_seats: list[int] = Field(
        description="that may be taken now, also where the viewer is shown the table late; with `at`, then"
    )
    order: Literal["seated", "age", "youngest"] = Field(
        description="of the turns: by seat, or by age, the oldest or the youngest first"
    )
    turn_order: list[int]
    undo: UndoState | None = Field(description="null where the last move can't be taken back")
    by_invitation: bool = Field(description="a seat is taken only with the invitation that its host gives")
    ended: str | None = Field(description="why, once the game is over")
    play_off: str | None = Field(description="the game that follows, for a shared first place")
    moves: list[Move] = Field(description="the entries after `since`, in words")
    legal: list[LegalCommand] | None = Field(
        default=None,
        description="what the viewer may do now, asked for with `legal`; null for the public and where it isn't asked for",
    )
    bots_late: bool = Field(
        default=False,
        description="whether its bots waited for time to think within the last minute: tables that used less of it come first",
    )


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


class PartState(ResponseModel):
    """A part of a table, as the game describes it: cards, a number or a text; the others are null."""

    name: str = Field(description="as the game calls it")
    seat: int | None = Field(description="whose it is; null: it lies on the table")
    cards: list[str | None] | None = Field(description="null is a card face down")
    number: int | None
    text: str | None


class PartsTable(AnyTable):
    """The table of a game that describes it in parts."""

    seats: list[SeatState]
    parts: list[PartState]
    drawing: str | None = Field(description="the table as an SVG picture; null where the game draws none")
    result: list[PartsResult] | None = Field(description="once the game is over")


class Replay(ResponseModel):
    """A game to be watched again. Each of its entries has a table: `/replays/{number}`."""

    game: str
    viewer: int | Literal["public"]
    entries: int = Field(description="how many the viewer is shown")
    over: bool
    viewers: list[int | Literal["public"]] = Field(description="what `as` may be now")
    moves: list[Move] = Field(description="the entries that there is something to say of")


class ListedSeat(ResponseModel):
    """A seat of a game in a list."""

    seat: int
    name: str | None
    kind: Literal["human", "bot"]
    policy: str | None
    free: bool
    total: int | None = Field(description="its score, once the game is over")
    place: int | None = Field(description="its place by the game's own ranking, once the game is over")


class ListedGame(ResponseModel):
    """A game in a list."""

    game: str
    status: GameStatus
    ruleset: str
    board: str | None = Field(description="null where the game is played on no board")
    board_title: str | None
    created: int = Field(description="in milliseconds since 1970")
    number: int = Field(description="of its last entry")
    seats: list[ListedSeat]
    free: int = Field(description="how many seats are free")
    turn: int | None


class GameListing(ResponseModel):
    """The latest games with their details, the newest first."""

    missing: str | SkipJsonSchema[None] = Field(
        default=None, description="which games can't be listed now, and why; left out where all are there"
    )
    games: list[ListedGame]
