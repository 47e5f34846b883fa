"""Commands, in the imperative. The referee may refuse any of them, naming a rule.

The sender's seat is a field of the envelope, not of the command: the gateway writes it there from
the sender's token, so nobody can send for another seat.

A new command is declared here or in the folder of its game, with a move of a ruleset and a description;
a game that lacks one of them can't be imported, and the error names the command.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import Field, model_validator

from schemas.contract import COMMAND_REGISTRY, BroughtForms, CommandContract, command, contract
from schemas.errors import InvalidInputError
from schemas.field_types import (
    Age,
    BoardChoice,
    Bool,
    CommandId,
    GameId,
    Hex32,
    Int,
    JsonObject,
    Name,
    Seat,
    Slug,
    Text,
)
from schemas.game_options import Fork, GameVisibility, SequenceNumber, SpectatorDelay, UndoPolicy
from schemas.registry import OfItsGame

Policy = Literal["random", "greedy", "planner", "searcher", "hold-10", "buy-now"]
POSITION_FORMS: Final = BroughtForms()  # of a state to start from, as people write it down

POLICIES: Final = ("random", "greedy", "planner", "searcher", "hold-10", "buy-now")


@contract()
class SeatPlan:
    """The plan for one seat: a human who will join, or a bot of a policy."""

    kind: Literal["human", "bot"] = "human"
    policy: Policy | None = None
    name: Name | None = None
    age: Age | None = None  # a bot's
    name_commitment: Hex32 | None = None  # in a log, in place of the name: see schemas/stored/player_names.py


@contract()
class PlayOff:
    """A new game for a first place that was shared (TIE-1)."""

    of: GameId  # the game that they shared it in
    number: Annotated[Int, Field(ge=1, le=9)]
    seats: Annotated[tuple[Seat, ...], Field(min_length=2, max_length=8)]  # who they were there
    wins: Annotated[tuple[Int, ...], Field(min_length=2, max_length=8)]  # of each, in the play-off so far


@command(type="create_game", code=1, sender="system")
class CreateGame(CommandContract):
    """Create a game: its ruleset, board and seats, and the options that differ from the defaults."""

    seats: Annotated[tuple[SeatPlan, ...], Field(min_length=1, max_length=8)]
    ruleset: Slug | None = None  # else the one that the board is usually played with
    board: BoardChoice | None = None  # else the ruleset's own
    seed: Annotated[Text, Field(min_length=1, max_length=64)] | None = None
    options: Annotated[JsonObject, Field(max_length=64)] | None = None
    position: Annotated[OfItsGame, POSITION_FORMS] | None = (
        None  # the state to start from, in place of a deal
    )
    play_off: PlayOff | None = None
    fork: Fork | None = None  # the state to start from: that of another game
    visibility: GameVisibility | None = None  # else public
    spectator_delay: SpectatorDelay | None = None  # else none
    by_invitation: Bool | None = None  # else anybody may take a free seat
    suggestions: Bool | None = None  # else seats may ask for them while the game is played
    undo: UndoPolicy | None = None  # else never: whether a seat takes its last move back


@command(type="take_seat", code=2, sender="system")
class TakeSeat(CommandContract):
    """Take a free seat: this one, or the first."""

    name: Name | None
    seat: Seat | None = None
    age: Age | None = None  # in whole years; counts where the oldest or the youngest begins
    contribution: Hex32 | None = (
        None  # 32 random bytes of the player's own, in hex: see docs/reference/proof.md
    )
    name_commitment: Hex32 | None = None  # in a log, in place of the name: see schemas/stored/player_names.py

    @model_validator(mode="after")
    def _require_name_or_commitment(self) -> TakeSeat:
        if (self.name is None) == (self.name_commitment is None):
            raise ValueError("give a name")
        return self


@command(type="start_game", code=3, sender="system")
class StartGame(CommandContract):
    """Shuffle and deal."""


@command(type="pass", code=9, sender="player")
class Pass(CommandContract):
    """Do nothing, where nothing must be done (TURN-4)."""


@command(type="leave", code=10, sender="player")
class Leave(CommandContract):
    """Leave the game for good (CONDUCT-3)."""


@command(type="ask_undo", code=21, sender="player", description="take the last move back")
class AskUndo(CommandContract):
    """Take back the seat's last move, or ask the others whether it may (UNDO-1)."""


