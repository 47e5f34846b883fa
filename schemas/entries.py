"""Entries of a log and of a view: one entry a verdict, all that one command did.

An entry holds the whole effect of one command, so every prefix of a log is a whole
position: nobody ever folds half a move. Its number is its place in the game's log, from
1 without a gap. A refusal is an entry too, private to its seat; for the others its number
holds an empty entry.
"""

from __future__ import annotations

from base64 import b64encode
from dataclasses import field
from typing import Any, NamedTuple

from schemas.commands import Command, write_command
from schemas.contract import contract
from schemas.events import CommandRefused, Event, write_event
from schemas.field_types import CommandId, Milliseconds, Seat


@contract()
class Entry:
    """One entry of the log: the command as it came, when it was decided, what it did."""

    at: Milliseconds  # since the game was opened, in the house's own time
    id: CommandId
    seat: Seat | None  # who spoke; None is the house
    command: Command
    events: tuple[Event, ...]

    @property
    def refusal(self) -> CommandRefused | None:
        first = self.events[0] if self.events else None
        return first if isinstance(first, CommandRefused) else None


class ShownBytes(NamedTuple):
    """The bytes that a view entry was read from, and the head after it (docs/proof.md)."""

    public: bytes = b""
    private_part: bytes | None = None
    head: bytes = b""  # empty where it isn't known


@contract()
class ViewEntry:
    """The same entry as one viewer gets it: what that viewer may know, and no more."""

    number: int
    at: Milliseconds
    answers: CommandId | None  # the viewer's own command that this is the verdict on
    events: tuple[Event, ...]
    shown: ShownBytes = field(default=ShownBytes(), compare=False, repr=False)


def write_entry(sequence: int, entry: Entry) -> dict[str, Any]:
    """A log entry as a JSON object, for replays and audits."""
    return {
        "number": sequence,
        "at": entry.at,
        "id": entry.id,
        "seat": entry.seat,
        "command": write_command(entry.command),
        "events": [write_event(event) for event in entry.events],
    }


def write_view_entry(entry: ViewEntry) -> dict[str, Any]:
    """A view entry as a JSON object: what the gateway sends."""
    return {
        "number": entry.number,
        "at": entry.at,
        "answers": entry.answers,
        "events": [write_event(event) for event in entry.events],
        "head": entry.shown.head.hex() or None,
    }


def write_proof(entry: ViewEntry) -> dict[str, Any]:
    """The very bytes of a view entry, in base64, for those who compute the chain themselves."""
    private_part = entry.shown.private_part
    return {
        "public": b64encode(entry.shown.public).decode(),
        "part": b64encode(private_part).decode() if private_part else None,
    }
