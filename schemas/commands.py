"""Commands: wishes, in the imperative. The referee may refuse any of them, naming a rule.

The seat that speaks stands on the letter that carries the command, not in the command:
the gateway writes it there from the speaker's token, so nobody can speak for another.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import Field, model_validator

from schemas.contract import Contract, Malformed, Shape, contract, field_names
from schemas.words import Card, Cards, CommandId, GameId, Int, Name, Plain, RouteId, Seat, Text, Word

Policy = Literal["random", "greedy"]
POLICIES: Final = ("random", "greedy")


@contract()
class SeatPlan:
    """Who a seat is for: a person who will join, or a bot of a policy."""

    kind: Literal["human", "bot"] = "human"
    policy: Policy | None = None
    name: Name | None = None


@contract(code=1)
class CreateGame(Contract):
    """Lay a table: which rules, which board, who sits there, what differs from the usual."""

    seats: Annotated[tuple[SeatPlan, ...], Field(min_length=1, max_length=8)]
    ruleset: Word = "usa"
    board: Word | None = None
    seed: Annotated[Text, Field(min_length=1, max_length=64)] | None = None
    options: Annotated[Plain, Field(max_length=64)] | None = None


@contract(code=2)
class TakeSeat(Contract):
    """Sit down at a free seat: this one, or the first."""

    name: Name
    seat: Seat | None = None


@contract(code=3)
class StartGame(Contract):
    """Shuffle and deal."""


@contract(code=4)
class DrawBlind(Contract):
    """Take the top card of the deck, unseen by the others."""


@contract(code=5)
class DrawMarket(Contract):
    """Take a card that lies face up, by its place (from 0) or by its kind."""

    slot: Annotated[Int, Field(ge=0, le=9)] | None = None
    color: Card | None = None

    @model_validator(mode="after")
    def _one_of_the_two(self) -> DrawMarket:
        if (self.slot is None) == (self.color is None):
            raise ValueError("give either slot or color")
        return self


@contract(code=6)
class DrawTickets(Contract):
    """Ask for more destination tickets; which decks, where the ruleset has several."""

    decks: Annotated[Mapping[Word, Annotated[Int, Field(ge=0, le=10)]], Field(max_length=4)] | None = None


@contract(code=7)
class KeepTickets(Contract):
    """Keep these of the offered tickets, by their places in the offer (from 0)."""

    keep: Annotated[tuple[Annotated[Int, Field(ge=0, le=9)], ...], Field(max_length=10)]


@contract(code=8)
class ClaimRoute(Contract):
    """Lay cars on a route, paying with these cards."""

    route: RouteId
    cards: Annotated[Cards, Field(min_length=1)]


@contract(code=9)
class Pass(Contract):
    """Do nothing, where nothing can be done (TURN-4)."""


@contract(code=10)
class Leave(Contract):
    """Leave the table for good (CONDUCT-3)."""


@contract(code=11)
class CallTime(Contract):
    """The clock's own command: a seat's time is over (CLOCK-2)."""

    seat: Seat


PlayerCommand: TypeAlias = DrawBlind | DrawMarket | DrawTickets | KeepTickets | ClaimRoute | Pass | Leave
HouseCommand: TypeAlias = CreateGame | TakeSeat | StartGame | CallTime
Command: TypeAlias = PlayerCommand | HouseCommand

PLAYER_COMMANDS: Final[tuple[type[PlayerCommand], ...]] = (
    DrawBlind, DrawMarket, DrawTickets, KeepTickets, ClaimRoute, Pass, Leave,
)  # fmt: skip
HOUSE_COMMANDS: Final[tuple[type[HouseCommand], ...]] = (CreateGame, TakeSeat, StartGame, CallTime)
COMMANDS: Final[tuple[type[Command], ...]] = (*HOUSE_COMMANDS, *PLAYER_COMMANDS)

SHAPES: Final[dict[str, Shape[Command]]] = {cls.type: Shape(cls, cls.type) for cls in COMMANDS}
FIELDS: Final[dict[type[Command], tuple[str, ...]]] = {cls: field_names(cls) for cls in COMMANDS}
BY_CODE: Final[dict[int, type[Command]]] = {cls.code: cls for cls in COMMANDS}
assert len(BY_CODE) == len(COMMANDS), "two commands share a code"
_PLAYER_TYPES: Final = frozenset(cls.type for cls in PLAYER_COMMANDS)


@contract()
class Letter:
    """A command on its way: who speaks (None is the house), in which game, under which id."""

    id: CommandId
    game: GameId
    seat: Seat | None
    command: Command


def read_command(value: object, *, players_only: bool = False) -> Command:
    """The command that a JSON-like object `{"type": ..., fields}` spells.

    Raises Malformed: no object, an unknown type, an unknown field, a value out of range."""
    if not isinstance(value, dict):
        raise Malformed("command", "must be an object with a type")
    fields = dict(value)
    kind = fields.pop("type", None)
    known = _PLAYER_TYPES if players_only else SHAPES.keys()
    if not isinstance(kind, str) or kind not in known:
        raise Malformed("type", f"must be one of {', '.join(sorted(known))}")
    return SHAPES[kind].read(fields)


def write_command(command: Command) -> dict[str, Any]:
    """A command as a JSON-like object, without the fields that hold nothing."""
    written: dict[str, Any] = {"type": command.type}
    for name in FIELDS[type(command)]:
        if (value := getattr(command, name)) is not None:
            written[name] = value
    if isinstance(command, CreateGame):
        written["seats"] = [
            {k: getattr(plan, k) for k in ("kind", "policy", "name") if getattr(plan, k) is not None}
            for plan in command.seats
        ]
    return written
