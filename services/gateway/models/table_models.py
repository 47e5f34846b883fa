"""Answers about a table: its state as a viewer sees it, a seat's legal commands, games in a list."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from services.gateway.models.response_models import ResponseModel, Viewer, refers_to

GameStatus = Literal["waiting", "playing", "over"]


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


class SeatTotal(ResponseModel):
    """A seat's final score, of any game."""

    seat: int
    place: int
    total: int


class PartsResult(SeatTotal):
    """A seat's final score, and what it is made of."""

    parts: dict[str, int] = Field(description="the points by their names in this game")


class Move(ResponseModel):
    """An entry in words."""

    number: int
    at: int = Field(description="milliseconds of the game clock")
    seat: int | None = Field(description="whom it is about; null where it is nobody's")
    text: list[str] = Field(description="a sentence for each event that people read about")
    marks: list[str] = Field(description="what it changed on the board, by id")
    points: int = Field(description="that its seat gained by it")
    turn: int = Field(description="the turn of the game that it belongs to, from 1; 0 before the first")


class LegalCommand(ResponseModel):
    """A command that the referee would accept now."""

    command: Annotated[dict[str, object], refers_to("PlayerCommand")]
    text: str = Field(description="what it does, as a sentence without a subject")
    title: str = Field(description="the group that it belongs to: a place on the board, an action")
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


class JudgedChoice(ResponseModel):
    """A choice that a seat made in a game that is over, against what the bot `searcher` would have done in its place."""

    game: str
    seat: int
    place: int = Field(description="among the seat's choices, from 0")
    choices: int = Field(description="how many choices the seat made")
    number: int = Field(description="of the entry after which it chose")
    done: SuggestedCommand = Field(description="what it did")
    best: SuggestedCommand | None = Field(description="what the bot would have done; null where that is it")
    cost: float | None = Field(
        description="by how many points the lead of what it did is smaller; null where it wasn't played out"
    )
    cost_error: float | None = Field(description="the standard error of that")
    forks: bool = Field(description="whether such a game can be gone on with from there, by a fork")


class UndoState(ResponseModel):
    """The last move, which its seat can take back."""

    seat: int = Field(description="whose move it was")
    waiting: list[int] | None = Field(description="whose answers are open; null: the seat hasn't asked")


class AnyTable(ResponseModel):
    """A table as its viewer sees it after an entry: what tables of all games have."""

    game: str
    viewer: Viewer
    number: int = Field(description="of the last entry that counts")
    head: str | None = Field(description="of the chain after it")
    at: int = Field(description="milliseconds of the game clock, at that entry")
    created: int = Field(description="when the game was created, in milliseconds since 1970")
    age_ms: int = Field(description="how long ago that entry was, by the server's wall clock")
    status: GameStatus
    ruleset: str
    ruleset_title: str
    turn: int | None
    free_seats: list[int] = Field(
        description="that may be taken now, also where the viewer is shown the table late; with `at`, then"
    )
    order: Literal["seated", "age", "youngest"] = Field(
        description="of the turns: by seat, or by age, the oldest or the youngest first"
    )
    turn_order: list[int]
    undo: UndoState | None = Field(description="null where the last move can't be taken back")
    suggestions: bool = Field(description="whether its seats may ask what they might do")
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
    viewer: Viewer
    entries: int = Field(description="how many the viewer is shown")
    over: bool
    viewers: list[Viewer] = Field(description="what `as` may be now")
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
    ruleset_title: str
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
    next: str | SkipJsonSchema[None] = Field(
        default=None, description="the `cursor` that the list goes on with; left out at its end"
    )
