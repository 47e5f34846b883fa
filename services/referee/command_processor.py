"""The command processor: fold the game, decide, append, until every command has its result.

Decisions are written optimistically: an append names the length and the head that were folded. If
another referee appended first, the append conflicts, and the command is decided again.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from itertools import tee
from logging import DEBUG
from operator import itemgetter
from time import perf_counter
from typing import Final, Protocol

from schemas.commands import CallTime, CommandEnvelope, ForkGame, FreeSeat, TakeSeat
from schemas.errors import CorruptDataError, InvalidInputError, MissingGameError
from schemas.events import CommandRefused, GameCreated, GameEnded, GameStarted, SeatGone
from schemas.field_types import Seat
from schemas.stored.codec import pack_envelope, unpack_envelope
from schemas.stored.entries import ForeignCommandError
from schemas.stored.player_names import SaltedNames, by_commitment
from services.ledger import (
    AppendRequest,
    AppendResult,
    AppendStatus,
    CommandQueue,
    Delivery,
    DuplicateCommand,
    EventStore,
    MissingEntryError,
    RejectedCommand,
)
from services.ledger.ports import NodeAwayError
from services.metrics import declared as metrics
from services.referee.decision_building import Clocks, Decision, UnloggedRejection, build_decision
from services.referee.decision_limit import DecisionLimit, DecisionTooLongError
from services.referee.fork_expansion import LARGE_BYTES, ForkExpander, PendingCommand
from services.referee.game_cache import GameCache
from services.referee.games import UnloggedRejectionError
from services.referee.player_names import without_names
from services.runtime import command_traces
from services.runtime.logging_setup import get_logger
from services.runtime.worker_loop import PROGRAMMING_ERRORS

log = get_logger("referee")
DECIDED_AT_ONCE: Final = 128  # before what they led to is looked at
MAX_STUCK_REJECTIONS: Final = 20  # of a command without an entry, whose log went on, or is damaged
MAX_STUCK_CONFLICTS: Final = 3  # of a command with a log that nobody else wrote to: see `_append`
MAX_INTERRUPTED_DELIVERIES: Final = 3  # a decision that is too long again then is a dead letter
LOGGED_EVENTS: Final = frozenset((GameCreated, GameStarted, SeatGone, GameEnded))
CREATION_BUDGET_MS: Final = 15  # how long commands of other games wait for creations that were held


class FreedSeatRecord(Protocol):
    """Where gateways look which tokens are void."""

    def record_freed_seat(self, game: str, seat: Seat, times: int) -> None:
        """Record how often a seat was freed: tokens of an earlier generation open nothing. It may be recorded again."""
        ...


class ProcessorLedger(EventStore, CommandQueue, FreedSeatRecord, Protocol):
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
        decision_limit: DecisionLimit,
    ) -> None:
        self.ledger, self.clocks, self.new_seed, self.forks = ledger, clocks, new_seed, forks
        self.decision_limit = decision_limit
        self.game_cache = GameCache(ledger, cache_bytes)
        self._deciding: PendingCommand | None = None
        self._decided_s = 0.0  # how long deciding took since the last append
        self._decided_names: dict[str, SaltedNames] = {}  # by game, that aren't appended yet
        self._interrupted_games: set[str] = set()  # whose other commands wait until they are delivered again

    def process(self, deliveries: Sequence[Delivery]) -> None:
        """Decide these commands and write the decisions, DECIDED_AT_ONCE together, except those that wait for a fork. Games
        take turns, whatever partition they are in: who sends much waits first."""
        taken, turns = Counter[str](), list[tuple[int, PendingCommand]]()
        for delivery in deliveries:
            try:
                envelope = unpack_envelope(delivery.data)
            except InvalidInputError as error:
                self.move_to_dead_letters(delivery, str(error))
                continue
            if command_traces.SPANS:
                _trace_queue(delivery, envelope)
            is_heavy = isinstance(envelope.command, ForkGame) or len(delivery.data) > LARGE_BYTES
            turns.append((taken[envelope.game], PendingCommand(delivery, envelope, is_heavy=is_heavy)))
            taken[envelope.game] += 1
        turns.sort(key=itemgetter(0))  # the first of each game before the second of any
        for start in range(0, len(turns), DECIDED_AT_ONCE):
            self._process([command for _, command in turns[start : start + DECIDED_AT_ONCE]])

    def process_expanded(self) -> None:
        """Decide the creations that were held and can be decided by now, and the commands that waited for them, for as
        long as commands of other games can wait. The next call goes on."""
        started_ms = self.clocks.game_time_ms()
        for commands in self.forks.pop_expanded():
            self._process(commands)
            if self.clocks.game_time_ms() - started_ms > CREATION_BUDGET_MS:
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

        Raises UnloggedRejectionError: the command gets no entry; DecisionTooLongError."""
        command = PendingCommand(
            Delivery(self.ledger.partition_of(envelope.game), "", b""),
            envelope,
            self.forks.expand_now(envelope.command, self.new_seed())
            if isinstance(envelope.command, ForkGame)
            else None,
        )
        self._append([self._decide_within_limit(command)], Counter())

    def move_to_dead_letters(self, delivery: Delivery, reason: str) -> None:
        """Move a command that can't be decided to the dead letters, for an operator."""
        try:
            self._move_to_dead_letters(delivery, unpack_envelope(delivery.data), reason)
        except ForeignCommandError as error:
            reason = self._name_missing_rules(error.header.game) or reason
            metrics.COMMANDS.add("dead", "")
            log.error("command moved to dead letters", game=error.header.game, reason=reason)
            self.ledger.move_to_dead_letters(delivery, error.header, reason)
        except InvalidInputError as error:
            metrics.COMMANDS.add("dead", "")
            log.error(
                "command moved to dead letters",
                partition=delivery.partition,
                reason=reason,
                error=str(error),
            )
            self.ledger.move_to_dead_letters(delivery, None, reason)

    def _name_missing_rules(self, game: str) -> str | None:
        """What to install for this game to be played here, by its log; None where that says nothing."""
        try:
            self.game_cache.get(game)
        except MissingGameError as error:
            return _to_install(error)
        except (MissingEntryError, CorruptDataError, NodeAwayError):
            pass
        return None

    # -- one command -------------------------------------------------------------------

    def _process(self, commands: Sequence[PendingCommand]) -> None:
        """Decide the commands, in order, and again those that conflict, until none does. Those of a game
        with a decision that was interrupted stay pending: each may take as long."""
        conflict_counts: Counter[tuple[int, str]] = Counter()
        self._interrupted_games.clear()
        while commands:
            self._decided_names.clear()
            self.game_cache.prefetch(list(dict.fromkeys(command.envelope.game for command in commands)))
            to_append, outcomes = tee(
                outcome
                for command in commands
                if command.envelope.game not in self._interrupted_games and (outcome := self._decide(command))
            )
            decided = (outcome for outcome in to_append if isinstance(outcome, Decision))
            commands = retries = self._append(decided, conflict_counts)
            if rejections := [outcome for outcome in outcomes if isinstance(outcome, UnloggedRejection)]:
                commands = [*retries, *self._reject_without_entry(rejections, conflict_counts)]

    def _decide(self, command: PendingCommand) -> Decision | UnloggedRejection | None:
        """The decision on a command, or why the log takes no entry for it. None if the command waits
        for a fork, None if it was interrupted, and None if it is a dead letter now: deciding it failed
        on the cached state, and again on a state that was folded anew."""
        envelope, reason = command.envelope, ""
        for attempt in (nullcontext, self.game_cache.rollback_on_error):
            try:
                with attempt(envelope.game):
                    ready: PendingCommand | None = command
                    if not self._has_answered(envelope) if command.is_heavy else self.forks.held:
                        ready = self.forks.admit(command, self.new_seed)
                    return ready and self._decide_within_limit(ready)
            except UnloggedRejectionError as rejection:
                return UnloggedRejection(command, rejection.rule, rejection.reason)
            except DecisionTooLongError as error:
                self._set_aside_interrupted(command, str(error))
                return None
            except NodeAwayError:  # a part of a cluster: its commands stay pending, the others go on
                self._interrupted_games.add(envelope.game)
                return None
            except MissingGameError as error:
                reason = _to_install(error)
            except (MissingEntryError, CorruptDataError) as error:
                reason = f"the log can't be read: {error}"
            except PROGRAMMING_ERRORS as error:
                # A bug of ours: this command must not stop the others, nor be tried for ever.
                reason = f"{type(error).__name__}: {error}"
                log.warning(
                    "decision failed",
                    **log_fields(envelope),
                    why=reason,
                    exc_info=self.game_cache.failures.is_new(error),
                )
            if attempt is nullcontext:
                self.game_cache.invalidate(envelope.game)
        self._move_to_dead_letters(command.delivery, envelope, reason)
        return None

    def _has_answered(self, envelope: CommandEnvelope) -> bool:
        """Whether it was decided before: then it waits for nothing."""
        return self.game_cache.get(envelope.game).has_answered(envelope.seat, envelope.id)

    def _reject_without_entry(
        self, rejections: Sequence[UnloggedRejection], conflict_counts: Counter[tuple[int, str]]
    ) -> list[PendingCommand]:
        """Acknowledge commands without entries, in two round trips however many they are; returns those that must be
        decided again, as their log went on since they were decided, which no script checks here. `conflict_counts`
        counts how often a command's log was not as its head says: a game may go on, but not so fast."""
        games = dict.fromkeys(rejection.command.envelope.game for rejection in rejections)
        are_current, rejected, retries = self.game_cache.are_current([*games]), list[RejectedCommand](), []
        for command, rule, reason in rejections:
            is_current = are_current.get(command.envelope.game)
            if is_current:
                log.info(
                    "command rejected without an entry", **log_fields(command.envelope), rule=rule, why=reason
                )
                rejected.append(RejectedCommand(command.delivery, command.envelope, rule, reason))
                metrics.COMMANDS.add("rejected", rule)
            elif is_current is not None:  # else its node is away, and the command stays pending
                delivery, envelope = command[:2]
                conflict_counts[delivery.partition, delivery.id] += 1
                if conflict_counts[delivery.partition, delivery.id] < MAX_STUCK_REJECTIONS:
                    retries.append(command)
                else:
                    self._move_to_dead_letters(
                        delivery, envelope, "the game's log isn't as its chain head says"
                    )
        self.ledger.reject_without_entry(rejected)
        return retries

    def _move_to_dead_letters(self, delivery: Delivery, envelope: CommandEnvelope, reason: str) -> None:
        log.error("command moved to dead letters", **log_fields(envelope), reason=reason)
        metrics.COMMANDS.add("dead", "")
        if delivery.id:  # a command of the server itself is in no stream
            nameless = without_names(envelope, self.new_seed)
            if nameless is not envelope:
                delivery = delivery._replace(data=pack_envelope(nameless))
            self.ledger.move_to_dead_letters(delivery, envelope, reason)

    def _set_aside_interrupted(self, command: PendingCommand, reason: str) -> None:
        """Leave a command pending whose decision was interrupted: it is delivered again, alone from the third
        time on, and that is counted. The machine may have been busy, so only then it is a dead letter."""
        metrics.INTERRUPTIONS.add()
        delivery, envelope = command[:2]
        self.game_cache.invalidate(envelope.game)
        self._interrupted_games.add(envelope.game)
        if delivery.delivery_count >= MAX_INTERRUPTED_DELIVERIES:
            self._move_to_dead_letters(delivery, envelope, reason)
            return
        log.warning(
            "decision interrupted", **log_fields(envelope), why=reason, deliveries=delivery.delivery_count
        )

    def give_up_stuck(self) -> None:
        """For another thread: move the command whose decision can't be interrupted to the dead letters, if it
        was delivered often enough."""
        if command := self._deciding:
            log.error("decision can't be interrupted", **log_fields(command.envelope))
            if command.delivery.delivery_count >= MAX_INTERRUPTED_DELIVERIES:
                self._move_to_dead_letters(command.delivery, command.envelope, self.decision_limit.reason)

    def _decide_within_limit(self, command: PendingCommand) -> Decision:
        """Decide a command. Only what is pure is interrupted: no reply of the engine is read halfway.

        Raises UnloggedRejectionError, or DecisionTooLongError."""
        game = command.envelope.game
        cached_game = self.game_cache.get(game)
        known_names: SaltedNames = {}
        if isinstance(
            command.envelope.command, TakeSeat
        ):  # those decided and not appended yet are known, too
            known_names = {**self.ledger.read_names(game), **self._decided_names.get(game, {})}
        self._deciding = command
        began_s = perf_counter()
        try:
            decision = self.decision_limit.run(
                lambda: build_decision(command, cached_game, self.clocks, self.new_seed, known_names)
            )
        finally:
            self._deciding = None
            took_s = perf_counter() - began_s
            self._decided_s += took_s
            metrics.DECISION_SECONDS.observe(took_s)
            if command_traces.SPANS:
                _trace("decide", command.envelope, took_s)
        freed = command.envelope.command
        if isinstance(freed, FreeSeat) and freed.seat < len(cached_game.state.seats):
            # Before the entry that frees the seat: so the next player gets a token of a later generation, whatever
            # crashes when. A refusal is recorded too: it corrects a decision that conflicted.
            times_freed = cached_game.state.seats[freed.seat].times_freed
            self.ledger.record_freed_seat(game, freed.seat, times_freed)
        if isinstance(decision.request, AppendRequest) and decision.request.names:
            self._decided_names[game] = {**known_names, **by_commitment(decision.request.names)}
        return decision

    def _append(
        self, decided: Iterable[Decision], conflict_counts: Counter[tuple[int, str]]
    ) -> list[PendingCommand]:
        """Append the decisions, as they are made; returns the commands that conflict, which are to be decided again.
        A cached game that ran ahead of its log is dropped. If the engine fails meanwhile, games that may be ahead
        stay in the cache: the next decision on each conflicts.
        `conflict_counts` counts a command's conflicts though nobody else appended: if they go on when the game was
        folded anew, its keys are damaged."""
        to_append, decisions = tee(decided)
        self._decided_s, began_s = 0.0, perf_counter()
        results = self.ledger.append(decision.request for decision in to_append)
        append_s = max(0.0, perf_counter() - began_s - self._decided_s)
        if results:
            metrics.APPEND_SECONDS.observe(append_s)
        if command_traces.SPANS:
            decisions, traced = tee(decisions)
            _trace_appended(traced, results, append_s)
        retries = list[PendingCommand]()
        verbose = log.is_enabled_for(DEBUG)  # asked once for many: it costs as much as a hash
        for decision, (result_status, sequence) in zip(decisions, results, strict=True):
            request, envelope, status = decision.request, decision.command.envelope, result_status
            if status is AppendStatus.CONFLICT and (
                isinstance(request, DuplicateCommand) or request.expected_length == sequence
            ):
                delivery_key = request.delivery.partition, request.delivery.id  # unique together
                conflict_counts[delivery_key] += 1
                if conflict_counts[delivery_key] >= MAX_STUCK_CONFLICTS:
                    status = AppendStatus.DAMAGED
            _report(status, decision, sequence, verbose=verbose)
            if status is AppendStatus.APPENDED:
                if GameEnded in map(type, decision.events):
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


