"""The bots' shell: take notes from the turns stream, look, choose, send.

A note says which seat is to act as of which entry. The command's id is made of that
number, so a note that is delivered twice, to whichever worker, moves once.

A note whose command isn't taken now, or whose game can't be read now, waits for itself alone:
it is put off, and comes again. Only where nobody answers do all wait.
"""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from typing import Final, Protocol

from schemas.commands import Command, CommandEnvelope
from schemas.errors import CorruptDataError
from schemas.field_types import Seat
from services.bots.gateway_client import RetryLaterError
from services.bots.policies import POLICIES
from services.bots.policies.random_source import SeatRandom
from services.ledger import (
    BotTask,
    BotTaskQueue,
    CommandSubmitter,
    DeliveredBotTask,
    MissingEntryError,
    QueueFullError,
    ViewReader,
)
from services.referee.rules import GameState, fold_events, legal
from services.referee.rules.proof.view_verifier import VerificationFailedError, ViewVerifier
from services.runtime.logging_setup import get_logger
from services.runtime.worker_loop import ENGINE_COMMAND_ERROR, PROGRAMMING_ERRORS

log = get_logger("bots")
MAX_PROJECTIONS: Final = 4_096
RECLAIM_IDLE_MS: Final = 2_000
MAX_RECLAIM_S: Final = 0.5  # that fresh notes wait for those that were left lying, of either kind
MAX_DELIVERIES: Final = 20  # a note that was handed out more often ends its workers, it seems
NO_SEAT_SECRET: Final = "00" * 32
RETRYABLE_ERRORS: Final = (
    QueueFullError,
    RetryLaterError,
    ENGINE_COMMAND_ERROR,
)  # one note waits for it, and no other


class CommandSink(Protocol):
    """Where a bot's commands go: straight to the commands stream, or through the gateway."""

    def send(self, envelope: CommandEnvelope) -> None:
        """Hand the command in. Raises Full or NotNow where this one must wait, ConnectionError
        where all must."""


class DirectSink:
    """Straight to the commands stream."""

    def __init__(self, commands: CommandSubmitter) -> None:
        self.commands = commands

    def send(self, envelope: CommandEnvelope) -> None:
        """Hand the command in. Raises Full."""
        self.commands.submit(envelope)


class SeatProjection:
    """What one seat has seen of its game so far: checked, and folded."""

    __slots__ = ("answered_commands", "state", "view_verifier")

    def __init__(self, game: str, seat: Seat) -> None:
        self.state, self.view_verifier = GameState(), ViewVerifier(game, seat)
        self.answered_commands = 0  # commands of this seat that got their verdict

    def refresh(self, views: ViewReader) -> None:
        """See what is new. Raises Gap where the last that was seen isn't there any more, or has another
        head: a fail-over lost the log's end. Raises Betrayed where the house isn't to be believed."""
        game, seat = self.view_verifier.game, self.view_verifier.viewer
        while True:
            after = self.view_verifier.sequence
            entries = views.read_view(game, seat, max(0, after - 1))
            if after:
                last_seen, *entries = entries or (None,)
                if last_seen is None or last_seen.shown.head not in (self.view_verifier.head, b""):
                    raise MissingEntryError(f"view of {game}: entry {after} isn't what seat {seat} saw")
            if not entries:
                return
            for entry in entries:
                self.view_verifier.verify(entry)
                fold_events(self.state, entry.at, entry.events)
                self.answered_commands += entry.answers is not None


class BotLedger(BotTaskQueue, ViewReader, Protocol):
    """What the bots need of the ledger."""


