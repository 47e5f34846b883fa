"""Forks are expanded off the referee's thread, and large commands are decided when no other waits.

A fork command names another game and an entry. Its own log holds a `CreateGame` command with the
state there instead, and to build that the other game's log is read, from an archive perhaps, which
may take 20 s to answer or to fail. So an executor does it, and the referee goes on with other games.

Meanwhile the delivery stays pending, and so do later commands of the same game, which must be
decided after the fork. The referee renews them (`CommandDeliveries.renew`), so that no other referee
reclaims them. If it dies, they become stale, and another referee expands the fork anew.

A creation on a board of somebody's own takes 20 ms to decide, and eight of them in one step would hold every
other game up. So each is held like a fork that is expanded already.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future
from dataclasses import replace
from typing import Final, NamedTuple

from schemas.commands import CommandEnvelope, CreateGame, ForkGame
from schemas.refusals import CommandRefusedError, require
from schemas.stored.player_names import SaltedNames, shown_names
from services.archive import ArchiveUnavailableError
from services.ledger import Delivery
from services.referee.games import UnloggedRejectionError, fold
from services.runtime.executors import InlineExecutor
from services.runtime.logging_setup import get_logger

log = get_logger("referee")
MAX_EXPANSIONS: Final = 64  # at once, running or waiting for a thread; more are rejected
LARGE_BYTES: Final = 8_192  # of a command's envelope; one on a built-in board has less than 1,000
MAX_HELD_PER_FORK: Final = (
    32  # commands of its game; with more, a partition's queue would fill up for other games
)

ReadSourceLog = Callable[[str], Sequence[bytes]]
ReadSourceNames = Callable[[str], SaltedNames]


def no_names(game: str) -> SaltedNames:
    """Of games whose names lie nowhere."""
    return {}


class ForkExpansion(NamedTuple):
    """The work on one fork command, running or done."""

    source: str  # the game that is forked
    seed: str  # of the new game: 64 hex digits
    create_command: Future[CreateGame]

    def expand(self, envelope: CommandEnvelope) -> CommandEnvelope:
        """The envelope with the command that creates the fork; waits until the expansion is done.

        Raises UnloggedRejectionError: nothing can go on from that entry, or the archive doesn't
        answer (WAIT-1). Raises what reading and unpacking a log raise."""
        try:
            return replace(envelope, command=self.create_command.result())
        except CommandRefusedError as refusal:
            raise UnloggedRejectionError(refusal.rule, refusal.reason) from None
        except ArchiveUnavailableError as error:
            log.error("archive unavailable", game=self.source, error=str(error))
            raise UnloggedRejectionError(
                "WAIT-1", f"game {self.source} can't be read now; ask again in a minute"
            ) from None


class PendingCommand(NamedTuple):
    """A command that was delivered and isn't decided yet; a fork with its expansion, once that runs."""

    delivery: Delivery
    envelope: CommandEnvelope
    expansion: ForkExpansion | None = None
    is_heavy: bool = False  # others are decided first, as it is a fork or large

    @property
    def is_ready(self) -> bool:
        """Whether it can be decided: it is no fork, or one that is expanded."""
        return self.expansion is None or self.expansion.create_command.done()


class ForkExpander:
    """Expands forks, and holds the commands that wait for one.

    `read_source_log` returns the whole log of a game, wherever it is kept, and `read_source_names` the
    names beside it; both are called on the executor's threads. Without an executor, forks are expanded
    at once on the caller's thread."""

    def __init__(
        self,
        read_source_log: ReadSourceLog,
        executor: Executor | None = None,
        read_source_names: ReadSourceNames = no_names,
    ) -> None:
        self._read_source_log, self._read_source_names = read_source_log, read_source_names
        self._executor = executor or InlineExecutor()
        self.held: dict[str, list[PendingCommand]] = {}  # by game: the creation, then what came after it
        self._held_keys: set[tuple[int, str]] = (
            set()
        )  # partition and stream id of all of them: unique together

    def admit(self, command: PendingCommand, new_seed: Callable[[], str]) -> PendingCommand | None:
        """The command, if it can be decided now; None if it is held until a fork is expanded, which starts here, or
        until a large command's turn comes, or was held before it was delivered again. Raises UnloggedRejectionError
        (WAIT-1): too many are held, or too many commands wait for this one."""
        game, fork = command.envelope.game, command.envelope.command
        if game in self.held:
            if self.holds(command.delivery):
                return None
            if len(self.held[game]) > MAX_HELD_PER_FORK:
                raise UnloggedRejectionError(
                    "WAIT-1", f"too many commands wait for the creation of {game}; ask again in a minute"
                )
            self._hold(command)
            return None
        if not command.is_heavy:
            return command
        if len(self.held) >= MAX_EXPANSIONS:
            raise UnloggedRejectionError("WAIT-1", "too many games are being created; ask again in a minute")
        command = command._replace(is_heavy=False)
        if isinstance(fork, ForkGame):
            command = command._replace(expansion=self._start(fork, new_seed(), self._executor))
            if command.is_ready:
                return command
        self._hold(command)
        return None

    def expand_now(self, fork: ForkGame, seed: str) -> ForkExpansion:
        """An expansion that is done, for a caller who has nothing else to do."""
        return self._start(fork, seed, InlineExecutor())

    def pop_expanded(self) -> Iterator[list[PendingCommand]]:
        """For each creation that can be decided by now: its command, and those of the game that came after it.
        They are no longer held."""
        for game, (creation, *_) in list(self.held.items()):
            if creation.is_ready:
                commands = self.held.pop(game)
                self._held_keys.difference_update(held.delivery[:2] for held in commands)
                yield commands

    def held_deliveries(self) -> list[Delivery]:
        """The deliveries that wait for a creation."""
        return [command.delivery for commands in self.held.values() for command in commands]

    def holds(self, delivery: Delivery) -> bool:
        """Whether the delivery waits for a creation, however often it was delivered."""
        return delivery[:2] in self._held_keys

    def has_ready(self) -> bool:
        """Whether a creation that is held can be decided by now."""
        return any(creation.is_ready for creation, *_ in self.held.values())

    def _hold(self, command: PendingCommand) -> None:
        self.held.setdefault(command.envelope.game, []).append(command)
        self._held_keys.add(command.delivery[:2])

    def _start(self, fork: ForkGame, seed: str, executor: Executor) -> ForkExpansion:
        return ForkExpansion(fork.of, seed, executor.submit(self._build_create_command, fork, seed))

    def _build_create_command(self, fork: ForkGame, seed: str) -> CreateGame:
        log = self._read_source_log(fork.of)
        require(log, "GAME-1", f"there is no game {fork.of}")
        ruleset = fold(log[:1]).ruleset
        if ruleset.fork_command is None:
            reason = f"what lies in game {fork.of} can't be laid again, by its rules {ruleset.name}"
            raise CommandRefusedError("GAME-6", f"{reason}; so no game goes on from it")
        return ruleset.fork_command(log, fork, seed, shown_names(self._read_source_names(fork.of)))
