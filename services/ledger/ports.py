"""The ledger's port: what a referee, a bot or a replay asks of the log and the broker."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Literal, NamedTuple, Protocol

from schemas.commands import CommandEnvelope
from schemas.entries import ViewEntry
from schemas.field_types import Seat


class MissingEntryError(Exception):
    """A number is missing from a log or a view: the store lost something, or was changed."""


class QueueFullError(Exception):
    """So many letters wait in the partition that no more are taken in; later, there is room.
    Nothing was put down."""


MAX_WAITING_TASKS: Final = 100  # that wait in a partition while none is put down once more
MAX_WAITING_COMMANDS: Final = 1_000  # letters in a partition's commands stream: see Full


class DeliveredCommand(NamedTuple):
    """A letter that this consumer has in hand; it stays pending until it is answered."""

    partition: int
    id: str  # in the commands stream; '' for a letter of the clock's own
    data: bytes
    delivery_count: int = 1  # how often it was handed to some consumer, this time included


class BotTask(NamedTuple):
    """A note to the bots: this seat is to act, as of this entry."""

    game: str
    seat: Seat
    sequence: int
    policy: str


class DeliveredBotTask(NamedTuple):
    partition: int
    id: str
    task: BotTask
    delivery_count: int = 1  # how often it was handed to some consumer, this time included


class AppendRequest(NamedTuple):
    """Everything that one command does, ready to be written at one place of one log."""

    delivery: DeliveredCommand
    game: str
    expected_length: int  # how many entries were folded to decide it
    previous_head: bytes  # the head after them; empty where it isn't known
    sender: Seat | None
    command_id: str
    at_ms: int
    entry: bytes
    public: bytes
    head: bytes  # after this entry
    private_parts: Sequence[tuple[Seat, bytes]]  # what single seats may know besides
    tasks: Sequence[BotTask]
    deadline_ms: int | None  # in the house's time
    evict_at_ms: int | Literal["as before"] | None = "as before"  # when the game may leave: see `leaving`


class GameLog(NamedTuple):
    """A log, and the head after its last entry."""

    entries: Sequence[bytes]
    head: bytes


class AppendResult(NamedTuple):
    """`appended`: written as entry `number`. `answered`: this id already has the verdict
    `number`. `conflict`: another referee wrote first; fold again and decide again.
    `damaged`: the log, of `number` entries, has lost its end and takes no more. `unknown`: its
    part of a cluster is away or on its way elsewhere; the letter stays, and comes again."""

    status: str
    sequence: int


class CommandResult(NamedTuple):
    """What became of a command: the entry that answers it, or why none was kept."""

    sequence: int
    rule: str = ""
    reason: str = ""


class Ledger(Protocol):
    """Logs, views, and letters on their way. Numbers are places in a game's log, from 1.

    `partitions` names those that a caller looks after: any may be asked by anyone."""

    def partition_of(self, game: str) -> int:
        """Where a game's keys are."""

    def submit(self, envelope: CommandEnvelope) -> None:
        """Put a command on its way. Sending it again with the same id is harmless. Raises Full."""

    def take(
        self, consumer: str, partitions: Sequence[int], count: int, block_ms: int
    ) -> list[DeliveredCommand]:
        """The next letters of these partitions, at most `count` of each."""

    def reclaim(self, consumer: str, partitions: Sequence[int], idle_ms: int) -> list[DeliveredCommand]:
        """Letters that some other consumer took and never answered, of those that were handed
        out once; the others are suspects."""

    def redelivered(
        self, consumer: str, partitions: Sequence[int], idle_ms: int
    ) -> Iterator[DeliveredCommand]:
        """Letters that were handed out more than once and never answered: one of them may be
        what broke its referees. Each is taken just before it is given, so that no other is
        counted for it; the least suspicious come first."""

    def append(self, requests: Sequence[AppendRequest]) -> list[AppendResult]:
        """Write each verdict, all of it or nothing, in order, in one round trip."""

    def reject_without_entry(
        self, delivery: DeliveredCommand, envelope: CommandEnvelope, rule: str, reason: str
    ) -> None:
        """Answer a letter without an entry; its speaker finds the reason for a minute."""

    def move_to_dead_letters(
        self, delivery: DeliveredCommand, envelope: CommandEnvelope | None, reason: str
    ) -> None:
        """Move a letter that can't be answered to the dead letters; its speaker, if it can be
        told who that is, finds that for a minute."""

    def read_entries(self, game: str, after: int = 0) -> list[bytes]:
        """The log's entries after this number. Raises Gap if a number is missing."""

    def read_log(self, game: str) -> GameLog:
        """The log from its first entry on, and its head. Raises Gap if a number is missing."""

    def read_logs(self, games: Sequence[str]) -> dict[str, GameLog]:
        """Many logs whole, in one round trip. One that `whole` would raise for is left out."""

    def head(self, game: str) -> tuple[int, bytes]:
        """The number of the log's last entry (0 for none) and the head after it."""

    def read_view(self, game: str, viewer: Seat | None, after: int = 0, limit: int = 1000) -> list[ViewEntry]:
        """A viewer's entries after this number. Raises Gap if a number or part is missing."""

    def follow_view(self, game: str, viewer: Seat | None, after: int, block_ms: int) -> list[ViewEntry]:
        """The same, waiting for the first entry at most so long: called again with the last
        number it gave, it goes on for ever. Raises Gap if a number or part is missing."""

    def read_result(self, game: str, sender: Seat | None, command_id: str) -> CommandResult | None:
        """What became of a command, or None while that isn't known."""

    def take_tasks(self, consumer: str, count: int, block_ms: int) -> list[DeliveredBotTask]:
        """The next notes to the bots, at most `count` of each partition. One that can't be read
        is finished with a line in the log, here and whenever else notes are handed out."""

    def reclaim_tasks(self, consumer: str, idle_ms: int) -> list[DeliveredBotTask]:
        """Notes that some other bots' worker took and never finished: see `reclaim`."""

    def redelivered_tasks(self, consumer: str, idle_ms: int) -> Iterator[DeliveredBotTask]:
        """Notes that were handed out more than once, one at a time: see `suspects`."""

    def requeue_tasks(self, tasks: Sequence[DeliveredBotTask]) -> None:
        """Leave these notes for later, not counted as handed out this time."""

    def redispatch(self, tasks: Sequence[BotTask]) -> None:
        """Put notes down once more, unless so many wait that the bots must be away."""

    def acknowledge_tasks(self, tasks: Sequence[DeliveredBotTask]) -> None:
        """These notes are dealt with."""

    def due_deadlines(self, game_time_ms: int, partitions: Iterable[int]) -> list[tuple[str, int]]:
        """Games whose deadline has passed by the house's time, with the deadline."""

    def has_deadline(self, game: str) -> bool:
        """Whether the game has a deadline, passed or not."""

    def set_deadline(self, game: str, deadline_ms: int | None) -> None:
        """Correct a game's deadline."""

    def evictable(self, now_ms: int, partitions: Iterable[int]) -> list[str]:
        """Games that may leave by now, by the wall clock: finished long ago, or never started."""

    def schedule_eviction(self, game: str, evict_at_ms: int | None) -> None:
        """Correct when a game may leave; None for one that is being played."""

    def evict(self, game: str, seats: int, length: int) -> bool:
        """Remove every trace of a game whose log has this length. False, and nothing, if it has
        another."""

    def games(self, limit: int = 1000) -> list[str]:
        """The games that the engine holds, the latest first."""

    def prune_consumers(self, partitions: Iterable[int], idle_ms: int) -> int:
        """Forget consumers that have nothing in hand and were silent for so long; how many."""


class ViewReader(Protocol):
    """Where views are read from: a ledger, or one with an archive beside it."""

    def read_view(
        self, game: str, viewer: Seat | None, after: int = 0, limit: int = 1000
    ) -> list[ViewEntry]: ...


def iter_view(reader: ViewReader, game: str, viewer: Seat | None) -> Iterator[ViewEntry]:
    """All that a viewer was sent, read page by page. Raises what `seen` does."""
    sequence = 0
    while page := reader.read_view(game, viewer, sequence):
        yield from page
        sequence = page[-1].number
