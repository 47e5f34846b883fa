"""Commands in words: what a seat asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias, TypeVar

from schemas import commands
from schemas.commands import Command
from schemas.contract import COMMAND_REGISTRY, CommandContract, wish_of
from schemas.field_types import Seat
from schemas.registry import HandlerTable, OfItsKey
from services.referee.games.state import GameState
from services.text.formatting import fill_in, pluralize, seat_name, seat_title

C = TypeVar("C", bound=CommandContract)
CommandText: TypeAlias = Callable[[GameState, Seat | None, OfItsKey], str]
DESCRIPTION_TABLE: Final[HandlerTable[CommandContract, CommandText]] = HandlerTable(
    "description", COMMAND_REGISTRY
)

_TITLES: Final[dict[type[CommandContract], Callable[[GameState, OfItsKey], tuple[str, str]]]] = {}

PLAIN: Final[Mapping[type[CommandContract], str]] = {
    commands.StartGame: "start the game",
    commands.Pass: "pass",
    commands.Leave: "leave the table",
    commands.EndGame: "end the game, in which nobody has acted for long",
    commands.ForkGame: "fork game",
}  # commands whose description needs nothing of them


def describes(
    cls: type[C],
) -> Callable[[Callable[[GameState, Seat | None, C], str]], Callable[[GameState, Seat | None, C], str]]:
    """The decorator of the function that describes these commands."""
    return DESCRIPTION_TABLE(cls)


def titles(
    cls: type[C],
) -> Callable[[Callable[[GameState, C], tuple[str, str]]], Callable[[GameState, C], tuple[str, str]]]:
    """The decorator of the function that gives these commands their title and what tells them apart below it."""

    def decorate(
        function: Callable[[GameState, C], tuple[str, str]],
    ) -> Callable[[GameState, C], tuple[str, str]]:
        _TITLES[cls] = function
        return function

    return decorate


def sender_name(state: GameState, seat: Seat | None) -> str:
    """The sender of a command: a seat by its name and letter, or "the server" (a system command)."""
    if seat is None or seat >= len(state.seats):
        return "the server" if seat is None else f"seat {seat}"
    name = state.seats[seat].name
    return f"{name} ({seat_title(seat)})" if name else seat_title(seat)


def describe_command(state: GameState, seat: Seat | None, command: Command) -> str:
    """The command as what somebody wants to do: "play the queen of hearts". One that names
    what the table lacks is described by its fields as they are."""
    if plain := PLAIN.get(type(command)) or fill_in(state, command.description, command):
        return plain
    try:
        return DESCRIPTION_TABLE.functions[type(command)](state, seat, command)
    except (LookupError, AttributeError):  # something that isn't on the table, or no table yet
        return _raw_text(command)


def group_commands(
    state: GameState, seat: Seat, alternatives: Sequence[Command]
) -> list[tuple[str, list[str]]]:
    """Many commands as a few titles: each by its type, or as its game titles it. Each title has its variants, which may
    be none."""
    groups: dict[str, list[str]] = {}
    for command in alternatives:
        title, detail = command_title(state, seat, command)
        details = groups.setdefault(title, [])
        if detail:
            details.append(detail)
    return list(groups.items())


def command_title(state: GameState, seat: Seat, command: Command) -> tuple[str, str]:
    """The title of the group that a command belongs to, and which of the group it is (may be empty)."""
    if (title := _TITLES.get(type(command))) is not None:
        return title(state, command)
    text, kind = describe_command(state, seat, command), wish_of(command)
    return (kind, text.removeprefix(kind).strip(": ")) if text.startswith(kind) else (text, "")


def _raw_text(command: Command) -> str:
    fields = ((name, getattr(command, name)) for name in commands.FIELDS[type(command)])
    values = ", ".join(f"{name} {value}" for name, value in fields if value is not None)
    return command.type.replace("_", " ") + (f": {values}" if values else "")


@describes(commands.CreateGame)
def _create_game(state: GameState, seat: Seat | None, command: commands.CreateGame) -> str:
    return f"create a game with {pluralize(len(command.seats), 'seat')}"


@describes(commands.AnswerUndo)
def _answer_undo(state: GameState, seat: Seat | None, command: commands.AnswerUndo) -> str:
    return "let the last move be taken back" if command.agrees else "let the last move stand"


@describes(commands.TakeSeat)
def _take_seat(state: GameState, seat: Seat | None, command: commands.TakeSeat) -> str:
    name = command.name or state.name_of(command.name_commitment)
    return f"take a seat as {name}" if name else "take a seat"


@describes(commands.CallTime)
def _call_time(state: GameState, seat: Seat | None, command: commands.CallTime) -> str:
    return f"say that the time of {seat_name(state, command.seat)} is over"


@describes(commands.FreeSeat)
def _free_seat(state: GameState, seat: Seat | None, command: commands.FreeSeat) -> str:
    return f"free {seat_title(command.seat)}"


@describes(commands.SeatBot)
def _seat_bot(state: GameState, seat: Seat | None, command: commands.SeatBot) -> str:
    return f"let a bot take {seat_title(command.seat)}: {command.policy}"


DESCRIPTION_TABLE.none_for(*PLAIN, *(cls for cls in COMMAND_REGISTRY.classes if cls.description))
