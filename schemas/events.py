"""Events, in the past tense: what happened can't be refused, changed or undone.

Each declares who may know what it holds (schemas/contract.py): a field may be private to a seat, or
secret until the game is over. `redact_for` (services/referee/games/views.py) hides it from all others.

A new event is declared here or in the folder of its game, with an applier and a sentence; a game that
lacks one of them can't be imported, and the error names the event.

Earlier versions of events, and how each is converted into the next.

Old logs are read, never rewritten (P4). A type that changes gets a new version with a new code; its
old code, its fields and a pure function to the fields of the next version stay here for ever. A row
is converted from version to version until it is today's, so an event that changes again needs one
function more and no other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Final, Literal, NamedTuple, Protocol, TypeAlias

from pydantic import Field

from schemas.commands import PlayOff, SeatPlan
from schemas.contract import (
    EVENT_REGISTRY,
    PUBLIC,
    WHOLE_EVENT,
    BroughtForms,
    EventContract,
    PileMove,
    Private,
    Secret,
    contract,
    event,
)
from schemas.field_types import (
    Age,
    Bool,
    CardNameRow,
    GameId,
    Hex32,
    Int,
    LoggedObject,
    Milliseconds,
    Name,
    Seat,
    Slug,
    Text,
)
from schemas.game_options import ExitReason, GameVisibility, SequenceNumber, SpectatorDelay, UndoPolicy


@event(type="game_created", code=1, visibility=PUBLIC)
class GameCreated(EventContract):
    """A game is created, with all its rule options."""

    game: GameId
    ruleset: Slug
    rules: Int  # the version of the ruleset's meaning
    board: Slug | None  # where the game is played on one
    board_digest: Hex32 | None
    board_form: LoggedObject | None  # of a board that doesn't come with the product
    parameters: LoggedObject  # all options, as the ruleset's class of options reads them
    seats: tuple[SeatPlan, ...]
    play_off: PlayOff | None
    created: Milliseconds  # since 1970, by the wall clock: for people, no rule depends on it
    opened: Milliseconds  # by the game clock; every entry's time counts from here


@event(type="access_set", code=40, visibility=PUBLIC)
class AccessSet(EventContract):
    """The game isn't simply public: this says who may watch it, how its seats are taken, whether they are helped, and
    whether they take moves back."""

    visible_to: GameVisibility
    spectator_delay: SpectatorDelay  # how many entries late the public view is, until the game is over
    by_invitation: Bool  # a seat is taken only with its invitation
    suggestions: Bool  # whether they are allowed while the game is played
    undo: UndoPolicy  # whether a seat takes its last move back: never, if the others agree, or freely


Contributor = Literal["seat", "nobody", "server", "seed"]


@event(type="seed_sealed", code=22, visibility=Secret(hides=("seed",)))
class SeedSealed(EventContract):
    """The server's seed of this game's randomness: its hash for all, itself for nobody yet."""

    commitment: Hex32
    given: Bool  # the game's creator named the seed, so may know it
    seed: Hex32 | None  # secret


@event(
    type="seat_taken",
    code=2,
    visibility=Private(owner="seat", hides=("luck",)),
)
class SeatTaken(EventContract):
    """A seat is taken. A player's name isn't in the log, which is for ever: a commitment to it is."""

    seat: Seat
    name: Name | None  # of a bot, by the server; of a player, only where it is shown to viewers
    policy: Slug | None  # of a bot; null for a human
    age: Age | None
    luck: (
        Hex32 | None
    )  # private: the seat secret; a bot's random source and the salts of its parts derive from it
    contribution: Hex32  # the seat's part of the game's randomness
    by: Contributor  # who made it
    name_commitment: Hex32 | None = None  # to the player's name: see schemas/stored/player_names.py


@event(type="seat_freed", code=44, visibility=PUBLIC)
class SeatFreed(EventContract):
    """The host freed the seat. The next player gets a new seat secret."""

    seat: Seat


@event(type="game_started", code=3, visibility=PUBLIC)
class GameStarted(EventContract):
    """Every seat is taken; the cards are about to be shuffled."""

    order: tuple[Seat, ...]  # of the turns


@event(type="deck_shuffled", code=4, visibility=Secret(hides=("order",)))
class DeckShuffled(EventContract):
    """The discards were shuffled and put under the rest of the deck."""

    piles = PileMove("under", "order")
    order: CardNameRow  # secret, top first
    root: Hex32  # of the commitments to its cards


@event(type="hand_dealt", code=6, visibility=Private(owner="seat", hides=("cards",)), draws="cards")
class HandDealt(EventContract):
    seat: Seat
    cards: CardNameRow  # private


# -- a fork ----------------------------------------------------------------------------------


@event(type="game_forked", code=45, visibility=PUBLIC)
class GameForked(EventContract):
    """The game goes on from the state of another one."""

    of: GameId
    at: SequenceNumber  # the entry after which it had that state
    asker: Seat | None  # by whose knowledge hidden cards were dealt; None: by everybody's
    afresh: Bool  # what is hidden was dealt afresh; else it is where it was


@event(type="play_resumed", code=49, visibility=PUBLIC)
class PlayResumed(EventContract):
    """Play goes on from the turn that was laid."""


@event(type="turn_started", code=12, visibility=PUBLIC, in_move="follows")
class TurnStarted(EventContract):
    seat: Seat


@event(type="passed", code=16, visibility=PUBLIC, in_move="begins")
class Passed(EventContract):
    seat: Seat


EndReason = Annotated[Text, Field(max_length=60)]  # in the words of the game


@contract()
class SeatScore:
    """One seat's final score: its total in points, and what it is made of, each part by its name."""

    seat: Seat
    parts: Mapping[Slug, Int]
    total: Int
    place: Int  # from 1

    @property
    def shares(self) -> Mapping[str, tuple[int, int]]:
        """None."""
        return {}


