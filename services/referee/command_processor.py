"""Commands are decided here: fold the game, decide, append, until every command has its result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Final, NamedTuple, Protocol

from schemas.codec import unpack_envelope
from schemas.commands import CallTime, CommandEnvelope, CreateGame, ForkGame
from schemas.entries import Entry
from schemas.errors import CorruptDataError, InvalidInputError
from schemas.events import CommandRefused, Event, GameCreated, GameEnded, GameStarted, SeatGone
from schemas.field_types import Seat
from services.ledger import (
    AppendRequest,
    AppendStatus,
    BotTask,
    CommandQueue,
    DeliveredCommand,
    DuplicateCommand,
    EventStore,
    EvictAt,
    EvictionChange,
    MissingEntryError,
)
from services.referee.fork_expansion import ForkExpander, PendingCommand
from services.referee.game_cache import CachedGame, GameCache
from services.referee.rules import UnloggedRejectionError, decide_envelope
from services.referee.rules.proof.sealing import ChainState, seal_entry
from services.referee.scheduling import bot_tasks, next_wakeup
from services.runtime.logging_setup import get_logger
from services.runtime.worker_loop import PROGRAMMING_ERRORS

log = get_logger("referee")
MAX_LOGGED_FAILURES: Final = 64
MAX_STUCK_CONFLICTS: Final = 3
DAY_MS: Final = 86_400_000


class Clocks(NamedTuple):
    """The clocks that a referee goes by: milliseconds of the house's time, which decides, and
    of the wall clock since 1970, which is only written down; and how long a game stays that
    isn't being played."""

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
        self._logged_failures: set[object] = set()  # code locations whose traceback was logged

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
        """Decide the forks that are expanded by now, and the commands that waited for them."""
        for commands in self.forks.pop_expanded():
            self._process(commands)

    def expire_clock(self, game: str, seat: Seat) -> None:
        """Decide that a seat is out of time. Another referee may have decided that: the id is the same."""
        envelope = CommandEnvelope(
            f"clock:{self.game_cache.get(game).length}:{seat}", game, None, CallTime(seat)
        )
        try:
            self.process_system_command(envelope)
        except UnloggedRejectionError as rejection:
            log.warning("clock not kept", **_log_fields(envelope), rule=rejection.rule, why=rejection.reason)

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
        """Put a command aside for an operator."""
        try:
            self._move_to_dead_letters(delivery, unpack_envelope(delivery.data), reason)
        except InvalidInputError as error:
            log.error("letter buried", partition=delivery.partition, reason=reason, error=str(error))
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
                    "decision broke",
                    **_log_fields(envelope),
                    why=reason,
                    exc_info=self._is_new_failure(error),
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

    def _is_new_failure(self, error: Exception) -> bool:
        """Whether this break, of this kind at this place, wasn't told lately: a flood of letters that
        break one line is told once, with its traceback."""
        traceback = error.__traceback__
        while traceback is not None and traceback.tb_next is not None:
            traceback = traceback.tb_next
        failure_site = type(error), traceback and (traceback.tb_frame.f_code, traceback.tb_lineno)
        if failure_site in self._logged_failures:
            return False
        if len(self._logged_failures) >= MAX_LOGGED_FAILURES:
            self._logged_failures.clear()
        self._logged_failures.add(failure_site)
        return True

    def _reject_without_entry(self, rejection: UnloggedRejection) -> bool:
        """Acknowledge a command without an entry. False if the log went on since it was decided, which
        no script checks here: it must be decided again."""
        (delivery, envelope, _), rule, reason = rejection
        if not self.game_cache.is_current(envelope.game):
            return False
        log.info("command dismissed", **_log_fields(envelope), rule=rule, why=reason)
        self.ledger.reject_without_entry(delivery, envelope, rule, reason)
        return True

    def _move_to_dead_letters(
        self, delivery: DeliveredCommand, envelope: CommandEnvelope, reason: str
    ) -> None:
        log.error("letter buried", **_log_fields(envelope), reason=reason)
        if delivery.id:  # the clock's own letters lie in no stream
            self.ledger.move_to_dead_letters(delivery, envelope, reason)

    def _build_decision(self, command: PendingCommand) -> Decision:
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
            tasks=_new_bot_tasks(envelope, cached_game, previously_pending),
            deadline_ms=next_wakeup(state),
            eviction=_eviction(events, now_ms + self.clocks.retention_ms),
        )
        return Decision(command, request, events)

    def _append(
        self, decisions: Sequence[Decision], conflict_counts: Counter[tuple[int, str]]
    ) -> list[PendingCommand]:
        """Write the verdicts. What conflicts with another referee's comes back, to be decided
        again; a game whose remembered table ran ahead of its log is forgotten. Where the engine
        goes away amid this, tables stay that may be ahead: the next verdict on them conflicts.

        `stuck` counts the letters that conflicted though nobody else wrote: their game is damaged
        if that goes on when it was folded anew."""
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
                _log_decision(decision, sequence)
                if any(isinstance(event, GameEnded) for event in decision.events):
                    self.game_cache.invalidate(envelope.game)  # little more will be asked of it
            elif status is AppendStatus.DAMAGED:
                self._move_to_dead_letters(
                    request.delivery, envelope, f"the game's keys don't fit each other after entry {sequence}"
                )
            elif status is AppendStatus.CONFLICT or not isinstance(request, DuplicateCommand):
                self.game_cache.invalidate(envelope.game)
            if status is AppendStatus.CONFLICT and request.delivery.id:
                retries.append(decision.command)
        return retries


def _new_bot_tasks(
    envelope: CommandEnvelope, cached_game: CachedGame, previously_pending: set[Seat]
) -> list[BotTask]:
    """Notes to the bots that this entry asks to act: newly, or once more."""
    tasks = bot_tasks(cached_game.state, cached_game.length)
    return [task for task in tasks if (task.seat not in previously_pending or task.seat == envelope.seat)]


def _eviction(events: Sequence[Event], eviction_ms: int) -> EvictAt | EvictionChange:
    """What these events do to the game's eviction time: a game that nobody plays (yet, or any more)
    may leave then."""
    for event in reversed(events):
        if isinstance(event, GameCreated | GameEnded):
            return EvictAt(eviction_ms)
        if isinstance(event, GameStarted):
            return EvictionChange.CLEAR
    return EvictionChange.KEEP


def _log_fields(envelope: CommandEnvelope) -> dict[str, object]:
    return {
        "game": envelope.game,
        "seat": envelope.seat,
        "command": envelope.id,
        "type": envelope.command.type,
    }


def _log_decision(decision: Decision, sequence: int) -> None:
    """One line an entry: moves at debug level, what an operator looks for at info."""
    envelope, events = decision.command.envelope, decision.events
    log_fields = {**_log_fields(envelope), "sequence": sequence}
    refusal = next((event for event in events if isinstance(event, CommandRefused)), None)
    if refusal:
        log.info("command refused", **log_fields, rule=refusal.rule, why=refusal.why)
    for event in events:
        if isinstance(event, GameCreated | GameStarted | SeatGone | GameEnded):
            log.info(event.type.replace("_", " "), **log_fields)
    log.debug("move", **log_fields, events=[event.type for event in events])