class BotWorker:
    """One worker for all bots of all partitions. `clock` counts seconds and never jumps."""

    def __init__(
        self,
        ledger: BotLedger,
        command_sink: CommandSink,
        name: str,
        batch: int = 64,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.ledger, self.command_sink, self.name, self.batch = ledger, command_sink, name, batch
        self.clock = clock
        self.retry_times: dict[tuple[int, str], float] = {}  # until when a note isn't tried: a gateway's wish
        self.projections: OrderedDict[tuple[str, Seat], SeatProjection] = OrderedDict()

    def step(self, block_ms: int = 500) -> int:
        """Deal with the next notes, waiting for one at most so long; how many there were."""
        deliveries = self.ledger.take_tasks(self.name, self.batch, block_ms)
        self._process_tasks(deliveries)
        return len(deliveries)

    def reclaim(self, idle_ms: int = RECLAIM_IDLE_MS) -> int:
        """Deal with what another worker took and left lying for so long, while fresh notes can
        wait; how many are dealt with. One that was handed out again and again is given up."""
        return self._reclaim_batches(idle_ms) + self._reclaim_redelivered(idle_ms)

    def _reclaim_batches(self, idle_ms: int) -> int:
        deadline, count = self.clock() + MAX_RECLAIM_S, 0
        while finished := self._process_tasks(self.ledger.reclaim_tasks(self.name, idle_ms)):
            count += finished
            if self.clock() > deadline:
                break
        return count

    def _reclaim_redelivered(self, idle_ms: int) -> int:
        """Each alone: one of them may end this worker, and the others aren't counted for it."""
        deadline, count = self.clock() + MAX_RECLAIM_S, 0
        for delivery in self.ledger.redelivered_tasks(self.name, idle_ms):
            if delivery.delivery_count > MAX_DELIVERIES:
                log.error("note given up", **_log_fields(delivery.task), deliveries=delivery.delivery_count)
                self.ledger.acknowledge_tasks([delivery])
            else:
                count += self._process_tasks([delivery])
            if self.clock() > deadline:
                break
        return count

    def _process_tasks(self, deliveries: Sequence[DeliveredBotTask]) -> int:
        """How many of these notes are dealt with; the others come again, and aren't counted as
        handed out now."""
        now = self.clock()
        self.retry_times = {
            task_key: retry_at for task_key, retry_at in self.retry_times.items() if retry_at > now
        }
        finished: list[DeliveredBotTask] = []
        requeued: list[DeliveredBotTask] = []
        remaining, reason = deque(deliveries), ""
        try:
            while remaining:
                if wait_reason := self._process_task(remaining[0]):
                    reason = wait_reason
                (requeued if wait_reason else finished).append(remaining[0])
                remaining.popleft()
            if requeued:
                log.warning("notes wait", count=len(requeued), why=reason)
        except ConnectionError:
            requeued.extend(remaining)
            raise
        finally:  # what was sent before the gateway went away isn't sent again
            if finished:
                self.ledger.acknowledge_tasks(finished)
            if requeued:
                self.ledger.requeue_tasks(requeued)
        return len(finished)

    def _process_task(self, delivery: DeliveredBotTask) -> str:
        """Do what a note asks for; or say why it must wait."""
        if (delivery.partition, delivery.id) in self.retry_times:
            return "its gateway said so"
        try:
            self._send_command(delivery.task)
        except RETRYABLE_ERRORS as error:
            if isinstance(error, RetryLaterError):
                self.retry_times[delivery.partition, delivery.id] = self.clock() + error.retry_after_s
            return str(error) or "not now"
        return ""

    def _send_command(self, task: BotTask) -> None:
        command = self._choose_or_fall_back(task)
        if command is not None:
            envelope = CommandEnvelope(f"bot:{task.sequence}", task.game, task.seat, command)
            log_fields = {
                "game": task.game,
                "seat": task.seat,
                "command": envelope.id,
                "sequence": task.sequence,
            }
            log.debug("bot acts", **log_fields, type=command.type)
            self.command_sink.send(envelope)

    def _choose_or_fall_back(self, task: BotTask) -> Command | None:
        """The policy's choice. Where it fails even with fresh eyes, the first legal command,
        so that the game goes on; where there is no telling what is legal, nothing."""
        log_fields = _log_fields(task)
        for choose in (self.choose_command, self.choose_command, self.first_legal_command):
            try:
                return choose(task)
            except MissingEntryError as error:  # a fail-over may have taken what was seen: look anew
                log.warning("bot looks anew", **log_fields, why=str(error))
            except VerificationFailedError as error:  # it won't play on what it can't believe
                log.error(
                    "THE HOUSE IS NOT TO BE BELIEVED", **log_fields, entry=error.sequence, why=error.reason
                )
            except CorruptDataError as error:  # a damaged view
                log.error("bot can't choose", **log_fields, error=str(error))
            except PROGRAMMING_ERRORS:  # a bug of the policy; an unreachable engine raises others
                log.exception("bot can't choose", **log_fields)
            self.projections.pop((task.game, task.seat), None)
        log.error("note given up", **log_fields)
        return None

    def choose_command(self, task: BotTask) -> Command | None:
        """What the seat's policy does now; None if the note is old and nothing is to do."""
        projection, commands = self._legal_commands(task)
        if not commands:
            return None
        seat_random = SeatRandom(
            projection.state.seats[task.seat].seat_secret or NO_SEAT_SECRET, projection.answered_commands
        )
        return POLICIES[task.policy](projection.state, task.seat, commands, seat_random)

    def first_legal_command(self, task: BotTask) -> Command | None:
        """The first legal command, whatever the policy."""
        _, commands = self._legal_commands(task)
        return commands[0] if commands else None

    def _legal_commands(self, task: BotTask) -> tuple[SeatProjection, list[Command]]:
        """The seat's table as of now, and what it may do there."""
        projection = self._projection(task.game, task.seat)
        projection.refresh(self.ledger)
        return projection, legal(projection.state, task.seat)

    def _projection(self, game: str, seat: Seat) -> SeatProjection:
        projection = self.projections.pop((game, seat), None) or SeatProjection(game, seat)
        self.projections[game, seat] = projection
        if len(self.projections) > MAX_PROJECTIONS:
            self.projections.popitem(last=False)
        return projection


def _log_fields(task: BotTask) -> dict[str, object]:
    return {"game": task.game, "seat": task.seat, "sequence": task.sequence, "policy": task.policy}