class Score(Protocol):
    """What every game's final score of a seat says."""

    @property
    def seat(self) -> Seat:
        """Whose it is."""

    @property
    def total(self) -> Int:
        """In points."""

    @property
    def place(self) -> Int:
        """From 1."""

    @property
    def parts(self) -> Mapping[str, int]:
        """What the total is made of: points by their source."""

    @property
    def shares(self) -> Mapping[str, tuple[int, int]]:
        """What the seat reached of what it might have, by name: how many of how many."""


SCORE_FORMS: Final = BroughtForms(SeatScore)


@event(type="seat_gone", code=18, visibility=PUBLIC)
class SeatGone(EventContract):
    """The seat takes no further part."""

    seat: Seat
    why: ExitReason


@event(type="seat_cleared", code=23, visibility=PUBLIC)
class SeatCleared(EventContract):
    """What a removed seat held is out of the game, what it had claimed is free (CONDUCT-2)."""

    seat: Seat


@event(type="play_off_called", code=37, visibility=PUBLIC)
class PlayOffCalled(EventContract):
    """The first place is shared: these seats meet again, in a new game (TIE-1)."""

    game: GameId
    play_off: PlayOff
    seats: tuple[Seat, ...]  # who they are in this game


@event(type="play_off_ended", code=38, visibility=PUBLIC)
class PlayOffEnded(EventContract):
    """The play-off is decided, or came to its end with these level."""

    of: GameId
    winners: tuple[Seat, ...]  # as the seats of that game


@event(
    type="undo_asked",
    code=50,
    visibility=PUBLIC,
    sentence="{seat} asks to take the last move back.",
    in_move="follows",
)
class UndoAsked(EventContract):
    """The seat asks the others to let it take back its last move (UNDO-1)."""

    seat: Seat


@event(type="undo_answered", code=51, visibility=PUBLIC, in_move="follows")
class UndoAnswered(EventContract):
    """The seat lets the one that asked take back its move, or not; once all agree, it is taken back (UNDO-2)."""

    seat: Seat
    agrees: Bool


@event(
    type="move_undone",
    code=52,
    visibility=PUBLIC,
    sentence="{seat} takes the last move back.",
    in_move="follows",
)
class MoveUndone(EventContract):
    """The seat's last move is taken back: all is as it was before it, but for the time (UNDO-1)."""

    seat: Seat


@event(type="seed_revealed", code=41, visibility=PUBLIC)
class SeedRevealed(EventContract):
    """The game is over: with the seed every shuffle and every hidden part can be checked."""

    seed: Hex32


@event(type="game_ended", code=20, visibility=PUBLIC)
class GameEnded(EventContract):
    reason: EndReason
    scores: tuple[Annotated[Score, SCORE_FORMS], ...]  # in the words of its game, in seat order


@event(
    type="command_refused",
    code=21,
    visibility=Private(owner="seat", hides=WHOLE_EVENT, public_if_null="seat"),
    in_move="follows",
)
class CommandRefused(EventContract):
    """A rule refused a command. Private to its sender; those of system commands are public."""

    seat: Seat | None
    rule: Text
    why: Text


Event: TypeAlias = EventContract  # of any game
SCHEMAS: Final = EVENT_REGISTRY.schemas  # by type; games that are found later add theirs
FIELDS: Final = EVENT_REGISTRY.fields
BY_CODE: Final = EVENT_REGISTRY.by_code


def write_event(event: Event) -> dict[str, object]:
    """An event as a JSON object with its type first: the form of the web edge and of replays."""
    written: dict[str, object] = SCHEMAS[event.type].write(event)
    return {"type": event.type, **written}


Row: TypeAlias = Sequence[Any]  # a code, then fields of any type
FieldValues: TypeAlias = Mapping[str, object]  # the values of a row by field


class FormerVersion(NamedTuple):
    """A version that is read, and no longer written."""

    type: str
    version: int
    fields: tuple[str, ...]  # in the order of its rows
    next_code: int | str
    to_next: Callable[[FieldValues], FieldValues]


FORMER_VERSIONS: Final[Mapping[int | str, FormerVersion]] = {}  # by code
assert not FORMER_VERSIONS.keys() & BY_CODE.keys(), "an earlier version's code was given again"


def upcast(row: Row) -> Row:
    """The row in the next version of its type. Raises LookupError for an unknown code, and ValueError for a
    row that doesn't have the fields of its version."""
    former = FORMER_VERSIONS[row[0]]
    fields = former.to_next(dict(zip(former.fields, row[1:], strict=True)))
    return (former.next_code, *(fields[name] for name in _field_names(former.next_code)))


def _field_names(code: int | str) -> tuple[str, ...]:
    former = FORMER_VERSIONS.get(code)
    return former.fields if former else FIELDS[BY_CODE[code]]
