"""The values that go into the event store and the queues and come out of them, its errors, and the roles that others than
`RedisLedger` have too."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Final, NamedTuple, Protocol

from redis.exceptions import ConnectionError, RedisError

from schemas.commands import CommandEnvelope
from schemas.errors import LedgerlineError
from schemas.field_types import Seat
from schemas.stored.entries import ViewEntry
from schemas.stored.player_names import SaltedName, SaltedNames

EngineError = RedisError  # the engine is away, or refuses the command
ENGINE_ERRORS: Final = (RedisError, OSError)  # and what the connection itself raises

MAX_WAITING_TASKS: Final = 100  # in a partition; with more, none is sent again
MAX_WAITING_COMMANDS: Final = 1_000  # in a partition: see QueueFullError


class Delivery(NamedTuple):
    """A command or a bot task that this consumer was handed, packed; it is pending until it is acknowledged."""

    partition: int
    id: str  # in its stream; '' for a command of the server itself
    data: bytes
    delivery_count: int = 1  # how often it was handed to some consumer, this time included


class RejectedCommand(NamedTuple):
    """A command that gets no entry in a log, and why."""

    delivery: Delivery
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

    delivery: Delivery
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

    delivery: Delivery
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


class NodeAwayError(LedgerlineError, ConnectionError):
    """The node that has these keys doesn't answer; the others may."""


class MissingEntryError(LedgerlineError):
    """An entry is missing from a log or a view: the store lost it, or was changed."""


class LogRewoundError(LedgerlineError):
    """An entry that was read isn't there any more: the log lost its end, and may have grown again."""


class QueueFullError(LedgerlineError):
    """Too many commands wait in the partition. Nothing was queued; try again later."""


class EngineBehindError(QueueFullError):
    """So many commands wait for the engine's reply that no more are sent to it. Nothing was queued; try again later."""


class CommandBatchSubmitter(Protocol):
    """Queues many commands at once."""

    def submit_all(self, envelopes: Sequence[CommandEnvelope]) -> list[Exception | None]:
        """Queue many commands in one round trip: for each, why it isn't queued (QueueFullError, or the
        engine's error), or None where it is. Raises the connection's error where the engine is away."""
        ...


class ViewReader(Protocol):
    """Reads views: a ledger, or one with an archive beside it."""

    def read_view(self, game: str, viewer: Seat | None, after: int = 0, limit: int = 1000) -> list[ViewEntry]:
        """A viewer's entries after this number. Raises MissingEntryError: a number or a private part
        is missing."""
        ...


class ViewFollower(Protocol):
    """Waits for new entries of a view: a ledger, or one with an archive beside it."""

    def follow_view(self, game: str, viewer: Seat | None, after: int, block_ms: int) -> list[ViewEntry]:
        """A viewer's entries after this number, waiting up to `block_ms` for the first one. Called again
        with the last number it returned, it follows the game. Raises MissingEntryError."""
        ...


class GameReader(ViewReader, Protocol):
    """Reads the log, the views and the names of any game: a ledger, or one with an archive beside it."""

    def read_entries(self, game: str, after: int = 0) -> list[bytes]:
        """The log's entries after this number. Raises MissingEntryError: a number is missing."""
        ...

    def read_names(self, game: str) -> SaltedNames:
        """The names of the game's players that weren't erased, by the commitments in its log."""
        ...


def iter_view(reader: ViewReader, game: str, viewer: Seat | None) -> Iterator[ViewEntry]:
    """A viewer's whole view, read page by page. Raises what `read_view` does."""
    sequence = 0
    while page := reader.read_view(game, viewer, sequence):
        yield from page
        sequence = page[-1].number
