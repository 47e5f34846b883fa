"""What goes into the ledger's ports and comes out of them."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Final, NamedTuple

from schemas.commands import CommandEnvelope
from schemas.field_types import Seat
from schemas.stored.player_names import SaltedName, SaltedNames

MAX_WAITING_TASKS: Final = 100  # in a partition; with more, none is sent again
MAX_WAITING_COMMANDS: Final = 1_000  # in a partition: see QueueFullError


class DeliveredCommand(NamedTuple):
    """A command that this consumer was handed; it is pending until it is acknowledged."""

    partition: int
    id: str  # in the commands stream; '' for a command of the server itself
    data: bytes
    delivery_count: int = 1  # how often it was handed to some consumer, this time included


class RejectedCommand(NamedTuple):
    """A command that gets no entry in a log, and why."""

    delivery: DeliveredCommand
    envelope: CommandEnvelope
    rule: str
    reason: str


class BotTask(NamedTuple):
    """A request to the bots: this seat is to act, as of this entry."""

    game: str
    seat: Seat
    sequence: int
    policy: str


class DeliveredBotTask(NamedTuple):
    partition: int
    id: str
    task: BotTask
    delivery_count: int = 1  # how often it was handed to some consumer, this time included


class EvictAt(NamedTuple):
    """The game may leave the engine at this time: milliseconds since 1970, by the wall clock."""

    at_ms: int


class EvictionChange(StrEnum):
    """What an append does to a game's eviction time where it sets none. The values are what
    append_entry.lua reads."""

    KEEP = "="
    CLEAR = ""  # the game is being played and stays


class AppendRequest(NamedTuple):
    """Everything that one command does, to be written at one place of one log."""

    delivery: DeliveredCommand
    game: str
    expected_length: int  # entries that were folded to decide it
    previous_head: bytes  # the head after them; empty where it isn't known
    sender: Seat | None
    command_id: str
    command_digest: str  # of what the command asks for
    at_ms: int  # milliseconds since 1970, by the wall clock
    secret: bytes  # what of the log entry neither `public` nor `private_parts` have
    public: bytes
    head: bytes  # after this entry
    private_parts: Sequence[tuple[Seat, bytes]]  # what only one seat may see
    tasks: Sequence[BotTask]
    deadline_ms: int | None  # by the game clock
    eviction: EvictAt | EvictionChange = EvictionChange.KEEP
    is_listed: bool = True  # the game stands in the list that everybody may read
    names: Sequence[SaltedName] = ()  # that this entry commits to
    names_left: Sequence[str] = ()  # commitments to those that leave the table by it


class DuplicateCommand(NamedTuple):
    """A command whose id has its entry in the log: nothing is written, the delivery is acknowledged."""

    delivery: DeliveredCommand
    game: str
    sender: Seat | None
    command_id: str


class GameLog(NamedTuple):
    """A log, and the head after its last entry."""

    entries: Sequence[bytes]
    head: bytes
    is_stored: bool = False  # the game is over, and the engine has its file in place of its streams


class StoredGame(NamedTuple):
    """The file of a finished game, and the names of its players that weren't erased."""

    data: bytes
    names: SaltedNames


class AppendStatus(StrEnum):
    """What became of an append."""

    APPENDED = "appended"
    DUPLICATE = "duplicate"  # the command id has its entry already
    CONFLICT = "conflict"  # another referee appended first: fold again and decide again
    DAMAGED = "damaged"  # the game's keys don't fit each other; the log takes no more entries
    UNKNOWN = "unknown"  # its node of a cluster is away or the slot is moving; the command is redelivered


class AppendResult(NamedTuple):
    """`sequence` is the number of the command's entry (APPENDED, DUPLICATE), the log's length
    (CONFLICT, DAMAGED) or 0 (UNKNOWN)."""

    status: AppendStatus
    sequence: int


class CommandResult(NamedTuple):
    """What became of a command: its entry's number, or 0 and the rule and reason of its rejection."""

    sequence: int
    rule: str = ""
    reason: str = ""
    command_digest: str = ""  # of the command that the entry answers; a rejection has none
