"""The options that every game has: seats, turns, clocks, play-offs, conduct; and access: who may watch it, how its seats
are taken, whether they are helped, and whether they take moves back.

A game that has more declares a class of its own that begins with these. A log's first event records all
of them, so a replay never depends on today's defaults.

Access is settled when the game is created, and stands in its log's first entry; a log that says nothing of it is of a
public game.

A fork is a new game that goes on from the state of another one after an entry. `ForkGame` names the other game, the entry,
and the seat by whose knowledge hidden cards are dealt. It is expanded into a CreateGame whose `fork` holds that state as
events: so the new log holds all of its own beginning, and can be decided again without the other one (P4).
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, NamedTuple, TypedDict, get_args

from pydantic import AfterValidator, Field

from schemas.contract import Schema, contract
from schemas.field_types import Bool, GameId, Int, Seat, lists_to_tuples, require_json_object

MAX_SPECTATOR_DELAY: Final = 500  # entries

GameVisibility = Literal["public", "unlisted", "players"]
VISIBILITIES: Final[tuple[GameVisibility, ...]] = get_args(GameVisibility)
UndoPolicy = Literal["never", "consent", "free"]
SpectatorDelay = Annotated[Int, Field(ge=0, le=MAX_SPECTATOR_DELAY)]


class AccessFields(TypedDict):
    """The access fields of a command that creates a game; None for what is as usual."""

    visibility: GameVisibility | None
    spectator_delay: int | None
    by_invitation: bool | None
    suggestions: bool | None
    undo: UndoPolicy | None


class Access(NamedTuple):
    """The settled access of one game: its audience, its delay, its seats, its suggestions, its undo."""

    visibility: GameVisibility = "public"  # listed; or found by its id alone; or for who holds a token of it
    spectator_delay: int = 0  # how many entries late the public view is, until the game is over
    by_invitation: bool = False  # a seat is taken only with its invitation
    suggestions: bool = True  # a seat may ask what it might do while the game is played
    undo: UndoPolicy = "never"  # whether a seat takes its last move back: if the others agree, or freely

    @property
    def is_listed(self) -> bool:
        """Whether the game stands in the list of games."""
        return self.visibility == "public"

    def visible_length(self, length: int, *, is_over: bool) -> int:
        """Return how many of a game's `length` entries the public view shows. Its creation is shown at once: there is nothing
        to learn from it, because a fork begins with what everybody was shown."""
        return length if is_over else max(min(length, 1), length - self.spectator_delay)

    def fields(self) -> AccessFields:
        """The fields of a command that creates a game with this access."""
        return {
            "visibility": None if self.visibility == "public" else self.visibility,
            "spectator_delay": self.spectator_delay or None,
            "by_invitation": self.by_invitation or None,
            "suggestions": None if self.suggestions else False,
            "undo": None if self.undo == "never" else self.undo,
        }

    def of_fork(self) -> Access:
        """The access of a fork of this game: the same. The seats of a game for its players alone are not for
        anybody who finds the fork."""
        return self._replace(by_invitation=self.by_invitation or self.visibility == "players")


PUBLIC_ACCESS: Final = Access()


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


def _to_logged_rows(rows: tuple[object, ...]) -> tuple[object, ...]:
    """Convert rows to what a log gives back. Raises ValueError for what no log can hold."""
    require_json_object({"rows": rows})
    return tuple(map(lists_to_tuples, rows))


SequenceNumber = Annotated[Int, Field(ge=1, le=2**53)]  # of an entry
EventRows = Annotated[tuple[Any, ...], AfterValidator(_to_logged_rows)]  # pydantic: of any form


@contract()
class Fork:
    """The origin of a new game, and the events that make its first state."""

    of: GameId
    at: SequenceNumber
    asker: Seat | None  # by whose knowledge hidden cards were dealt afresh; None: by everybody's
    afresh: Bool  # what is hidden was dealt afresh; else it is where it was
    rules: Int  # the version of the rules that both games are played by
    facts: EventRows  # as rows: see schemas/stored/rows.py


FORK_SCHEMA: Schema[Fork] = Schema(Fork, "fork")
