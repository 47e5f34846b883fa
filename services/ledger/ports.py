"""The ledger's ports: what a referee, a bot or a replay needs of the event store and the queues.

One protocol a role; a consumer that needs several composes its own. `RedisLedger` implements all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from typing import Final, NamedTuple, Protocol

from redis.exceptions import ConnectionError, RedisError

from schemas.commands import CommandEnvelope
from schemas.errors import LedgerlineError
from schemas.field_types import Seat
from schemas.stored.entries import SentBy, ViewEntry
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


class NameReader(Protocol):
    """Reads the names that lie beside a log: a ledger, or one with an archive beside it."""

    def read_names(self, game: str) -> SaltedNames:
        """The names of the game's players that weren't erased, by the commitments in its log."""
        ...


class EntryReader(Protocol):
    """Reads log entries: a ledger, or one with an archive beside it."""

    def read_entries(self, game: str, after: int = 0) -> list[bytes]:
        """The log's entries after this number. Raises MissingEntryError: a number is missing."""
        ...


class EventReader(EntryReader, Protocol):
    """Reads whole logs and their heads."""

    def read_log(self, game: str) -> GameLog:
        """The log from its first entry on, and its head. Raises MissingEntryError: a number is missing."""
        ...

    def read_logs(self, games: Sequence[str]) -> dict[str, GameLog]:
        """Many whole logs in one round trip. A log that `read_log` would raise for is left out."""
        ...

    def head(self, game: str) -> tuple[int, bytes]:
        """The number of the log's last entry (0 for none) and the head after it."""
        ...

    def heads(self, games: Sequence[str]) -> dict[str, tuple[int, bytes]]:
        """The heads of many logs, in one round trip, without those on a node that is away."""
        ...


class GameCatalog(Protocol):
    """Lists games."""

    def games(self, limit: int = 1000) -> list[str]:
        """The games that the engine holds, public or not, the latest first."""
        ...


class EventStore(EventReader, NameReader, GameCatalog, Protocol):
    """The append-only logs. Entries of a game are numbered from 1."""

    def partition_of(self, game: str) -> int:
        """The partition that holds a game's keys."""
        ...

    def append(self, decided: Iterable[AppendRequest | DuplicateCommand]) -> list[AppendResult]:
        """Write each decision, all of it or nothing, in order, in one round trip: the first may be written while the
        next are decided. Raises what deciding them raises; then those before may have been written."""
        ...


class CommandSubmitter(Protocol):
    """The sending side of the command queue."""

    def submit(self, envelope: CommandEnvelope) -> None:
        """Queue a command. Submitting it again under the same id is harmless.

        Raises QueueFullError: too many commands wait; InvalidInputError: the envelope is too large."""
        ...

    def read_result(self, game: str, sender: Seat | None, command_id: str) -> CommandResult | None:
        """The result of a command; None while it isn't known."""
        ...


class CommandBatchSubmitter(Protocol):
    """Queues many commands at once."""

    def submit_all(self, envelopes: Sequence[CommandEnvelope]) -> list[Exception | None]:
        """Queue many commands in one round trip: for each, why it isn't queued (QueueFullError, or the
        engine's error), or None where it is. Raises the connection's error where the engine is away."""
        ...


class CommandDeliveries(Protocol):
    """Reads the command streams through one consumer group. `partitions` are those that the caller has leased; any
    partition may be read by any consumer."""

    def take(self, consumer: str, partitions: Sequence[int], count: int, block_ms: int) -> list[Delivery]:
        """The next commands of these partitions, at most `count` of each; waits up to `block_ms` for one."""
        ...

    def reclaim(self, consumer: str, partitions: Sequence[int], idle_ms: int) -> list[Delivery]:
        """Commands that were delivered once, to another consumer, and are pending for `idle_ms`."""
        ...

    def redelivered(self, consumer: str, partitions: Sequence[int], idle_ms: int) -> Iterator[Delivery]:
        """Commands that were delivered more than once and are still pending: one of them may crash
        its referees. Each is claimed just before it is yielded, so that only its own delivery is
        counted; the least often delivered come first."""
        ...

    def renew(self, consumer: str, deliveries: Sequence[Delivery]) -> None:
        """Restart the idle time of deliveries that this consumer still works on, so that nobody reclaims
        them. This isn't counted as a delivery. What was acknowledged meanwhile stays so."""
        ...


class CommandQueue(CommandSubmitter, Protocol):
    """The command streams, and what becomes of a command without an entry."""

    @property
    def commands(self) -> CommandDeliveries:
        """The commands that wait, and those that were handed out."""
        ...

    def reject_without_entry(self, rejected: Sequence[RejectedCommand]) -> None:
        """Acknowledge commands without log entries, in one round trip; each sender can read the reason for a minute.
        Those on a node that is away stay pending."""
        ...

    def move_to_dead_letters(self, delivery: Delivery, envelope: SentBy | None, reason: str) -> None:
        """Move a command that can't be decided to the dead letters. Its sender, where the envelope says who
        it is, finds a rejection for a minute."""
        ...

    def prune_consumers(self, partitions: Iterable[int], idle_ms: int) -> int:
        """Remove consumers with nothing pending that were silent for so long; how many."""
        ...


