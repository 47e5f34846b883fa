"""The command processor: fold the game, decide, append, until every command has its result.

Decisions are written optimistically: an append names the length and the head that were folded. If
another referee appended first, the append conflicts, and the command is decided again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Final, NamedTuple, Protocol

from schemas.codec import unpack_envelope
from schemas.commands import CallTime, CommandEnvelope, CreateGame, ForkGame
from schemas.entries import Entry
from schemas.errors import CorruptDataError, InvalidInputError
from schemas.events import Event, GameEnded
from schemas.field_types import Seat
from services.ledger import (
    AppendRequest,
    AppendStatus,
    CommandQueue,
    DeliveredCommand,
    DuplicateCommand,
    EventStore,
    MissingEntryError,
)
from services.referee.decision_log import FailureLog, log_decision, log_fields
from services.referee.fork_expansion import ForkExpander, PendingCommand
from services.referee.game_cache import GameCache
from services.referee.rules import UnloggedRejectionError, decide_envelope
from services.referee.rules.proof.sealing import ChainState, seal_entry
from services.referee.scheduling import eviction_after, new_bot_tasks, next_wakeup
from services.runtime.logging_setup import get_logger
from services.runtime.worker_loop import PROGRAMMING_ERRORS

log = get_logger("referee")
MAX_STUCK_CONFLICTS: Final = 3  # of a command with a log that nobody else wrote to: see `_append`
FORK_BUDGET_MS: Final = 100  # how long commands of other games wait for forks that are expanded
DAY_MS: Final = 86_400_000


class Clocks(NamedTuple):
    """The clocks of a referee: the game clock decides, the wall clock is only recorded. Both are in
    milliseconds, the wall clock's since 1970. `retention_ms` is how long a game that isn't being
    played stays in the engine."""

    game_time_ms: Callable[[], int]
    wall_time_ms: Callable[[], int]
    retention_ms: int = 30 * DAY_MS


class Decision(NamedTuple):
    """The events that a command leads to, and the request that writes them."""

    command: PendingCommand
    request: AppendRequest | DuplicateCommand
    events: tuple[Event, ...]


class UnloggedRejection(NamedTuple):
    """A command that gets no entry, and why, by the state that it was decided on."""

    command: PendingCommand
    rule: str
    reason: str


class ProcessorLedger(EventStore, CommandQueue, Protocol):
    """What a command processor needs of the ledger."""


class CommandProcessor:
    """Decides commands and writes the decisions. It keeps no state that it can't fold again."""

    def __init__(
        self,
        ledger: ProcessorLedger,
        clocks: Clocks,
        new_seed: Callable[[], str],
        cache_bytes: int,
        forks: ForkExpander,
    ) -> None:
        self.ledger, self.clocks, self.new_seed, self.forks = ledger, clocks, new_seed, forks
        self.game_cache = GameCache(ledger, max_packed_bytes=cache_bytes)
        self._failures = FailureLog()

    def process(self, deliveries: Sequence[DeliveredCommand]) -> None:
        """Decide these commands and write the decisions, except those that wait for a fork."""
        self._process(
            [
                PendingCommand(delivery, envelope)
                for delivery in deliveries
                if not self.forks.holds(delivery) and (envelope := self._read_envelope(delivery))
            ]
        )

    def process_expanded(self) -> None:
        """Decide the forks that are expanded by now, and the commands that waited for them, for as long as
        commands of other games can wait. The next call goes on."""
        started_ms = self.clocks.game_time_ms()
        for commands in self.forks.pop_expanded():
            self._process(commands)
            if self.clocks.game_time_ms() - started_ms > FORK_BUDGET_MS:
                return

    def expire_clock(self, game: str, seat: Seat) -> None:
        """Decide that a seat is out of time. Another referee may have decided that: the id is the same."""
        envelope = CommandEnvelope(
            f"clock:{self.game_cache.get(game).length}:{seat}", game, None, CallTime(seat)
        )
        try:
            self.process_system_command(envelope)
        except UnloggedRejectionError as rejection:
            log.warning(
                "clock expiry rejected", **log_fields(envelope), rule=rejection.rule, why=rejection.reason
            )

    def process_system_command(self, envelope: CommandEnvelope) -> None:
        """Decide a command of the server's own, which is in no stream. A fork is expanded on this thread.

        Raises UnloggedRejectionError: the command gets no entry."""
        command = PendingCommand(
            DeliveredCommand(self.ledger.partition_of(envelope.game), "", b""),
            envelope,
            self.forks.expand_now(envelope.command, self.new_seed())
            if isinstance(envelope.command, ForkGame)
            else None,
        )
        self._append([self._build_decision(command)], Counter())

    def move_to_dead_letters(self, delivery: DeliveredCommand, reason: str) -> None:
        """Move a command that can't be decided to the dead letters, for an operator."""
        try:
            self._move_to_dead_letters(delivery, unpack_envelope(delivery.data), reason)
        except InvalidInputError as error:
            log.error(
                "command moved to dead letters",
                partition=delivery.partition,
                reason=reason,
                error=str(error),
            )
            self.ledger.move_to_dead_letters(delivery, None, reason)

    # -- one command -------------------------------------------------------------------

    def _process(self, commands: Sequence[PendingCommand]) -> None:
        """Decide the commands, in order, and again those that conflict, until none does."""
        conflict_counts: Counter[tuple[int, str]] = Counter()
        while commands:
            self.game_cache.prefetch(list(dict.fromkeys(command.envelope.game for command in commands)))
            outcomes = [outcome for command in commands if (outcome := self._decide(command))]
            retries = self._append(
                [outcome for outcome in outcomes if isinstance(outcome, Decision)], conflict_counts
            )
            for outcome in outcomes:
                if isinstance(outcome, UnloggedRejection) and not self._reject_without_entry(outcome):
                    retries.append(outcome.command)
            commands = retries

    def _read_envelope(self, delivery: DeliveredCommand) -> CommandEnvelope | None:
        """The envelope of a delivery; None if it can't be read: then it is a dead letter."""
        try:
            return unpack_envelope(delivery.data)
        except InvalidInputError as error:
            self.move_to_dead_letters(delivery, str(error))
            return None

    def _decide(self, command: PendingCommand) -> Decision | UnloggedRejection | None:
        """The decision on a command, or why the log takes no entry for it. None if the command waits
        for a fork, and None if it is a dead letter now: deciding it failed on the cached state,
        and again on a state that was folded anew."""
        envelope, reason = command.envelope, ""
        for attempt in (nullcontext, self.game_cache.rollback_on_error):
            try:
                with attempt(envelope.game):
                    ready = self._admit(command)
                    return ready and self._build_decision(ready)
            except UnloggedRejectionError as rejection:
                return UnloggedRejection(command, rejection.rule, rejection.reason)
            except (MissingEntryError, CorruptDataError) as error:
                reason = f"the log can't be read: {error}"
            except PROGRAMMING_ERRORS as error:
                # A bug of ours: this command must not stop the others, nor be tried for ever.
                reason = f"{type(error).__name__}: {error}"
                log.warning(
                    "decision failed",
                    **log_fields(envelope),
                    why=reason,
                    exc_info=self._failures.is_new(error),
                )
            if attempt is nullcontext:
                self.game_cache.invalidate(envelope.game)
        self._move_to_dead_letters(command.delivery, envelope, reason)
        return None

    def _admit(self, command: PendingCommand) -> PendingCommand | None:
        """The command, if it can be decided now: a fork that was decided before isn't expanded again."""
        envelope = command.envelope
        if isinstance(envelope.command, ForkGame) and self.game_cache.get(envelope.game).has_answered(
            envelope.seat, envelope.id
        ):
            return command
        return self.forks.admit(command, self.new_seed)

    def _reject_without_entry(self, rejection: UnloggedRejection) -> bool:
        """Acknowledge a command without an entry. False if the log went on since it was decided, which
        no script checks here: it must be decided again."""
        (delivery, envelope, _), rule, reason = rejection
        if not self.game_cache.is_current(envelope.game):
            return False
        log.info("command rejected without an entry", **log_fields(envelope), rule=rule, why=reason)
        self.ledger.reject_without_entry(delivery, envelope, rule, reason)
        return True

    def _move_to_dead_letters(
        self, delivery: DeliveredCommand, envelope: CommandEnvelope, reason: str
    ) -> None:
        log.error("command moved to dead letters", **log_fields(envelope), reason=reason)
        if delivery.id:  # a command of the server itself is in no stream
            self.ledger.move_to_dead_letters(delivery, envelope, reason)

    def _build_decision(self, command: PendingCommand) -> Decision:
        """Decide a command; the cached game moves on as if the entry were appended already.

        Raises UnloggedRejectionError: the log takes no entry for it."""
        delivery, envelope, expansion = command
        cached_game = self.game_cache.get(envelope.game)
        state = cached_game.state
        if cached_game.has_answered(envelope.seat, envelope.id):
            duplicate = DuplicateCommand(delivery, envelope.game, envelope.seat, envelope.id)
            return Decision(command, duplicate, ())
        previously_pending = set(state.pending_choices)
        now_ms = self.clocks.wall_time_ms()
        if expansion is not None:
            envelope, seed = expansion.expand(envelope), expansion.seed
        else:
            seed = self.new_seed() if isinstance(envelope.command, CreateGame) else ""
        events = decide_envelope(state, envelope, self.clocks.game_time_ms(), seed, created_at_ms=now_ms)
        chain_state = ChainState(cached_game.length, cached_game.head, cached_game.last_private_sequences)
        entry = Entry(state.at_ms, envelope.id, envelope.seat, envelope.command, events)
        sealed_entry = seal_entry(state, chain_state, cached_game.pile_tracker, entry)
        previous_head = cached_game.head
        cached_game.record_entry(envelope.seat, envelope.id, [seat for seat, _ in sealed_entry.private_parts])
        cached_game.last_entry, cached_game.head = sealed_entry.entry, sealed_entry.head
        request = AppendRequest(
            delivery=delivery,
            game=envelope.game,
            expected_length=chain_state.sequence,
            previous_head=previous_head,
            sender=envelope.seat,
            command_id=envelope.id,
            at_ms=now_ms,
            entry=sealed_entry.entry,
            public=sealed_entry.public,
            head=sealed_entry.head,
            private_parts=sealed_entry.private_parts,
            tasks=new_bot_tasks(state, cached_game.length, envelope.seat, previously_pending),
            deadline_ms=next_wakeup(state),
            eviction=eviction_after(events, now_ms + self.clocks.retention_ms),
        )
        return Decision(command, request, events)

    def _append(
        self, decisions: Sequence[Decision], conflict_counts: Counter[tuple[int, str]]
    ) -> list[PendingCommand]:
        """Append the decisions; returns the commands that conflict, which must be decided again.

        A cached game that ran ahead of its log is dropped. If the engine fails meanwhile, games
        that may be ahead stay in the cache: the next decision on each of them conflicts.
        `conflict_counts` counts the conflicts of a command though nobody else appended: if they go
        on when the game was folded anew, its keys are damaged."""
        results = self.ledger.append([decision.request for decision in decisions])
        retries: list[PendingCommand] = []
        for decision, (result_status, sequence) in zip(decisions, results, strict=True):
            request, envelope, status = decision.request, decision.command.envelope, result_status
            if status is AppendStatus.CONFLICT and (
                isinstance(request, DuplicateCommand) or request.expected_length == sequence
            ):
                # A stream id is unique within its partition only.
                delivery_key = request.delivery.partition, request.delivery.id
                conflict_counts[delivery_key] += 1
                if conflict_counts[delivery_key] >= MAX_STUCK_CONFLICTS:
                    status = AppendStatus.DAMAGED
            if status is AppendStatus.APPENDED:
                log_decision(log, envelope, decision.events, sequence)
                if any(isinstance(event, GameEnded) for event in decision.events):
                    self.game_cache.invalidate(envelope.game)  # few commands follow
            elif status is AppendStatus.DAMAGED:
                self._move_to_dead_letters(
                    request.delivery, envelope, f"the game's keys don't fit each other after entry {sequence}"
                )
            elif status is AppendStatus.CONFLICT or not isinstance(request, DuplicateCommand):
                self.game_cache.invalidate(envelope.game)
            if status is AppendStatus.CONFLICT and request.delivery.id:
                retries.append(decision.command)
        return retries
