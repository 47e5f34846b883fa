"""Commands in words: what a seat asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from schemas import commands
from schemas.commands import Command
from schemas.contract import CommandContract, wish_of
from schemas.field_types import Seat
from schemas.registry import OfItsKey
from services.referee.games.state import GameState
from services.text.formatting import fill_in, pluralize, seat_name, seat_title

CommandText: TypeAlias = Callable[[GameState, Seat | None, OfItsKey], str]  # of its sender


def sender_name(state: GameState, seat: Seat | None) -> str:
    """The sender of a command: a seat by its name and letter, or "the server" (a system command)."""
    if seat is None or seat >= len(state.seats):
        return "the server" if seat is None else f"seat {seat}"
    name = state.seats[seat].name
    return f"{name} ({seat_title(seat)})" if name else seat_title(seat)


def describe_command(state: GameState, seat: Seat | None, command: Command) -> str:
    """The command as what somebody wants to do: "play the queen of hearts". One that names
    what the table lacks is described by its fields as they are."""
    words = DESCRIPTIONS.get(type(command), command.description)
    try:
        return fill_in(state, words, command) if isinstance(words, str) else words(state, seat, command)
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
    if (title := TITLES.get(type(command))) is not None:
        return title(state, command)
    text, kind = describe_command(state, seat, command), wish_of(command)
    return (kind, text.removeprefix(kind).strip(": ")) if text.startswith(kind) else (text, "")


def _raw_text(command: Command) -> str:
    fields = ((name, getattr(command, name)) for name in commands.FIELDS[type(command)])
    values = ", ".join(f"{name} {value}" for name, value in fields if value is not None)
    return command.type.replace("_", " ") + (f": {values}" if values else "")


def _take_seat(state: GameState, seat: Seat | None, command: commands.TakeSeat) -> str:
    name = command.name or state.name_of(command.name_commitment)
    return f"take a seat as {name}" if name else "take a seat"


# What a game's own commands don't say themselves, its family adds.
DESCRIPTIONS: Final[dict[type[CommandContract], str | CommandText]] = {
    commands.StartGame: "start the game",
    commands.Pass: "pass",
    commands.Leave: "leave the table",
    commands.EndGame: "end the game, in which nobody has acted for long",
    commands.ForkGame: "fork game",
    commands.CreateGame: lambda state, seat, command: (
        f"create a game with {pluralize(len(command.seats), 'seat')}"
    ),
    commands.TakeSeat: _take_seat,
    commands.CallTime: lambda state, seat, command: (
        f"say that the time of {seat_name(state, command.seat)} is over"
    ),
    commands.FreeSeat: lambda state, seat, command: f"free {seat_title(command.seat)}",
    commands.SeatBot: lambda state, seat, command: (
        f"let a bot take {seat_title(command.seat)}: {command.policy}"
    ),
    commands.AnswerUndo: lambda state, seat, command: (
        "let the last move be taken back" if command.agrees else "let the last move stand"
    ),
}
# The title of these commands, and what tells them apart below it.
TITLES: Final[dict[type[CommandContract], Callable[[GameState, OfItsKey], tuple[str, str]]]] = {}