class BotTaskDispatcher(Protocol):
    """The sending side of the bot task queue. (New tasks are sent by `EventStore.append`.)"""

    def redispatch(self, tasks: Sequence[BotTask]) -> None:
        """Send tasks again, unless so many wait that the bots must be away."""
        ...


class BotTaskQueue(BotTaskDispatcher, Protocol):
    """The bot tasks of all partitions, read through one consumer group. A task that can't be
    decoded is logged and acknowledged wherever it is delivered."""

    def take_tasks(self, consumer: str, count: int, block_ms: int) -> list[DeliveredBotTask]:
        """The next tasks, at most `count` of each partition; waits up to `block_ms` for one."""
        ...

    def reclaim_tasks(self, consumer: str, idle_ms: int) -> list[DeliveredBotTask]:
        """Tasks that were delivered once, to another worker, and are pending for `idle_ms`."""
        ...

    def redelivered_tasks(self, consumer: str, idle_ms: int) -> Iterator[DeliveredBotTask]:
        """Tasks that were delivered more than once, one at a time: see `CommandDeliveries.redelivered`."""
        ...

    def requeue_tasks(self, tasks: Sequence[DeliveredBotTask]) -> None:
        """Leave these tasks for later; this delivery of them isn't counted."""
        ...

    def renew_tasks(self, consumer: str, tasks: Sequence[DeliveredBotTask]) -> None:
        """Restart the idle time of all tasks that the consumer holds; not counted as a delivery."""
        ...

    def acknowledge_tasks(self, tasks: Sequence[DeliveredBotTask]) -> None:
        """Remove these tasks: they are done."""
        ...


class DeadlineIndex(Protocol):
    """When each game needs the referee next, in milliseconds of the game clock."""

    def due_deadlines(self, game_time_ms: int, partitions: Iterable[int]) -> list[tuple[str, int]]:
        """Games whose deadline has passed, with the deadline."""
        ...

    def has_deadline(self, game: str) -> bool:
        """Whether the game has a deadline, passed or not."""
        ...

    def set_deadline(self, game: str, deadline_ms: int | None) -> None:
        """Set a game's deadline; None removes it."""
        ...


class EvictionIndex(Protocol):
    """When each idle game may leave the engine, in milliseconds of the wall clock since 1970."""

    def evictable(self, now_ms: int, partitions: Iterable[int]) -> list[str]:
        """Games that may leave by now: finished long ago, or never started."""
        ...

    def schedule_eviction(self, game: str, evict_at_ms: int | None) -> None:
        """Set when a game may leave; None for one that is being played."""
        ...

    def evict(self, game: str, seats: int, length: int) -> bool:
        """Remove every key of a game whose log has this length; False if it has another."""
        ...


class StoredGameReader(Protocol):
    """Reads finished games that the engine has as one value."""

    def read_stored_game(self, game: str) -> StoredGame | None:
        """The file of a finished game, with names; None where the engine has no file of it. Raises CorruptDataError."""
        ...


class StreamRemovalIndex(StoredGameReader, Protocol):
    """When the streams of each finished game may go, as the engine has its file, in milliseconds of the wall clock."""

    def removable_streams(self, now_ms: int, partitions: Iterable[int]) -> list[str]:
        """Games whose streams may go by now."""
        ...

    def schedule_removal(self, game: str, at_ms: int | None) -> None:
        """Set when a game's streams may go; None keeps them until its file is stored anew."""
        ...

    def remove_streams(self, game: str, seats: int, game_log: GameLog, data: bytes) -> bool:
        """Remove the streams of a game whose file is `data`, made of this log; False if either is another now."""
        ...


class ViewReader(Protocol):
    """Reads views: a ledger, or one with an archive beside it."""

    def read_view(self, game: str, viewer: Seat | None, after: int = 0, limit: int = 1000) -> list[ViewEntry]:
        """A viewer's entries after this number. Raises MissingEntryError: a number or a private part
        is missing."""
        ...


class ViewFollower(Protocol):
    """Waits for new entries of a view."""

    def follow_view(self, game: str, viewer: Seat | None, after: int, block_ms: int) -> list[ViewEntry]:
        """A viewer's entries after this number, waiting up to `block_ms` for the first one. Called again
        with the last number it returned, it follows the game. Raises MissingEntryError."""
        ...


class GameReader(EntryReader, ViewReader, NameReader, Protocol):
    """Reads the log, the views and the names of any game."""


def iter_view(reader: ViewReader, game: str, viewer: Seat | None) -> Iterator[ViewEntry]:
    """A viewer's whole view, read page by page. Raises what `read_view` does."""
    sequence = 0
    while page := reader.read_view(game, viewer, sequence):
        yield from page
        sequence = page[-1].number