@command(type="answer_undo", code=22, sender="player")
class AnswerUndo(CommandContract):
    """Let the seat that asked take back its last move, or not (UNDO-2)."""

    agrees: Bool


@command(type="call_time", code=11, sender="system")
class CallTime(CommandContract):
    """A seat's time is over (CLOCK-2); the referee sends it when the clock runs out."""

    seat: Seat


@command(type="fork_game", code=17, sender="system")
class ForkGame(CommandContract):
    """Start a new game from the state of another one after an entry. No log holds this: it is expanded
    into a CreateGame with that state (see schemas/game_options.py)."""

    of: GameId
    at: SequenceNumber
    asker: Seat | None = None  # whose knowledge it is dealt by; None: what everybody knows


@command(type="end_game", code=18, sender="system")
class EndGame(CommandContract):
    """End a started game in which nobody has acted for long (GAME-8): its host asks for it."""


@command(type="free_seat", code=19, sender="system")
class FreeSeat(CommandContract):
    """Free a seat before the start (GAME-9): the host asks for it, where nobody comes."""

    seat: Seat


@command(type="seat_bot", code=20, sender="system")
class SeatBot(CommandContract):
    """Let a bot of this policy take a free seat before the start: the host asks for it."""

    seat: Seat
    policy: Policy


Command: TypeAlias = CommandContract  # of any game
SCHEMAS: Final = COMMAND_REGISTRY.schemas  # by type; games that are found later add theirs
FIELDS: Final = COMMAND_REGISTRY.fields
BY_CODE: Final = COMMAND_REGISTRY.by_code
OF_EVERY_GAME: Final[tuple[type[Command], ...]] = (Leave, AskUndo, AnswerUndo)  # what a seat may send in each
TYPES_BY_RULESET: Final[dict[str, frozenset[str]]] = {}  # what a seat may send by these rules


@contract()
class CommandEnvelope:
    """A command on its way: its sender (None is the system), its game, and the sender's id for it."""

    id: CommandId
    game: GameId
    seat: Seat | None
    command: Command


class UnknownCommandError(InvalidInputError):
    """A command is of a type that there isn't. The reason has those that there are."""


def unknown_command(types: Iterable[str]) -> UnknownCommandError:
    """The error that names these types."""
    return UnknownCommandError("type", f"must be one of {', '.join(sorted(types))}")


def read_command(value: object, *, players_only: bool = False) -> Command:
    """The command in a JSON-like object `{"type": ..., fields}`.

    Raises InvalidInputError: no object, an unknown field, a value out of range; UnknownCommandError: an unknown type."""
    if not isinstance(value, dict):
        raise InvalidInputError("command", "must be an object with a type")
    fields = dict(value)
    command_type = fields.pop("type", None)
    schema = SCHEMAS.get(command_type) if isinstance(command_type, str) else None
    if schema is None or (players_only and COMMAND_REGISTRY.by_type[command_type].sender != "player"):
        raise unknown_command(
            cls.type for cls in COMMAND_REGISTRY.classes if cls.sender == "player" or not players_only
        )
    return schema.read(fields)


def write_command(command: Command) -> dict[str, object]:
    """A command as a JSON-like object, without the fields that are null."""
    written: dict[str, object] = {"type": command.type}
    for name in FIELDS[type(command)]:
        if (value := getattr(command, name)) is not None:
            written[name] = value
    if isinstance(command, CreateGame):
        dumped = SCHEMAS[CreateGame.type].write(command, exclude_defaults=True)
        for name in ("position", "play_off", "fork"):
            if name in written:
                written[name] = dumped[name]
        written["seats"] = [
            {"kind": plan.kind, **dumped_plan}
            for plan, dumped_plan in zip(command.seats, dumped["seats"], strict=True)
        ]
    return written
