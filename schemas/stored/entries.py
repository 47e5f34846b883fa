"""Entries of a log and of a view: one entry for each decided command, with all its events.

An entry holds the whole effect of one command, so every prefix of a log folds to a valid state.
Entries are numbered in the game's log from 1 without a gap. A refusal is an entry too, private to
its seat; the others get an empty entry of that number.
"""

from __future__ import annotations

from base64 import b64encode
from dataclasses import field
from reprlib import repr as short_repr
from typing import Final, NamedTuple, TypeAlias

from schemas.commands import Command, CommandEnvelope, write_command
from schemas.contract import Schema, contract
from schemas.errors import InvalidInputError
from schemas.events import CommandRefused, Event, write_event
from schemas.field_types import CommandId, GameId, Milliseconds, Seat


@contract()
class Entry:
    """One entry of the log: the command as sent, when it was decided, its events."""

    at: Milliseconds  # since the game was opened, by the game clock
    id: CommandId
    seat: Seat | None  # the sender; None: the system
    command: Command
    events: tuple[Event, ...]

    @property
    def refusal(self) -> CommandRefused | None:
        """The refusal that the entry records; None where the command was accepted."""
        first = self.events[0] if self.events else None
        return first if isinstance(first, CommandRefused) else None


class ShownBytes(NamedTuple):
    """The bytes that a view entry was read from, and the chain head after it (docs/reference/proof.md)."""

    public: bytes = b""
    private_part: bytes | None = None
    head: bytes = b""  # empty where it isn't known


@contract()
class ViewEntry:
    """An entry as one viewer gets it: what that viewer may know, and no more."""

    number: int
    at: Milliseconds
    answers: CommandId | None  # the viewer's own command that the entry decides
    events: tuple[Event, ...]
    shown: ShownBytes = field(default=ShownBytes(), compare=False, repr=False)


def write_entry(sequence: int, entry: Entry) -> dict[str, object]:
    """A log entry as a JSON object, for replays and audits."""
    return {
        "number": sequence,
        "at": entry.at,
        "id": entry.id,
        "seat": entry.seat,
        "command": write_command(entry.command),
        "events": [write_event(event) for event in entry.events],
    }


def write_view_entry(entry: ViewEntry) -> dict[str, object]:
    """A view entry as a JSON object: what the gateway sends."""
    return {
        "number": entry.number,
        "at": entry.at,
        "answers": entry.answers,
        "events": [write_event(event) for event in entry.events],
        "head": entry.shown.head.hex() or None,
    }


def write_proof(shown: ShownBytes) -> dict[str, object]:
    """The bytes of a view entry in base64, for clients that compute the chain themselves."""
    return {
        "public": b64encode(shown.public).decode(),
        "part": b64encode(shown.private_part).decode() if shown.private_part else None,
    }


# -- what stands beside the command ------------------------------------------------------------


@contract()
class EnvelopeHeader:
    """The header of an envelope: its id, and which seat of which game sent it."""

    id: CommandId
    game: GameId
    seat: Seat | None


# Both say who sent a command: what is left of an envelope whose command can't be read, and a whole one.
SentBy: TypeAlias = EnvelopeHeader | CommandEnvelope


class ForeignCommandError(InvalidInputError):
    """A queued command is of a type that no game has which is installed here. `header` says who sent it."""

    def __init__(self, header: EnvelopeHeader, command_type: str) -> None:
        super().__init__("type", f"is {short_repr(command_type)}, which no game that is installed here has")
        self.header = header


@contract()
class EntryHeader:
    """The header of a log entry: when it was decided, the command's id, and its sender."""

    at: Milliseconds
    id: CommandId
    seat: Seat | None


ENTRY_HEADER: Final[Schema[EntryHeader]] = Schema(EntryHeader, "entry")
ENVELOPE_HEADER: Final[Schema[EnvelopeHeader]] = Schema(EnvelopeHeader, "envelope")
