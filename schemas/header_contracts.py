"""What stands beside the command in an envelope, and in a log entry, as contracts: so it is read strictly.

They have a module of their own because pydantic reads a contract from its class, which compiled code doesn't keep as it is
(docs/compiled.md).
"""

from __future__ import annotations

from typing import Final

from schemas.contract import Schema, contract
from schemas.field_types import CommandId, GameId, Milliseconds, Seat


@contract()
class EnvelopeHeader:
    """Of an envelope: its id, and which seat of which game sent it."""

    id: CommandId
    game: GameId
    seat: Seat | None


@contract()
class EntryHeader:
    """Of a log entry: when it was decided, the command's id, and its sender."""

    at: Milliseconds
    id: CommandId
    seat: Seat | None


ENTRY_HEADER: Final[Schema[EntryHeader]] = Schema(EntryHeader, "entry")
ENVELOPE_HEADER: Final[Schema[EnvelopeHeader]] = Schema(EnvelopeHeader, "letter")