def _report(status: AppendStatus, decision: Decision, sequence: int, *, verbose: bool) -> None:
    """Count what became of a decision: its verdict, and the rule that said no; and log of an entry what an operator looks
    for, or if `verbose`, each."""
    if status is AppendStatus.CONFLICT:
        metrics.CONFLICTS.add()
    elif status is AppendStatus.APPENDED or status is AppendStatus.DUPLICATE:
        first = decision.events[0] if decision.events else None
        if isinstance(first, CommandRefused):
            metrics.COMMANDS.add("refused", first.rule)
        else:
            metrics.COMMANDS.add("accepted" if first else "repeated", "")
    if status is not AppendStatus.APPENDED:
        return
    for event in decision.events:
        if isinstance(event, CommandRefused):
            fields = {**log_fields(decision.command.envelope), "sequence": sequence}
            log.info("command refused", **fields, rule=event.rule, why=event.why)
        elif event.__class__ in LOGGED_EVENTS:
            fields = {**log_fields(decision.command.envelope), "sequence": sequence}
            log.info(event.type.replace("_", " "), **fields)
    if verbose:
        types = [event.type for event in decision.events]
        log.debug("entry appended", **log_fields(decision.command.envelope), sequence=sequence, events=types)


def log_fields(envelope: CommandEnvelope) -> dict[str, object]:
    """The fields by which every line names a command."""
    return {
        "game": envelope.game,
        "seat": envelope.seat,
        "command": envelope.id,
        "type": envelope.command.type,
    }


def _trace(name: str, envelope: CommandEnvelope, took_s: float, **attributes: int) -> None:
    command_traces.record(name, envelope.game, envelope.seat, envelope.id, took_s, **attributes)


def _trace_appended(decisions: Iterable[Decision], results: Sequence[AppendResult], took_s: float) -> None:
    for decision, (status, sequence) in zip(decisions, results, strict=True):
        if status is AppendStatus.APPENDED:
            _trace("append", decision.command.envelope, took_s, sequence=sequence)


def _trace_queue(delivery: Delivery, envelope: CommandEnvelope) -> None:
    """How long a command was in its stream: the id there begins with the engine's time."""
    queued_ms, _, _ = delivery.id.partition("-")
    _trace("queue", envelope, time.time() - int(queued_ms) / 1000, deliveries=delivery.delivery_count)


def _to_install(error: MissingGameError) -> str:
    """For an operator: what this referee lacks, and how its commands are decided after all."""
    return f"{error}; `ledgerline dead retry` then queues the command again"
